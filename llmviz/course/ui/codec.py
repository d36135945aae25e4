"""The controls of a page as text in its address, and back.

A `Param` knows how one control is written in a link and which values it takes. Nothing here needs
Streamlit, so the rules can be tested by themselves; `llmviz.course.ui.state` puts them to work.
"""

from __future__ import annotations

import base64
import binascii
import math
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from llmviz.course.ui.furniture import words

MAX_TEXT_IN_LINK = 6_000  # characters of address that browsers and chat programs carry safely
MOST_OF_A_NAME = 200  # characters: of a model, a run, a word, a kept cell
MOST_OF_A_PROMPT = 10_000  # characters of what a model reads
MOST_OF_A_TEXT = 50_000  # characters of a learner's text, of which merges are learned at once
_PLAIN_TEXT_LIMIT = 160  # longer texts are compressed
_BYTES = 4  # of a character in UTF-8, at most
_PACKED = "~"


@dataclass(frozen=True)
class Param:
    """One control: its name in the address, its default, and how its value is read and written.

    `read` raises `ValueError` with the rule that was broken. `write` returns None where a value
    cannot be put into a link (a text that is too long). A `shared` parameter travels between pages.
    `low` and `high` are the range of a number, for its link and for its slider alike; `most` is how
    many characters of a text are read, `options` are what there is to choose from, `at_most` is how
    many of several may be chosen, by a link and by hand alike. `formerly`: its name in older links.
    `always`: whether links name it at its default, too. `begins`: its default, or what gives it,
    where that is a text of a document, in the language that is asked for now.
    """

    key: str
    begins: Any
    read: Callable[[str], Any]
    write: Callable[[Any], str | None]
    shared: bool = False
    low: float | None = None
    high: float | None = None
    most: int | None = None
    options: Sequence[str] = ()
    at_most: int | None = None
    formerly: str = ""
    always: bool = False

    @property
    def default(self) -> Any:
        """What holds until a hand or a link says something else."""
        return self.begins() if callable(self.begins) else self.begins


@lru_cache(maxsize=64)  # each rerun writes the address
def pack_text(text: str, most: int = MOST_OF_A_TEXT) -> str | None:
    """Write a text for a link: as it is when short, compressed when long, None when too long."""
    if len(text) > most:
        return None
    if len(text) <= _PLAIN_TEXT_LIMIT and not text.startswith(_PACKED):
        return text
    packed = base64.urlsafe_b64encode(zlib.compress(text.encode("utf-8"), 9)).decode("ascii")
    return _PACKED + packed.rstrip("=") if len(packed) <= MAX_TEXT_IN_LINK else None


def unpack_text(written: str, most: int = MOST_OF_A_TEXT) -> str:
    """Read what `pack_text` wrote; a small link that holds a large text is not unpacked to its end.

    A text that is not packed is as long as its address, and kept whole.

    Raises ValueError: the compressed form has more than `most` characters, or is damaged.
    """
    if not written.startswith(_PACKED):
        return written
    body = written[len(_PACKED) :]
    try:
        raw = base64.urlsafe_b64decode(body + "=" * (-len(body) % 4))
        unpacker = zlib.decompressobj()
        data = unpacker.decompress(raw, _BYTES * most + 1)
        text = data.decode("utf-8") if unpacker.eof else ""
    except (binascii.Error, zlib.error, UnicodeDecodeError) as error:
        raise ValueError(words.rules["damaged"]) from error
    if len(data) > _BYTES * most or len(text) > most:
        raise ValueError(words.rules["long"].format(most=most))
    if not unpacker.eof:
        raise ValueError(words.rules["cut"])
    return text


def text(
    key: str,
    default: str | Callable[[], str],
    most: int = MOST_OF_A_NAME,
    *,
    shared: bool = False,
) -> Param:
    """A free text, of which `most` characters are read."""

    def read(written: str) -> str:
        return unpack_text(written, most)

    def write(value: str) -> str | None:
        return pack_text(value, most)

    return Param(key, default, read, write, shared, most=most)


def integer(key: str, default: int, low: int, high: int, *, shared: bool = False) -> Param:
    """A whole number from `low` to `high`, both included."""

    def read(written: str) -> int:
        try:
            value = int(written)
        except ValueError:
            raise ValueError(words.rules["whole"].format(low=low, high=high)) from None
        if not low <= value <= high:
            raise ValueError(words.rules["whole"].format(low=low, high=high))
        return value

    return Param(key, default, read, str, shared, low, high)


def number(key: str, default: float, low: float, high: float, *, shared: bool = False) -> Param:
    """A number from `low` to `high`, both included; never NaN."""

    def read(written: str) -> float:
        try:
            value = float(written)
        except ValueError:
            raise ValueError(
                words.rules["number"].format(low=f"{low:g}", high=f"{high:g}")
            ) from None
        if not math.isfinite(value) or not low <= value <= high:
            raise ValueError(words.rules["number"].format(low=f"{low:g}", high=f"{high:g}"))
        return value

    return Param(
        key, default, read, lambda value: repr(float(value)), shared, float(low), float(high)
    )


def flag(key: str, default: bool, *, shared: bool = False) -> Param:
    """A switch, written 1 or 0."""

    def read(written: str) -> bool:
        if written not in ("0", "1"):
            raise ValueError(words.rules["flag"])
        return written == "1"

    return Param(key, default, read, lambda value: "1" if value else "0", shared, options="01")


def choice(
    key: str,
    default: str,
    options: Sequence[str],
    *,
    shared: bool = False,
    moved: Mapping[str, str] | None = None,
    always: bool = False,
) -> Param:
    """One of some named options; moved: names that older links use, and what they mean today."""

    def read(written: str) -> str:
        written = (moved or {}).get(written, written)
        if written not in options:
            raise ValueError(words.rules["one_of"].format(names=", ".join(options)))
        return written

    return Param(key, default, read, str, shared, options=tuple(options), always=always)


def choices(
    key: str,
    default: Sequence[str],
    options: Sequence[str],
    *,
    at_least: int = 0,
    at_most: int | None = None,
) -> Param:
    """Several of some named options, in the order chosen; at_most: how many, if not all."""

    def read(written: str) -> list[str]:
        values = [part for part in written.split(",") if part]
        unknown = [value for value in values if value not in options]
        if unknown or len(values) < at_least or len(set(values)) != len(values):
            raise ValueError(words.rules["some_of"].format(names=", ".join(options)))
        if at_most is not None and len(values) > at_most:
            raise ValueError(words.rules["names"].format(most=at_most))
        return values

    return Param(key, list(default), read, ",".join, at_most=at_most, options=tuple(options))


def names(
    key: str, default: Sequence[str], at_most: int, rule: str, longest: int | None = None
) -> Param:
    """A few different names of any kind, in the order chosen, none of which holds a comma.

    rule: what is said of a link with more, or with one twice. longest: characters that a link
    carries of them together, if not all.
    """

    def read(written: str) -> list[str]:
        values = [part for part in written.split(",") if part]
        if len(values) > at_most or len(set(values)) < len(values):
            raise ValueError(rule)
        return values

    def write(values: Sequence[str]) -> str | None:
        written = ",".join(values)
        return written if longest is None or len(written) <= longest else None

    return Param(key, list(default), read, write, at_most=at_most)


def integers(key: str, default: Sequence[int], low: int, high: int, at_most: int = 64) -> Param:
    """A short list of whole numbers."""
    each = integer(key, 0, low, high)

    def read(written: str) -> list[int]:
        values = [each.read(part) for part in written.split(",") if part]
        if len(values) > at_most:
            raise ValueError(words.rules["numbers"].format(most=at_most))
        return values

    return Param(key, list(default), read, lambda values: ",".join(map(str, values)))
