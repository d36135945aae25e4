"""What a visitor guessed on a way, and what was right, as one picture to keep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from llmviz.course.components._shared.transport import pack, renderer


class Line(NamedTuple):
    """A stop of the way: its title, what was asked, the visitor's guess, "" for none, and what is
    right; graded: whether the guess was."""

    title: str
    asked: str
    guess: str
    right: str
    graded: bool | None = None


def keepsake(
    sentence: str,
    following: Sequence[tuple[str, float]],
    lines: Sequence[Line],
    *,
    key: str,
    words: Mapping[str, str],
) -> None:
    """Draw a sentence with what may come next, and a line for each stop.

    following: tokens with their shares, the likeliest first. `words`: picture, title, guess, right,
    none.
    """
    payload = {
        "sentence": sentence,
        "following": [[text, share] for text, share in following],
        "lines": [list(line) for line in lines],
        "words": dict(words),
    }
    renderer("keepsake")(data=pack(payload), key=key)
