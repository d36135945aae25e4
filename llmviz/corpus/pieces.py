"""Documents in pieces, so that a text of any size is read without holding all of it.

A plain text is cut into documents by one rule: at `<|endoftext|>` if that stands in it; else at
each line if it is a list (at least 20 lines, none over 40 characters or three words); else it is
one document.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from llmviz.files.text import ENDOFTEXT

Blocks = Callable[[], Iterable[str]]
"""A text from its beginning, in parts of any size."""

LEAST_LIST, LONGEST_ITEM, MOST_WORDS = 20, 40, 3  # lines; characters and words of a line


class Piece(NamedTuple):
    """A part of a document, and whether the document ends with it."""

    text: str
    ends: bool


def pieces_of(blocks: Blocks) -> Iterator[Piece]:
    """Yield the documents of a plain text by the rule above. Reads it twice."""
    if _has_ends(blocks()):
        return _between_ends(blocks())
    return _items(blocks()) if is_list(lines_of(blocks(), LONGEST_ITEM)) else _whole(blocks())


def joined(pieces: Iterable[Piece]) -> Iterator[str]:
    """Yield whole documents."""
    parts: list[str] = []
    for text, ends in pieces:
        parts.append(text)
        if ends:
            yield "".join(parts) if len(parts) > 1 else text
            parts = []


def recut(pieces: Iterable[Piece], cut: Callable[[str], int], least: int) -> Iterator[Piece]:
    """Yield the same documents in other pieces, which end where a tokenizer lets them end.

    cut: the last place where a text may be cut, 0 if there is none. least: characters of a piece
    that does not end its document; shorter documents are not cut.
    """
    waiting: list[str] = []
    size, wanted = 0, least
    for text, ends in pieces:
        waiting.append(text)
        size += len(text)
        if not ends and size < wanted:
            continue
        whole = "".join(waiting)
        at = len(whole) if ends else cut(whole)
        if at or ends:
            yield Piece(whole[:at], ends)
        waiting, size = [whole[at:]], len(whole) - at
        wanted = size + max(least, 0 if at else size)  # no text is searched again and again


def lines_of(blocks: Iterable[str], longest: float = math.inf) -> Iterator[str]:
    """Yield lines without their ends; the last one is what stands behind the last line end.

    longest: characters from which on a line comes in parts.
    """
    rest: list[str] = []
    for block in blocks:
        first, *others = block.split("\n")
        rest.append(first)
        if others:
            yield "".join(rest)
            yield from others[:-1]
            rest = [others[-1]]
        elif sum(map(len, rest)) > longest:
            yield "".join(rest)
            rest = []
    yield "".join(rest)


def is_list(lines: Iterable[str]) -> bool:
    """Whether a text is a list, each line a document of its own; empty lines may end it."""
    count, ended = 0, False
    for line in lines:
        if not line.strip():
            ended = True
        elif ended or len(line) > LONGEST_ITEM or len(line.split()) > MOST_WORDS:
            return False
        else:
            count += 1
    return count >= LEAST_LIST


def _has_ends(blocks: Iterable[str]) -> bool:
    before = ""
    for block in blocks:
        if ENDOFTEXT in block or ENDOFTEXT in before + block[: len(ENDOFTEXT)]:
            return True
        before = (before + block)[-len(ENDOFTEXT) :]
    return False


def _whole(blocks: Iterable[str]) -> Iterator[Piece]:
    for block in blocks:
        yield Piece(block, False)
    yield Piece("", True)


def _items(blocks: Iterable[str]) -> Iterator[Piece]:
    return (Piece(line.strip(), True) for line in lines_of(blocks) if line.strip())


def _between_ends(blocks: Iterable[str]) -> Iterator[Piece]:
    """Documents without the line ends around them; those of white space alone are left out."""
    rest, begun = "", False
    for block in blocks:
        *ended, rest = (rest + block).split(ENDOFTEXT)
        for part in ended:
            yield from _last(part, begun)
            begun = False
        # What may be a part of the next mark stays, and the line ends before it.
        inside = rest[: -len(ENDOFTEXT)].rstrip("\n")
        if begun or inside.strip():
            yield Piece(inside if begun else inside.lstrip("\n"), False)
            rest, begun = rest[len(inside) :], True
    yield from _last(rest, begun)


def _last(part: str, begun: bool) -> Iterator[Piece]:
    if begun:
        yield Piece(part.rstrip("\n"), True)
    elif part.strip():
        yield Piece(part.strip("\n"), True)
