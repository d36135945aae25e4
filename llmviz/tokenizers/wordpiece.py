"""WordPiece: sub-words learned by a score instead of a count, and found by the longest match."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, Self

import regex

from llmviz.files.text import check_text, check_texts
from llmviz.tokenizers.vocabulary import ListTokenizer, join_words

INSIDE = "##"  # stands before a piece that does not begin a word
PAD, UNK, CLS, SEP = "[PAD]", "[UNK]", "[CLS]", "[SEP]"
_WORD = regex.compile(r"[\w--_]+|[^\w\s]|_", regex.VERSION1)


@dataclass(frozen=True, slots=True)
class PairCount:
    """A pair of neighbouring pieces: how often it stands in the corpus, and each of the two."""

    pair: tuple[str, str]
    count: int
    counts: tuple[int, int]

    @property
    def score(self) -> float:
        """count / (counts[0] · counts[1])."""
        return self.count / (self.counts[0] * self.counts[1])


@dataclass(frozen=True, slots=True)
class PieceStep:
    """One merge of the training, with what the choice was made from.

    Attributes:
        piece: what the two pieces became.
        best: the pair that was joined, with the highest score of all at that moment.
        most_frequent: the pair that BPE's rule would have taken at that moment.
    """

    piece: str
    best: PairCount
    most_frequent: PairCount


class WordPieceTokenizer(ListTokenizer):
    """Words cut into the longest pieces of a vocabulary, from left to right.

    A piece inside a word is written with `##` in front. A word that cannot be cut into known
    pieces becomes `[UNK]` as a whole. Spaces are no tokens: text with other spacing than usual
    does not come back as it was. Capitals stay capitals.

    Args:
        vocabulary: the pieces, in the order of their ids, without the special tokens. Those have
            the first ids, as in BERT.

    Reference: Schuster and Nakajima (2012), "Japanese and Korean voice search"; Devlin et al.
    (2019) for the greedy match and the special tokens.
    """

    kind = "wordpiece"
    special_texts: ClassVar[tuple[str, ...]] = (PAD, UNK, CLS, SEP)

    def __init__(self, vocabulary: Iterable[str], name: str | None = None) -> None:
        self.name = name or self.kind
        self.vocabulary = list(vocabulary)
        self._texts = [*self.special_texts, *self.vocabulary]
        self._id_of = {text: i for i, text in enumerate(self._texts)}
        self.special_tokens = {text: self._id_of[text] for text in self.special_texts}
        self._longest = max(map(len, self.vocabulary), default=0)

    @classmethod
    def train(
        cls, text_or_documents: str | Iterable[str], vocab_size: int, name: str | None = None
    ) -> Self:
        """Learn the pieces of a corpus; see `piece_steps`."""
        texts = check_texts(text_or_documents)
        vocabulary = dict.fromkeys(alphabet(texts))
        for step in piece_steps(texts, vocab_size):
            vocabulary[step.piece] = None
        return cls(vocabulary, name)

    @staticmethod
    def split(text: str) -> list[str]:
        """Return the words and marks of a text; no piece crosses their borders.

        >>> WordPieceTokenizer.split("It isn't (yet).")
        ['It', 'isn', "'", 't', '(', 'yet', ')', '.']
        """
        return _WORD.findall(text)

    def pieces(self, word: str) -> list[str]:
        """Return the pieces of one word: the longest from the left each time; or `[UNK]`."""
        return [self._texts[i] for i, _, _ in self._word_spans(word)]

    def encode_with_marks(
        self, first: str, second: str | None = None, length: int | None = None
    ) -> list[int]:
        """Return one or two texts as BERT reads them: `[CLS] first [SEP] second [SEP] [PAD] …`.

        length: fill up with `[PAD]` to so many ids.
        Raises ValueError: the texts have more ids than `length`, or cannot be encoded.
        """
        ids = [self.special_tokens[CLS], *self.encode(first), self.special_tokens[SEP]]
        if second is not None:
            ids += [*self.encode(second), self.special_tokens[SEP]]
        if length is not None and len(ids) > length:
            raise ValueError(f"length must be at least {len(ids)}, the ids there are; got {length}")
        return ids + [self.special_tokens[PAD]] * ((length or 0) - len(ids))

    def decode(self, ids: Iterable[int]) -> str:
        """Return the words of the ids with spaces where a reader expects them."""
        words: list[str] = []
        for i in self.check_ids(ids):
            text = self._texts[i]
            if text.startswith(INSIDE) and words:
                words[-1] += text.removeprefix(INSIDE)
            else:
                words.append(text)
        return join_words(words)

    @classmethod
    def from_dict(cls, content: dict) -> Self:
        """Build the tokenizer of a saved file's content.

        Raises:
            ValueError: the vocabulary is not a list of different pieces of one word each.
        """
        vocabulary = content.get("vocabulary")
        if not isinstance(vocabulary, list) or not all(
            isinstance(text, str) and _is_piece(check_text(text)) for text in vocabulary
        ):
            raise ValueError('"vocabulary" must be a list of pieces of one word each')
        if len(set(vocabulary)) < len(vocabulary):
            raise ValueError('"vocabulary" has a piece twice')
        return cls(vocabulary, content.get("name"))

    def _encode_ordinary(self, text: str) -> list[int]:
        return [i for word in self.split(text) for i, _, _ in self._word_spans(word)]

    def _spans_ordinary(self, text: str) -> Iterator[tuple[int, int, int]]:
        byte, character = 0, 0
        for match in _WORD.finditer(text):
            byte += len(text[character : match.start()].encode("utf-8"))
            word = match.group()
            for token_id, start, end in self._word_spans(word):
                size = len(word[start:end].encode("utf-8"))
                yield token_id, byte, byte + size
                byte += size
            character = match.end()

    def _word_spans(self, word: str) -> list[tuple[int, int, int]]:
        """Return (id, first character, one after the last) for the pieces of a word."""
        spans: list[tuple[int, int, int]] = []
        start = 0
        while start < len(word):
            mark = INSIDE if start else ""
            for end in range(min(len(word), start + self._longest), start, -1):
                token_id = self._id_of.get(mark + word[start:end])
                if token_id is not None:
                    spans.append((token_id, start, end))
                    start = end
                    break
            else:
                return [(self.special_tokens[UNK], 0, len(word))]
        return spans


def _is_piece(text: str) -> bool:
    bare = text.removeprefix(INSIDE)
    return _WORD.fullmatch(bare) is not None


def alphabet(texts: Iterable[str]) -> list[str]:
    """Return the pieces that training starts from: every character as it begins or goes on a word.

    >>> alphabet(["ab a"])
    ['##b', 'a']
    """
    return sorted(
        {
            piece
            for text in texts
            for word in set(_WORD.findall(text))
            for piece in _characters(word)
        }
    )


def piece_steps(text_or_documents: str | Iterable[str], vocab_size: int) -> Iterator[PieceStep]:
    """Yield the merges that WordPiece learns from a corpus, one `PieceStep` each.

    The pair with the highest count(pair) / (count(first) · count(second)) is joined; of equal ones
    the first in sorted order. Two merges may spell one piece; it counts once. Ends when the
    vocabulary is full, or when every word is one piece.

    vocab_size: special tokens, single characters and joined pieces together.
    Raises ValueError: the text is empty, or `vocab_size` has no room for its characters.

    Reference: the rule as described for BERT's vocabulary; its training code is not public.
    """
    texts = check_texts(text_or_documents)
    known = {*WordPieceTokenizer.special_texts, *alphabet(texts)}
    if vocab_size < len(known):
        raise ValueError(
            f"vocab_size must be at least {len(known)} (the characters of the text and "
            f"{len(WordPieceTokenizer.special_texts)} special tokens); got {vocab_size}"
        )
    return _steps(
        Counter(word for text in texts for word in _WORD.findall(text)), known, vocab_size
    )


def _steps(frequency: Counter[str], known: set[str], vocab_size: int) -> Iterator[PieceStep]:
    words = [_characters(word) for word in frequency]
    times = list(frequency.values())
    single: Counter[str] = Counter()
    pairs: Counter[tuple[str, str]] = Counter()
    holders: dict[tuple[str, str], set[int]] = defaultdict(set)

    def enter(at: int, sign: int) -> None:
        """Count a word's pieces and pairs in (sign 1) or out (sign -1)."""
        pieces = words[at]
        for piece in pieces:
            single[piece] += sign * times[at]
        for pair in pairwise(pieces):
            pairs[pair] += sign * times[at]
            holders[pair].add(at)
            if not pairs[pair]:
                del pairs[pair], holders[pair]

    for at in range(len(words)):
        enter(at, 1)
    while pairs and len(known) < vocab_size:
        pair = min(pairs, key=lambda p: (-pairs[p] / (single[p[0]] * single[p[1]]), p))
        frequent = min(pairs, key=lambda p: (-pairs[p], p))
        counted = [PairCount(p, pairs[p], (single[p[0]], single[p[1]])) for p in (pair, frequent)]
        piece = pair[0] + pair[1].removeprefix(INSIDE)
        for at in list(holders[pair]):
            enter(at, -1)
            words[at] = _join(words[at], pair, piece)
            enter(at, 1)
        known.add(piece)
        yield PieceStep(piece, *counted)


def _characters(word: str) -> list[str]:
    return [word[0], *(INSIDE + character for character in word[1:])]


def _join(pieces: list[str], pair: tuple[str, str], piece: str) -> list[str]:
    """Return a word's pieces with every place of a pair joined, from left to right."""
    joined: list[str] = []
    at = 0
    while at < len(pieces):
        if tuple(pieces[at : at + 2]) == pair:
            joined.append(piece)
            at += 2
        else:
            joined.append(pieces[at])
            at += 1
    return joined
