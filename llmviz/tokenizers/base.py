"""What every tokenizer is: text to ids, ids to text, and which bytes each token covers."""

from __future__ import annotations

import codecs
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import count
from operator import index
from pathlib import Path
from typing import Self

import numpy as np
import regex

from llmviz.files.text import ENDOFTEXT, check_text
from llmviz.tokenizers.files import read_tokenizer_file, write_tokenizer_file

UNKNOWN = "<|unk|>"
PADDING = "<|pad|>"

KINDS: dict[str, type[Tokenizer]] = {}  # kind in a file -> its class; each class enters itself


@dataclass(frozen=True, slots=True)
class Token:
    """One token where it stands in a text.

    `data` is the bytes of the text that it covers, `byte_start:byte_end` where they are. The
    characters `char_start:char_end` are those that the bytes touch, so two tokens that share one
    character (an emoji cut in two) name the same character.
    """

    id: int
    data: bytes
    byte_start: int
    byte_end: int
    char_start: int
    char_end: int


def in_line(pieces: Iterable[bytes], ids: Iterable[int] | None = None) -> list[Token]:
    """Return pieces of a text as tokens that stand one behind the other.

    ids: of the tokens; without them they are numbered. A character that two pieces share counts in
    neither.

    >>> in_line([b"a", " é".encode()])[1]
    Token(id=1, data=b' \xc3\xa9', byte_start=1, byte_end=4, char_start=1, char_end=3)
    """
    tokens, at, character = [], 0, 0
    for token, data in zip(count() if ids is None else ids, pieces, strict=False):
        ends = at + len(data), character + len(data.decode("utf-8", "ignore"))
        tokens.append(Token(token, data, at, ends[0], character, ends[1]))
        at, character = ends
    return tokens


class Tokenizer(ABC):
    """Text to token ids and back.

    Attributes:
        kind: "word", "char", "bpe", "wordpiece", "tiktoken" or "published"; a saved file says it.
        name: what the learner chose, or the kind.
        special_tokens: text of each special token, and its id.
        front: the ids that stand in front of every text. None, as for all models that are trained
            here, is the end-of-text token.
        lone: the id that an empty text is read as where nothing stands in front of texts; None is
            the end-of-text token.
    """

    kind: str
    name: str
    special_tokens: dict[str, int]
    front: tuple[int, ...] | None = None
    lone: int | None = None

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "kind" in vars(cls):
            KINDS[cls.kind] = cls

    @property
    @abstractmethod
    def vocab_size(self) -> int:
        """How many ids there are; ids go from 0 to one less."""

    @abstractmethod
    def token_bytes(self, token_id: int) -> bytes:
        """Return the bytes that a token id stands for.

        Raises:
            ValueError: there is no such id.
        """

    @abstractmethod
    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of the ids."""

    def settled(self, ids: Iterable[int]) -> str:
        """Return the text of ids without a last character of which more bytes may come."""
        return self.decode(ids)

    def decode_behind(self, before: Iterable[int], ids: Iterable[int]) -> str:
        """Return the text of ids as it stands behind others; alone, some are written otherwise.

        A character that those before leave unfinished is a part of it.
        """
        before = list(before)
        return self.decode([*before, *ids])[len(self.settled(before)) :]

    @abstractmethod
    def _encode_ordinary(self, text: str) -> list[int]:
        """Return the ids of a checked text in which nothing is special."""

    @abstractmethod
    def _spans_ordinary(self, text: str) -> Iterator[tuple[int, int, int]]:
        """Yield (id, byte_start, byte_end) for a checked text in which nothing is special."""

    @abstractmethod
    def to_dict(self) -> dict:
        """Return everything that a saved file must hold, besides name and kind."""

    def encode(self, text: str, allowed_special: str | Collection[str] = ()) -> list[int]:
        """Return the token ids of a text.

        Args:
            text: any string without lone surrogates.
            allowed_special: the special tokens that may be read out of the text, or "all". With
                the default, text that merely looks like a special token is ordinary text.

        Raises:
            ValueError: `text` cannot be encoded, or an allowed special token is not known.
        """
        check_text(text)
        if not allowed_special:
            return self._encode_ordinary(text)
        ids: list[int] = []
        for part, special_id in self.split_special(text, allowed_special):
            if special_id is None:
                ids.extend(self._encode_ordinary(part))
            else:
                ids.append(special_id)
        return ids

    @property
    def end(self) -> int:
        """The id of the token that ends a text; KeyError for a tokenizer without one."""
        return self.special_tokens[ENDOFTEXT]

    @property
    def ends(self) -> tuple[int, ...]:
        """The ids with which a model ends what it writes, `end` first."""
        return (self.end,)

    @property
    def start(self) -> tuple[int, ...]:
        """The ids in front of every text; KeyError as `end`."""
        return (self.end,) if self.front is None else self.front

    def cut(self, text: str) -> int:
        """Return the last place where a text may be cut into two that are encoded one by one.

        The ids of both parts are then those of the whole, whatever stands behind the text. 0 where
        no such place is known: then a text is encoded as a whole.
        """
        return 0

    def encode_from_start(self, text: str, *, special: bool = False) -> list[int]:
        """Return the token ids of a text as a model reads it, behind what stands in front of it.

        That is how models have read every text in training, so it is how they are asked, too. There
        is at least one id, for an empty text as well.

        special: whether the names of special tokens are read as these tokens.
        Raises KeyError for a tokenizer without an end-of-text token; otherwise as `encode`.
        """
        return self.behind_start(self.encode(text, "all" if special else ()), special=special)

    def behind_start(self, ids: Iterable[int], *, special: bool = False) -> list[int]:
        """Return ids behind those that stand in front of every text; at least one.

        special: whether the ids may begin with these already; they are not put there twice.
        """
        ids = list(ids)
        begun = special and tuple(ids[: len(self.start)]) == self.start
        return [*(() if begun else self.start), *ids] or [
            self.end if self.lone is None else self.lone
        ]

    def opens_and_ends(self, token_id: int) -> bool:
        """Whether a token stands in front of every text and ends it, too."""
        return token_id in self.start and token_id == self.end

    def tokens(self, text: str, allowed_special: str | Collection[str] = ()) -> list[Token]:
        """Return the tokens of a text with the bytes and characters that each covers."""
        data = check_text(text).encode("utf-8")
        char_of_byte = _char_of_byte(text, data)
        tokens: list[Token] = []
        offset = 0
        for part, special_id in self.split_special(text, allowed_special):
            size = len(part.encode("utf-8"))
            spans = self._spans_ordinary(part) if special_id is None else ((special_id, 0, size),)
            for token_id, start, end in spans:
                start, end = start + offset, end + offset
                first, last = start, end
                if char_of_byte is not None:
                    first = char_of_byte[start]
                    last = char_of_byte[end - 1] + 1 if end > start else first
                tokens.append(Token(token_id, data[start:end], start, end, first, last))
            offset += size
        return tokens

    def split_special(
        self, text: str, allowed_special: str | Collection[str]
    ) -> Iterator[tuple[str, int | None]]:
        """Yield (part, id): each allowed special token with its id, the rest with None."""
        names = set(self.special_tokens if allowed_special == "all" else allowed_special)
        unknown = names - self.special_tokens.keys()
        if unknown:
            raise ValueError(
                f"{sorted(unknown)[0]!r} is no special token of {self.name}; it has "
                f"{', '.join(self.special_tokens) or 'none'}"
            )
        if not names:
            yield text, None
            return
        longest_first = sorted(names, key=len, reverse=True)
        for part in regex.split(f"({'|'.join(map(regex.escape, longest_first))})", text):
            if part:
                yield part, self.special_tokens[part] if part in names else None

    def check_ids(self, ids: Iterable[int]) -> list[int]:
        """Return the ids as a list of ints.

        Raises:
            ValueError: an id is not a whole number from 0 to the vocabulary's size less one.
        """
        size = self.vocab_size
        try:
            checked = [index(i) for i in ids]
        except TypeError as error:
            raise ValueError(f"token ids must be whole numbers: {error}") from None
        for i in checked:
            if not 0 <= i < size:
                raise ValueError(
                    f"token id {i} is out of range: {self.name} has {size:,} tokens, "
                    f"0 to {size - 1}"
                )
        return checked

    def save(self, path: str | Path) -> None:
        """Write the tokenizer to one JSON file, whole or not at all."""
        front = {} if self.front is None else {"front": list(self.front), "lone": self.lone}
        content = {"kind": self.kind, "name": self.name, **front, **self.to_dict()}
        write_tokenizer_file(path, content)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a tokenizer that `save` wrote; `Tokenizer.load` reads any kind.

        Raises:
            ValueError: the file is not one, is damaged, or holds another kind than this class.
        """
        content = read_tokenizer_file(path)
        kind = content.get("kind")
        if not isinstance(kind, str) or kind not in KINDS:
            raise ValueError(f"{Path(path).name} has kind {kind!r}; known are {', '.join(KINDS)}")
        if not isinstance(content.get("name"), str):
            raise ValueError(f'{Path(path).name} has no "name"')
        tokenizer = KINDS[kind].from_dict(content)
        if not isinstance(tokenizer, cls):
            raise ValueError(
                f"{Path(path).name} holds a tokenizer of kind {tokenizer.kind!r}, not {cls.kind!r}"
            )
        if "front" in content:
            front, lone = content["front"], content.get("lone")
            if not isinstance(front, list):
                raise ValueError(f'{Path(path).name} has no list of ids in "front"; got {front!r}')
            tokenizer.front = tuple(tokenizer.check_ids(front))
            tokenizer.lone = None if lone is None else tokenizer.check_ids([lone])[0]
        return tokenizer

    @classmethod
    @abstractmethod
    def from_dict(cls, content: dict) -> Self:
        """Return the tokenizer of what `to_dict` gave, with its name.

        Raises:
            ValueError: a value is missing or impossible.
        """


class ByteTokenizer(Tokenizer):
    """A tokenizer whose tokens are bytes, so that every text comes back whole."""

    _bytes: list[bytes]  # by id; empty for an id that stands for no text

    @property
    def vocab_size(self) -> int:
        """How many ids there are, those of special tokens included."""
        return len(self._bytes)

    def token_bytes(self, token_id: int) -> bytes:
        """Return the bytes that a token id stands for. Raises ValueError for an unknown id."""
        return self._bytes[self.check_ids([token_id])[0]]

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """Return the bytes of the ids, which may end in the middle of a character."""
        return b"".join(map(self._bytes.__getitem__, self.check_ids(ids)))

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of the ids; bytes that make no character become U+FFFD."""
        return self.decode_bytes(ids).decode("utf-8", errors="replace")

    def settled(self, ids: Iterable[int]) -> str:
        """Return the text of ids without a last character of which more bytes may come."""
        ids = list(ids)
        text, last = self.decode(ids), self.decode_bytes(ids)[-3:]  # three of four may have come
        unfinished = codecs.utf_8_decode(last, "replace", False)[1] < len(last)
        return text[:-1] if unfinished else text


def _char_of_byte(text: str, data: bytes) -> list[int] | None:
    """Return the character index of each byte and of the end, or None for ASCII, where i is i."""
    if len(text) == len(data):
        return None
    starts_character = (np.frombuffer(data, dtype=np.uint8) & 0xC0) != 0x80
    return [*(np.cumsum(starts_character) - 1).tolist(), len(text)]
