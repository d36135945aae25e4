"""The known names that are nearest to one that nobody knows, for a refusal that helps."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher

SHOWN = 3


def nearest(name: str, known: Iterable[str], count: int = SHOWN) -> list[str]:
    """Return up to `count` known names, the most similar first; equal ones in the order given.

    Similar is what has most characters in common, in the same order.

    >>> nearest("tiny-wrld-gpt", ["names-gpt", "tiny-world-char", "tiny-world-gpt"], 2)
    ['tiny-world-gpt', 'tiny-world-char']
    """
    wanted = name[:200].lower()
    return sorted(
        known, key=lambda other: -SequenceMatcher(None, wanted, other.lower(), False).ratio()
    )[:count]
