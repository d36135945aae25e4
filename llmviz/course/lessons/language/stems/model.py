"""Stems of words beside each other: what is joined that should not be, and what is not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

from llmviz.course.lessons.language.stems import words as written
from llmviz.language.porter import stem


class Pair(NamedTuple):
    """Two words, whether they belong together, and the stems that a stemmer gives them."""

    words: tuple[str, ...]
    together: bool
    stems: tuple[str, ...]

    @property
    def fault(self) -> int:
        """1: strangers were joined; −1: a family was parted; 0 for neither."""
        return (self.stems[0] == self.stems[1]) - self.together


@cache
def _snowball() -> Any:
    import snowballstemmer

    return snowballstemmer.stemmer("english")


def snowball_stem(word: str) -> str:
    """Return the stem by Snowball's English stemmer (Porter 2001), of the library's own code."""
    return _snowball().stemWord(word.lower())


STEMMERS: dict[str, Callable[[str], str]] = {"porter": stem, "snowball": snowball_stem}


def judged_pairs(stemmer: str) -> list[Pair]:
    """Return the pairs that were judged by hand, strangers first, with a stemmer's stems."""
    return [
        Pair(tuple(pair.split()), together, tuple(map(STEMMERS[stemmer], pair.split())))
        for together, listed in written.judged.items()
        for pair in listed.split(", ")
    ]


def families(words: Sequence[str]) -> dict[str, list[str]]:
    """Return the different words of each stem by Porter that several of them share, in order."""
    words_of: dict[str, list[str]] = {}
    for word in dict.fromkeys(word.lower() for word in words):
        words_of.setdefault(stem(word), []).append(word)
    return {key: members for key, members in words_of.items() if len(members) > 1}
