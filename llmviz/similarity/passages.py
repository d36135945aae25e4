"""Documents cut into passages, and texts cut into the words that a search compares."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import regex

MOST_OF_A_SENTENCE = 400  # characters; a longer one is cut, between words where there are any
# `re`, because it takes the same characters for spaces as `strip` does; `regex` takes four less.
# What ends a sentence: its mark, with what closes behind it. Some scripts put no space there.
_END = re.compile(r"[.!?…।؟]+[\"'”’»)\]]*(?=\s|$)|[。！？]+[」』）]*")
_PIECE = re.compile(r"\S(?:.{0,398}\S)?(?!\S)|\S{400}", re.S)
_BREAK = re.compile(r"\n[^\S\n]*\n\s*")
_NO_SPACES = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_UNSPACED = regex.compile(f"[{_NO_SPACES}]")
_RUN = regex.compile(
    rf"[{_NO_SPACES}]+|[^\W{_NO_SPACES}](?:[^\W{_NO_SPACES}]|[\p{{M}}])*", regex.V1
)


@dataclass(frozen=True)
class Passage:
    """Some sentences of a document: its number from 0, and where in the whole text they stand."""

    document: int
    start: int
    end: int
    text: str


def cut(text: str, sentences: int = 2, overlap: int = 0) -> list[Passage]:
    """Cut a text into passages of so many sentences; `overlap` of them stand in the next one too.

    A blank line ends a document, and no passage goes beyond its document. A sentence of more than
    MOST_OF_A_SENTENCE characters is cut. Time grows with the length of the text times the overlap.

    >>> [passage.text for passage in cut("One. Two. Three.", 2, 1)]
    ['One. Two.', 'Two. Three.']
    >>> [(passage.document, passage.text) for passage in cut("One. Two.\\n\\nThree.", 3)]
    [(0, 'One. Two.'), (1, 'Three.')]

    Raises ValueError for fewer than one sentence, or an overlap that is not below their number.
    """
    if sentences < 1 or not 0 <= overlap < sentences:
        raise ValueError(
            f"a passage has at least one sentence, and its overlap is below their number; "
            f"got {sentences} and {overlap}"
        )
    found = []
    for number, (start, end) in enumerate(_documents(text)):
        spans = list(_sentences(text, start, end))
        for first in range(0, max(1, len(spans) - overlap), sentences - overlap):
            part = spans[first : first + sentences]
            begin, stop = part[0][0], part[-1][1]
            found.append(Passage(number, begin, stop, text[begin:stop]))
    return found


def _documents(text: str) -> Iterator[tuple[int, int]]:
    at = 0
    for start, end in [*(match.span() for match in _BREAK.finditer(text)), (len(text), len(text))]:
        if text[at:start].strip():
            yield at, start
        at = end


def _sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield where sentences stand, without the spaces around them."""
    at = start
    for stop in [*(match.end() for match in _END.finditer(text, start, end)), end]:
        yield from (match.span() for match in _PIECE.finditer(text, at, stop))
        at = stop


def search_words(text: str) -> list[str]:
    """Return the words that a search compares: small letters and digits, without signs.

    Scripts that put no space between words are cut into pairs of characters that overlap, the plain
    way of search engines.

    >>> search_words("Where does Ada live?"), search_words("東京都")
    (['where', 'does', 'ada', 'live'], ['東京', '京都'])
    """
    found: list[str] = []
    for run in _RUN.findall(text.lower()):
        if len(run) > 2 and _UNSPACED.match(run):
            found += [run[at : at + 2] for at in range(len(run) - 1)]
        else:
            found.append(run)
    return found
