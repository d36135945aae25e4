"""What WordPiece and BPE learn from one text, after any number of merges."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

from llmviz.corpus import corpus_from_text, load_corpus
from llmviz.tokenizers import BPETokenizer, PieceStep, WordPieceTokenizer, piece_steps
from llmviz.tokenizers.wordpiece import alphabet

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
