"""Stems and lemmas of words beside each other: what is joined that should not be, and what is not.

The pairs are of English words; whether two belong together was judged by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

from llmviz.language.porter import stem

# Words that do not mean the same, although they look alike.
APART = (
    ("university", "universe"),
    ("organization", "organ"),
    ("general", "generous"),
    ("policy", "police"),
    ("news", "new"),
    ("important", "import"),
    ("customer", "custom"),
    ("past", "paste"),
    ("international", "internal"),
)
# Words of one family, although they look different.
TOGETHER = (
    ("matrix", "matrices"),
    ("ran", "running"),
    ("mice", "mouse"),
    ("better", "best"),
    ("absorb", "absorption"),
    ("decide", "decision"),
    ("believe", "belief"),
    ("happy", "happiness"),
)


class Pair(NamedTuple):
    """Two words, whether they belong together, and the stems that a stemmer gives them."""

    words: tuple[str, str]
    together: bool
    stems: tuple[str, str]

    @property
    def joined(self) -> bool:
        """Whether both have the same stem."""
        return self.stems[0] == self.stems[1]

    @property
    def fault(self) -> str:
        """over: strangers were joined; under: a family was parted; "" for neither."""
        if self.joined == self.together:
            return ""
        return "over" if self.joined else "under"


@cache
def _snowball() -> Any:
    import snowballstemmer

    return snowballstemmer.stemmer("english")


def snowball_stem(word: str) -> str:
    """Return the stem by Snowball's English stemmer (Porter 2001), of the library's own code."""
    return _snowball().stemWord(word.lower())


STEMMERS: dict[str, Callable[[str], str]] = {"porter": stem, "snowball": snowball_stem}


def judged_pairs(stemmer: str) -> list[Pair]:
    """Return all pairs with the stems that a stemmer of `STEMMERS` gives."""
    cut = STEMMERS[stemmer]
    listed = [(pair, False) for pair in APART] + [(pair, True) for pair in TOGETHER]
    return [Pair((a, b), together, (cut(a), cut(b))) for (a, b), together in listed]


def families(words: Sequence[str], stemmer: str) -> dict[str, list[str]]:
    """Return the different words of each stem that several of them share, in order.

    >>> families(["connect", "connected", "tree"], "porter")
    {'connect': ['connect', 'connected']}
    """
    cut = STEMMERS[stemmer]
    words_of: dict[str, list[str]] = {}
    for word in dict.fromkeys(word.lower() for word in words):
        words_of.setdefault(cut(word), []).append(word)
    return {key: members for key, members in words_of.items() if len(members) > 1}
