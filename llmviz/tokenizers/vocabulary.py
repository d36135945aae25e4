"""Tokenizers whose tokens are a list of texts: whole words, or single characters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar, Self

import regex

from llmviz.files.text import NOTHING, check_text
from llmviz.tokenizers.base import ENDOFTEXT, PADDING, UNKNOWN, Tokenizer


class ListTokenizer(Tokenizer):
    """A tokenizer whose tokens are texts in a list, each at the place of its id."""

    vocabulary: list[str]  # the ordinary tokens, as they are saved
    _texts: list[str]  # all tokens, the special ones among them

    @property
    def vocab_size(self) -> int:
        """Ordinary and special tokens together."""
        return len(self._texts)

    def token_bytes(self, token_id: int) -> bytes:
        """Return the UTF-8 bytes of a token's text, as the vocabulary writes it."""
        return self._texts[self.check_ids([token_id])[0]].encode("utf-8")

    def to_dict(self) -> dict:
        """Return the vocabulary."""
        return {"vocabulary": self.vocabulary}


class VocabularyTokenizer(ListTokenizer):
    """What word and character tokenizers share: a sorted vocabulary, then the special tokens.

    Args:
        vocabulary: the ordinary tokens; they are sorted, and numbered from 0.
    """

    special_texts: ClassVar[tuple[str, ...]]

    def __init__(self, vocabulary: Iterable[str], name: str | None = None) -> None:
        self.name = name or self.kind
        self.vocabulary = sorted(set(vocabulary))
        texts = self.vocabulary + list(self.special_texts)
        self.special_tokens = {
            text: len(self.vocabulary) + i for i, text in enumerate(self.special_texts)
        }
        self._texts = texts
        self._id_of = {text: i for i, text in enumerate(self.vocabulary)}
        self._unknown = self.special_tokens[UNKNOWN]

    @classmethod
    def train(
        cls,
        text_or_documents: str | Iterable[str],
        vocab_size: int | None = None,
        name: str | None = None,
    ) -> Self:
        """Collect the vocabulary of a corpus.

        Args:
            text_or_documents: a text, or several.
            vocab_size: keep only the most frequent tokens, so many with the special ones (of
                equally frequent ones the first in sorted order); None keeps all.

        Raises:
            ValueError: the text is empty, or `vocab_size` leaves no room for an ordinary token.
        """
        counts: Counter[str] = Counter()
        given = [text_or_documents] if isinstance(text_or_documents, str) else text_or_documents
        some = False  # documents may come from a file that is larger than the memory
        for document in given:
            some = bool(check_text(document)) or some
            counts.update(cls.split(document))
        if not some:
            raise ValueError(NOTHING)
        kept: Iterable[str] = counts
        if vocab_size is not None:
            n_special = len(cls.special_texts)
            if vocab_size <= n_special:
                raise ValueError(
                    f"vocab_size must be above {n_special}, the number of special tokens; "
                    f"got {vocab_size}"
                )
            by_frequency = sorted(counts, key=lambda text: (-counts[text], text))
            kept = by_frequency[: vocab_size - n_special]
        return cls(kept, name)

    @staticmethod
    def split(text: str) -> Sequence[str]:
        """Split a text into the texts of its tokens."""
        raise NotImplementedError

    @classmethod
    def from_dict(cls, content: dict) -> Self:
        """Build the tokenizer of a saved file's content.

        Raises:
            ValueError: the vocabulary is not a list of tokens.
        """
        vocabulary = content.get("vocabulary")
        if not isinstance(vocabulary, list) or not all(
            isinstance(text, str) and list(cls.split(check_text(text))) == [text]
            for text in vocabulary
        ):
            raise ValueError(f'"vocabulary" must be a list of texts of one {cls.kind} each')
        if vocabulary != sorted(set(vocabulary)):
            raise ValueError('"vocabulary" must be sorted, with no text twice')
        return cls(vocabulary, content.get("name"))

    def _encode_ordinary(self, text: str) -> list[int]:
        id_of, unknown = self._id_of.get, self._unknown
        return [id_of(part, unknown) for part in self.split(text)]


class CharTokenizer(VocabularyTokenizer):
    """One token per character (Unicode code point): a small vocabulary and long sequences.

    A character that the training text did not have becomes `<|unk|>`. An emoji or an accented
    letter that is written with several code points is several tokens.
    """

    kind = "char"
    special_texts = (ENDOFTEXT, UNKNOWN, PADDING)

    @staticmethod
    def split(text: str) -> str:
        """Return the text: its characters are its tokens."""
        return text

    @classmethod
    def cut(cls, text: str) -> int:
        """Return the end: each character is a token of its own."""
        return len(text)

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of the ids; the exact text again, but for `<|unk|>`."""
        return "".join(self._texts[i] for i in self.check_ids(ids))

    def _spans_ordinary(self, text: str) -> Iterator[tuple[int, int, int]]:
        start = 0
        for token_id, character in zip(self._encode_ordinary(text), text, strict=True):
            end = start + len(character.encode("utf-8"))
            yield token_id, start, end
            start = end


class WordTokenizer(VocabularyTokenizer):
    """One token per word, per punctuation mark and per line end.

    A word that the training text did not have becomes `<|unk|>`; `boy` and `boys` share nothing.
    Spaces are no tokens. `decode` writes one space between tokens, but none before closing
    punctuation, after an opening bracket, inside a pair of double quotes, or at a line end: text
    with other spacing does not come back as it was.
    """

    kind = "word"
    special_texts = (ENDOFTEXT, UNKNOWN, PADDING)

    # A word may hold apostrophes ("isn't"); every other mark is a token of its own.
    _TOKEN: ClassVar = regex.compile(r"\w+(?:['’]\w+)*|[^\w\s]|\n")

    @classmethod
    def split(cls, text: str) -> list[str]:
        """Return the words, punctuation marks and line ends.

        >>> WordTokenizer.split("It isn't (yet).")
        ['It', "isn't", '(', 'yet', ')', '.']
        """
        return cls._TOKEN.findall(text)

    @classmethod
    def cut(cls, text: str) -> int:
        """Return the place of the last white space that is surely no part of a token."""
        return max(text.rfind(" "), text.rfind("\n"), 0)

    def decode(self, ids: Iterable[int]) -> str:
        """Return the tokens' texts with spaces where a reader expects them."""
        return join_words(self._texts[i] for i in self.check_ids(ids))

    def _spans_ordinary(self, text: str) -> Iterator[tuple[int, int, int]]:
        byte, character = 0, 0
        for match in self._TOKEN.finditer(text):
            start = byte + len(text[character : match.start()].encode("utf-8"))
            byte = start + len(match.group().encode("utf-8"))
            character = match.end()
            yield self._id_of.get(match.group(), self._unknown), start, byte


_NO_SPACE_BEFORE = frozenset(".,;:!?)]}%…'’”»\n")
_NO_SPACE_AFTER = frozenset("([{“«\n")


def join_words(words: Iterable[str]) -> str:
    """Return words and marks as a text, with spaces where a reader expects them.

    >>> join_words(["(", "Yes", ",", '"', "no", '"', ")", "."])
    '(Yes, "no").'
    """
    written: list[str] = []
    space = False  # whether a space may come before the next one
    quoted = False  # whether a double quote is open
    for text in words:
        closing = text in _NO_SPACE_BEFORE or (text == '"' and quoted)
        if space and not closing:
            written.append(" ")
        written.append(text)
        if text == '"':
            quoted = not quoted
        space = text not in _NO_SPACE_AFTER and not (text == '"' and quoted)
    return "".join(written)
