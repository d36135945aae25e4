"""A question made from live numbers, and where a guess on a picture begins. Nothing here draws."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from llmviz.course.document import Ask, Sentence, languages

APART = 0.15  # between the right share of a question and the others
NEAR_END = 0.1  # of an axis: what lies so near to an end is told by a handle that begins there


@dataclass(frozen=True)
class Question:
    """A question made from live numbers.

    `right` is the index of the right one of `answers`, and `reasons` say for each answer why it is
    right or what it overlooks. The answers are shown in `order`, so that their author's order does
    not tell which one is right. scale: they are steps of a scale or lines of a program, which keep
    their order. values: for a guess on the picture, the numbers that each answer stands for; write:
    how a single one of them is written. share: they are shares, and where no picture asks for the
    guess, the question has an axis of its own.
    """

    text: str
    answers: Sequence[str]
    right: int
    reasons: Sequence[str]
    scale: bool = False
    values: Sequence[Sequence[float]] = ()
    write: Callable[[Any], str] | None = field(default=None, compare=False)
    share: bool = False

    @classmethod
    def of(cls, ask: Ask, right: int | None = None, /, **values: Any) -> Question:
        """Return the question of a document with its slots filled.

        right: the place of the right answer, where the document does not say it.
        """
        place = ask.right if right is None else right
        if place is None:
            raise ValueError(f"no answer of {ask.text!r} is marked as the right one")
        return cls(
            ask.text.format(**values),
            [answer.format(**values) for answer in ask.answers],
            place,
            [reason.format(**values) for reason in ask.answers.values()],
        )

    @classmethod
    def among(
        cls,
        text: str,
        reasons: Mapping[Any, str],
        right: Any,
        written: Callable[[Any], str] | None = None,
        /,
        *,
        scale: bool = False,
        **values: Any,
    ) -> Question:
        """Return a question whose answers are the keys of `reasons`, each with its reason.

        right: one of the keys. written: how an answer stands on the page; without it a text stands
        as it is, and a number with its thousands apart. values: of the slots of sentences that
        are not filled yet. Of answers written alike one stays: the right one, or the first.

        >>> Question.among("How many?", {4: "too few", 9000: "yes"}, 9000).answers
        ['4', '9,000']
        """
        write = written or _plainly
        first: dict[str, Any] = {}
        for answer in (right, *reasons):
            first.setdefault(write(answer), answer)
        answers = [answer for answer in reasons if answer in first.values()]
        if len(answers) == 1 < len(reasons):
            raise ValueError(f"a question needs different answers; all are {next(iter(first))!r}")
        texts = [_filled(reasons[answer], values) for answer in answers]
        shown = [write(answer) for answer in answers]
        numbers = [(answer,) if isinstance(answer, int | float) else answer for answer in answers]
        return cls(
            _filled(text, values),
            shown,
            answers.index(right),
            texts,
            scale,
            [] if any(isinstance(answer, str) for answer in answers) else numbers,
            write,
        )

    @classmethod
    def named(
        cls,
        text: str,
        reasons: Mapping[str, str],
        cases: Mapping[str, Any],
        written: Callable[[Any], str] | Mapping[str, str] | None = None,
        /,
        **more: Any,
    ) -> Question:
        """Return a question whose answers have names, as their reasons; "right" is the right one.

        cases: the answers, such as shares or lines. written: how one stands on the page, or the
        words of each by its name. more: as for `among`.

        >>> asked = Question.named("How many?", {"right": "yes", "a": "no"}, {"a": 2, "right": 4})
        >>> asked.right, asked.reasons
        (1, ['no', 'yes'])
        """
        alone = (int, float, str)
        keys = {name: x if isinstance(x, alone) else tuple(x) for name, x in cases.items()}
        right = keys["right"]
        names = {case: name for name, case in keys.items()} | {right: "right"}
        write = (lambda case: written[names[case]]) if isinstance(written, Mapping) else written
        each = {case: reasons[name] for case, name in names.items()}
        return cls.among(text, each, right, write, **more)

    @classmethod
    def rated(
        cls,
        text: str,
        answers: Sequence[str],
        right: int,
        reasons: str | Sequence[str],
        /,
        **values: Any,
    ) -> Question:
        """Return a question whose answers are the steps of a scale.

        reasons: one of each step, or one that serves them all. values: of the slots of sentences
        that are not filled yet.
        """
        each = [reasons] * len(answers) if isinstance(reasons, str) else reasons
        shown, texts = ([_filled(line, values) for line in part] for part in (answers, each))
        return cls(_filled(text, values), shown, right, texts, scale=True)

    def __post_init__(self) -> None:
        if len(self.answers) != len(self.reasons) or len(set(self.answers)) != len(self.answers):
            raise ValueError("a question needs different answers and one reason for each")
        if not 0 <= self.right < len(self.answers):
            raise ValueError(f"right must name one of {len(self.answers)} answers")

    @property
    def order(self) -> list[int]:
        """The answers as they stand on the page: drawn by their words, so always the same."""

        def drawn(index: int) -> bytes:
            return _digest("\0".join((self.text, self.answers[index])))

        order = list(range(len(self.answers)))
        return order if self.scale else sorted(order, key=drawn)


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()


def begins_of(
    low: float, high: float, rights: Sequence[float], *, log: bool = False
) -> list[float]:
    """Return where the handles of one picture begin: at one end, unless no end is free of answers.

    Of two free ends the nearer one: else far from the handle would be a good guess.

    >>> begins_of(0, 1, [0.83, 0.56]), begins_of(0, 1, [0.99, 0.01])
    ([1, 1], [0, 1])
    """
    by = math.log if log else float
    shares = [(by(min(max(x, low), high)) - by(low)) / (by(high) - by(low)) for x in rights]
    free = {low: min(shares) >= NEAR_END, high: max(shares) <= 1 - NEAR_END}
    for end in (low, high) if sum(shares) < len(shares) / 2 else (high, low):
        if free[end]:
            return [end] * len(rights)
    return [high if share < 0.5 else low for share in shares]


def as_set(written: Callable[[float], str], answers: Collection[float]) -> Callable[[float], str]:
    """Return how a number is written that a hand may have set: to three digits, if it is no answer.

    >>> write = as_set("{:,.0f}".format, [84509, 35542897])
    >>> write(84509), write(6220007)
    ('84,509', '6,220,000')
    """
    return lambda number: written(number if number in answers else float(f"{number:.3g}"))


def _plainly(answer: Any) -> str:
    return answer if isinstance(answer, str) else languages.number(f"{answer:,}")


def _filled(text: str, values: Mapping[str, Any]) -> str:
    """A sentence of a document with its slots filled; what is filled already stays as it is."""
    return text.format(**values) if isinstance(text, Sentence) else text


def share_question(
    text: str, right: float, reasons: Sequence[str], written: Callable[[float], str]
) -> Question:
    """Return a question whose answers are shares: the right one, and two that are not near it.

    The guess is set on an axis, so that no form gives it away, and counts as the nearest answer.
    right: from 0 to 1. reasons: why it is right, why a larger share is too much, why a smaller one
    is too little. written: how a share is written.

    >>> share_question("How much?", 0.3, ("yes", "less", "more"), "{:.0%}".format).answers
    ['0%', '30%', '50%']
    """
    apart = [share for share in (0.0, 0.25, 0.5, 0.75, 1.0) if abs(share - right) >= APART]
    shares = sorted([right, *sorted(apart, key=lambda share: abs(share - right))[:2]])
    why, less, more = reasons
    return Question(
        text,
        [written(share) for share in shares],
        shares.index(right),
        [why if share == right else less if share > right else more for share in shares],
        scale=True,
        values=[(share,) for share in shares],
        write=written,
        share=True,
    )


def whole_percent(share: float) -> str:
    """Return a share in whole percent, as an answer of a question says it.

    >>> whole_percent(0.518).replace("\u00a0", " ")
    '52 %'
    """
    return languages.share(f"{100 * share:.0f}\u00a0%")
