"""Names in a text as BIO tags, and two ways to score them.

Reference: Tjong Kim Sang and De Meulder 2003 (the CoNLL shared task), whose score counts whole
names: a name of three words of which one is missed is one mistake and no success.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

OUTSIDE = "O"


@dataclass(frozen=True, order=True)
class Span:
    """A name: words `start` to `end` (not included), and what it names."""

    start: int
    end: int
    kind: str


@dataclass(frozen=True)
class Score:
    """How many were right, how many were given, how many there are."""

    right: int
    given: int
    there: int

    @property
    def precision(self) -> float:
        """The share of the given ones that are right; 0 where none was given."""
        return self.right / self.given if self.given else 0.0

    @property
    def recall(self) -> float:
        """The share of those that are there which were found; 0 where there is none."""
        return self.right / self.there if self.there else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of the two; 0 where both are."""
        return 2 * self.right / (self.given + self.there) if self.given + self.there else 0.0


def spans(tags: Sequence[str]) -> list[Span]:
    """Return the names that BIO tags mark.

    An I- that does not go on with a name of its kind begins one, as in the CoNLL score.

    >>> spans(["B-PERSON", "I-PERSON", "O", "B-DAY"])
    [Span(start=0, end=2, kind='PERSON'), Span(start=3, end=4, kind='DAY')]

    Raises ValueError for a tag that is neither O nor B- or I- and a kind.
    """
    complete: list[Span] = []
    start, open_kind = 0, ""
    for at, tag in enumerate([*tags, OUTSIDE]):
        letter, dash, kind = tag.partition("-")
        if tag != OUTSIDE and (letter not in ("B", "I") or not dash or not kind):
            raise ValueError(f"a tag must be O, or B- or I- and a kind; got {tag!r}")
        if open_kind and (letter != "I" or kind != open_kind):
            complete.append(Span(start, at, open_kind))
            open_kind = ""
        if kind and not open_kind:
            start, open_kind = at, kind
    return complete


def span_score(truth: Sequence[Sequence[str]], given: Sequence[Sequence[str]]) -> Score:
    """Score whole names over many texts: right is one with both ends and the kind right.

    truth, given: BIO tags of each text. Raises ValueError where texts differ in length.
    """
    _check(truth, given)
    both = [(set(spans(tags)), set(spans(other))) for tags, other in zip(truth, given, strict=True)]
    return Score(
        sum(len(names & other) for names, other in both),
        sum(len(other) for _, other in both),
        sum(len(names) for names, _ in both),
    )


def token_score(truth: Sequence[Sequence[str]], given: Sequence[Sequence[str]]) -> Score:
    """Score word by word: right is a word inside a name with the right tag. Words outside are many
    and easy, and are left out of the counts.
    """
    _check(truth, given)
    pairs = [
        pair
        for tags, other in zip(truth, given, strict=True)
        for pair in zip(tags, other, strict=True)
    ]
    return Score(
        sum(a == b != OUTSIDE for a, b in pairs),
        sum(b != OUTSIDE for _, b in pairs),
        sum(a != OUTSIDE for a, _ in pairs),
    )


def _check(truth: Sequence[Sequence[str]], given: Sequence[Sequence[str]]) -> None:
    lengths = [list(map(len, some)) for some in (truth, given)]
    if lengths[0] != lengths[1]:
        raise ValueError("each text needs as many tags as it has words; the two differ")
