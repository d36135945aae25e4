"""What WordPiece and BPE learn from one text, after any number of merges."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

from llmviz.corpus import corpus_from_text, load_corpus
from llmviz.tokenizers import BPETokenizer, PieceStep, WordPieceTokenizer, piece_steps
from llmviz.tokenizers.wordpiece import INSIDE, UNK, alphabet

MERGES = 500  # at most, of each
_NO_LIMIT = 10**9


@dataclass(frozen=True)
class LearnedPieces:
    """One corpus, the merges of WordPiece, and a BPE with its merges.

    characters: the pieces that WordPiece starts from.
    """

    documents: tuple[str, ...]
    characters: tuple[str, ...]
    steps: tuple[PieceStep, ...]
    bpe: BPETokenizer

    def bpe_after(self, merges: int) -> BPETokenizer:
        """Return the BPE as it is after its first merges."""
        return BPETokenizer(self.bpe.merges[:merges])


def learn_pieces(text: str | None) -> LearnedPieces:
    """Learn from a text, or from the bundled word forms.

    Raises ValueError: the text is empty.
    """
    corpus = load_corpus("word-forms") if text is None else corpus_from_text(text)
    documents = tuple(corpus.documents)
    steps = tuple(islice(piece_steps(documents, _NO_LIMIT), MERGES))
    bpe = BPETokenizer.train(documents, 257 + MERGES)
    return LearnedPieces(documents, tuple(alphabet(documents)), steps, bpe)


def after_merges(learned: LearnedPieces, merges: int) -> WordPieceTokenizer:
    """Return the WordPiece tokenizer as it is after its first merges."""
    pieces = [step.piece for step in learned.steps[:merges]]
    return WordPieceTokenizer(dict.fromkeys([*learned.characters, *pieces]))


def longest_matches(tokenizer: WordPieceTokenizer, word: str) -> list[tuple[str, str | None]]:
    """Return the steps of cutting a word: what is left of it, and the piece that is taken.

    A last piece of None: nothing fits, and the whole word becomes `[UNK]`.
    """
    known = set(tokenizer.vocabulary)
    matches: list[tuple[str, str | None]] = []
    start = 0
    while start < len(word):
        mark = INSIDE if start else ""
        ends = range(len(word), start, -1)
        piece = next((mark + word[start:e] for e in ends if mark + word[start:e] in known), None)
        matches.append((mark + word[start:], piece))
        if piece is None:
            break
        start += len(piece) - len(mark)
    assert (tokenizer.pieces(word) == [UNK]) == (matches[-1][1] is None)
    return matches
