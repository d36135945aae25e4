"""The list of steps between logits and a token: another step is another entry here.

All that is known of a step stands in its entry: what it computes, its setting, and what the lesson
shows of it. The pipeline, the lesson and its links read this list.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from llmviz.sampling import steps as pure


@dataclass(frozen=True)
class StepKind:
    """One step of the pipeline.

    name: of its setting, as `sampling_steps` takes it. function: of logits (V,) and the setting,
    and of the earlier token ids where it `reads_previous`. neutral: the value that changes
    nothing, one that its link and its slider can hold; `none` says whether None changes nothing
    either. check: raises ValueError for a value out of range.

    title, hint: its name and what it does, in a sentence. control: its name in a link. low, high:
    the least and the largest value in a link. stops: of its slider; without any it has none.
    whole: its setting is a number of tokens. in_old_links: links have always named it in their
    order of steps; any other step that a link leaves out takes its usual place.
    """

    name: str
    function: Callable[..., np.ndarray]
    neutral: Any
    check: Callable[[Any], object]
    title: str
    hint: str
    control: str
    low: float
    high: float
    stops: Sequence[float] = ()
    none: bool = False
    whole: bool = False
    reads_previous: bool = False
    in_old_links: bool = False

    def __post_init__(self) -> None:
        held = (self.neutral,) if isinstance(self.neutral, int | float) else ()
        if self.neutral is None and not self.whole:
            raise ValueError(f"only the setting of a `whole` step may be None; {self.name} is none")
        for value in (*held, *self.stops):
            if not self.low <= value <= self.high < math.inf:
                raise ValueError(
                    f"{self.name} must have its neutral value and its stops from low={self.low} to "
                    f"high={self.high}, and all finite; got {value}"
                )

    def changes_something(self, value: Any) -> bool:
        """Whether the step does anything with this value of its setting."""
        if self.none and value is None:
            return False
        return value != self.neutral

    def apply(self, logits: np.ndarray, value: Any, previous: Iterable[int] | None) -> np.ndarray:
        """Return the logits (V,) after the step; `previous` are the ids before the token."""
        if self.reads_previous:
            return self.function(logits, previous, value)
        return self.function(logits, value)

    def text_of(self, value: Any) -> str:
        """Return a value of the setting as its slider shows it."""
        if value is None:
            return "all"
        return f"{value:,}" if self.whole else f"{value:g}"


# In their usual order, that of Hugging Face's `generate`: penalties act on the model's own logits,
# cuts come last.
STEPS = [
    StepKind(
        "banned",
        pure.ban,
        neutral=(),
        check=tuple,
        title="forbidden",
        hint="Tokens that you clicked are cut.",
        control="ban",
        low=0,
        high=1_000_000,
        none=True,
        in_old_links=True,
    ),
    StepKind(
        "repetition_penalty",
        pure.penalise_repetition,
        neutral=1.0,
        check=pure.check_penalty,
        title="repetition",
        hint="Tokens that the prompt holds: positive logit ÷, negative × this.",
        control="repeat",
        low=0.1,
        high=10.0,
        stops=(0.5, 0.7, 0.8, 0.9, *(round(1 + 0.1 * i, 1) for i in range(0, 11)), 3.0),
        reads_previous=True,
        in_old_links=True,
    ),
    StepKind(
        "temperature",
        pure.apply_temperature,
        neutral=1.0,
        check=pure.check_temperature,
        title="temperature",
        hint="Logits are divided by this; 0 keeps the largest alone.",
        control="temperature",
        low=0.0,
        high=100.0,
        stops=(
            *(round(0.1 * i, 1) for i in range(0, 21)),
            *(2.25, 2.5, 2.75, 3.0, 4.0, 5.0, 10.0, 100.0),
        ),
        in_old_links=True,
    ),
    StepKind(
        "top_k",
        pure.keep_top_k,
        neutral=None,
        check=pure.check_top_k,
        title="top-k",
        hint="Exactly the k most probable tokens stay.",
        control="k",
        low=1,
        high=1_000_000,
        stops=(
            *range(1, 11),
            *(12, 15, 20, 25, 30, 40, 50, 75, 100, 150, 200, 300, 500, 1000, 2000),
        ),
        none=True,
        whole=True,
        in_old_links=True,
    ),
    StepKind(
        "top_p",
        pure.keep_top_p,
        neutral=1.0,
        check=pure.check_top_p,
        title="top-p",
        hint="The smallest set of most probable tokens that reaches p stays.",
        control="p",
        low=0.0,
        high=1.0,
        stops=(
            0.05,
            *(round(0.1 * i, 1) for i in range(1, 9)),
            *(0.85, 0.9, 0.92, 0.95, 0.98, 0.99, 1.0),
        ),
        none=True,
        in_old_links=True,
    ),
    StepKind(
        "min_p",
        pure.keep_min_p,
        neutral=0.0,
        check=pure.check_min_p,
        title="min-p",
        hint="Tokens with less than this share of the largest probability are cut.",
        control="minp",
        low=0.0,
        high=1.0,
        stops=(0.0, 0.001, 0.005, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1.0),
        none=True,
        in_old_links=True,
    ),
]


def usual_order() -> tuple[str, ...]:
    """Return the names of all steps in their usual order."""
    return tuple(kind.name for kind in STEPS)


def kind_of(name: str) -> StepKind:
    """Return the entry of a step. Raises ValueError naming those that there are."""
    for kind in STEPS:
        if kind.name == name:
            return kind
    raise ValueError(f"step must be one of {', '.join(usual_order())}; got {name!r}")


def full_order(order: Iterable[str]) -> tuple[str, ...]:
    """Return the order with the steps that may be left out put where they usually are.

    "banned" may be, and any step that links have not always named: it then follows the step that
    it usually follows.

    >>> full_order(("top_k", "top_p", "min_p", "repetition_penalty", "temperature"))[:2]
    ('banned', 'top_k')

    Raises: ValueError when another step is missing, or one is unknown or named twice.
    """
    names, usual = list(order), usual_order()
    for at, kind in enumerate(STEPS):
        if kind.name not in names and (kind.name == "banned" or not kind.in_old_links):
            before = next((name for name in reversed(usual[:at]) if name in names), None)
            names.insert(0 if before is None else names.index(before) + 1, kind.name)
    if sorted(names) != sorted(usual):
        raise ValueError(f"order must name each of {', '.join(usual)} once; got {', '.join(names)}")
    return tuple(names)
