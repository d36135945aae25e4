"""Strips of tokens, and tokens as texts that one can see."""

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, Protocol

import numpy as np

from llmviz.course.components._shared.transport import mount


class TokenLike(Protocol):
    """What a strip needs to know of a token."""

    @property
    def id(self) -> int: ...
    @property
    def data(self) -> bytes: ...
    @property
    def byte_start(self) -> int: ...
    @property
    def byte_end(self) -> int: ...
    @property
    def char_start(self) -> int: ...
    @property
    def char_end(self) -> int: ...


@dataclass(frozen=True)
class TokenRow:
    """The tokens of one tokenizer on the text.

    ``note`` stands beside the name; ``values`` (one float a token) colour the chips;
    ``details`` (one mapping of label to text a token) go on the hover card. ``role``: the colour of
    all chips of a row without values, such as "value"; without one, neighbours differ. With values,
    the colour of the highest.
    ``ghost``: the position of a guess where another is right.
    """

    name: str
    tokens: Sequence[TokenLike]
    note: str = ""
    values: Sequence[float] | np.ndarray | None = None
    details: Sequence[Mapping[str, str]] | None = None
    role: str = ""
    ghost: int | None = None


@dataclass(frozen=True)
class TokenSelection:
    """The token clicked: which row, which position in it, and its id."""

    row: int
    index: int
    id: int


_NAMED = {" ": "·", "\n": "⏎", "\t": "⇥", "\r": "␍", "\u00a0": "⍽"}


SHORT = 64  # bytes of a token that is remembered; a visitor's own may be as long as the text


def visible_text(data: bytes) -> tuple[str, bool]:
    """Return a token's bytes as text one can see, and whether it is whole characters.

    Whitespace becomes a sign; bytes that are no whole characters are written in hex. A mark stands
    on the letter before it, or on a circle where the token has none.

    >>> visible_text(b" the"), visible_text(b"\\xf0\\x9f")
    (('·the', True), ('F0 9F', False))
    >>> [visible_text(text.encode())[0] for text in ("i\\u0301", "\\u0301")]
    ['i\u0301', '\u25cc\u0301']
    """
    return _known_text(data) if len(data) <= SHORT else _visible_text(data)


def _visible_text(data: bytes) -> tuple[str, bool]:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return data.hex(" ").upper(), False
    pairs = zip(" " + text, text, strict=False)
    return "".join(
        character
        if _is_mark(character) and unicodedata.category(before)[0] in "LM"
        else visible_character(character)
        for before, character in pairs
    ), True


# The same tokens stand in every rerun of every visitor.
_known_text = lru_cache(50_000)(_visible_text)


def _is_mark(character: str) -> bool:
    return unicodedata.category(character) == "Mn"


def visible_character(character: str) -> str:
    """Return a character, or a sign for one that leaves no ink."""
    if character in _NAMED:
        return _NAMED[character]
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    category = unicodedata.category(character)
    if category == "Mn":
        return "\u25cc" + character
    if category in ("Cc", "Cf", "Cs", "Co", "Cn", "Zs", "Zl", "Zp") or code in range(
        0xFE00, 0xFE10
    ):
        return f"⟨{code:04X}⟩"
    return character


def token_strip(
    rows: Sequence[TokenRow],
    *,
    key: str,
    text: str | None = None,
    mode: Literal["chips", "aligned"] = "chips",
    show_ids: bool = True,
    value_label: str | tuple[str, str] = "",
    value_range: tuple[float, float] | None = None,
    selected: TokenSelection | None = None,
    limit: int = 3000,
    on_change: Callable[[], None] | None = None,
) -> TokenSelection | None:
    """Draw rows of tokens over one text; return the token clicked.

    ``mode="aligned"`` needs ``text`` and sets every token under the characters it covers. A token
    whose id is below 0 has none. ``value_range`` fixes the ends of the colour scale; where it
    begins below 0, zero is the page's own colour and each sign has one. ``value_label``: what a
    value is, or, where it is only a kind, what its two ends are. At most ``limit`` tokens of
    a row are drawn, and the strip says so. Raises ValueError for data that do not fit.
    """
    payload = strip_payload(
        rows,
        text,
        mode,
        show_ids=show_ids,
        value_label=value_label,
        value_range=value_range,
        limit=limit,
    )
    start = None if selected is None else [selected.row, selected.index]
    reported = mount(
        "token_strip", payload, key=key, state="selected", start=start, on_change=on_change
    )
    match reported:
        case [int(row), int(index)] if 0 <= row < len(rows):
            tokens = rows[row].tokens
            if 0 <= index < len(tokens):
                return TokenSelection(row, index, tokens[index].id)
    return None


def strip_payload(
    rows: Sequence[TokenRow],
    text: str | None,
    mode: str,
    *,
    show_ids: bool,
    value_label: str | tuple[str, str],
    value_range: tuple[float, float] | None,
    limit: int,
) -> dict[str, Any]:
    """Return what a token strip is sent, checked and cut to ``limit`` tokens a row."""
    if mode not in ("chips", "aligned"):
        raise ValueError(f"mode must be chips or aligned; got {mode!r}")
    if mode == "aligned" and text is None:
        raise ValueError("aligned token rows need the text they stand under")
    drawn = [_row_payload(row, limit) for row in rows]
    if text is not None and mode == "aligned":
        longest = [int(row["charEnd"][-1]) for row in drawn if row["total"] > limit]
        text = text[: min(longest)] if longest else text
    if value_range is None:
        values = [value for row in rows if row.values is not None for value in row.values]
        value_range = (0.0, max(values, default=1.0) or 1.0)
    return {
        "mode": mode,
        "rows": drawn,
        "characters": None if mode == "chips" else [visible_character(c) for c in text or ""],
        "byteLengths": None if mode == "chips" else _byte_lengths(text or ""),
        "wide": None if mode == "chips" else _wide(text or ""),
        "showIds": show_ids,
        "valueLabel": value_label if isinstance(value_label, str) else "",
        "ends": None if isinstance(value_label, str) else list(value_label),
        "valueRange": [float(end) for end in value_range],
        "limit": limit,
    }


def _row_payload(row: TokenRow, limit: int) -> dict[str, Any]:
    for what, entries in (("values", row.values), ("details", row.details)):
        if entries is not None and len(entries) != len(row.tokens):
            raise ValueError(f"{row.name}: {len(entries)} {what} for {len(row.tokens)} tokens")
    tokens = row.tokens[:limit]
    texts = [visible_text(token.data) for token in tokens]

    def ints(name: str) -> np.ndarray:
        return np.array([getattr(token, name) for token in tokens], dtype=np.int32)

    return {
        "name": row.name,
        "note": row.note,
        "role": row.role,
        "ghost": row.ghost,
        "total": len(row.tokens),
        "ids": ints("id"),
        "texts": [text for text, _ in texts],
        "whole": np.array([whole for _, whole in texts], dtype=np.uint8),
        "hex": [token.data.hex(" ").upper() for token in tokens],
        "byteStart": ints("byte_start"),
        "byteEnd": ints("byte_end"),
        "charStart": ints("char_start"),
        "charEnd": ints("char_end"),
        "values": None if row.values is None else np.asarray(row.values[:limit], np.float32),
        "details": None
        if row.details is None
        else [list(map(list, entry.items())) for entry in row.details[:limit]],
    }


def _byte_lengths(text: str) -> np.ndarray:
    codes = np.fromiter(map(ord, text), dtype=np.int32, count=len(text))
    lengths = 1 + (codes >= 0x80) + (codes >= 0x800) + (codes >= 0x10000)
    return lengths.astype(np.uint8)


def _wide(text: str) -> np.ndarray:
    """Return 1 for characters that take twice the width of a letter, emoji among them."""
    wide = [unicodedata.east_asian_width(character) in "WF" for character in text]
    return np.array(wide, dtype=np.uint8)
