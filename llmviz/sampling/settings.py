"""The settings of the sampling pipeline, checked, and the run through its steps."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property

import numpy as np

from llmviz.sampling.kinds import STEPS, StepKind, full_order, kind_of, usual_order

# "id": the strip lists tokens by id. "probability": the most probable first, ties by lowest id.
STRIPS = ("id", "probability")


@dataclass(frozen=True)
class SamplingSettings:
    """The controls of the pipeline, checked when made.

    `order` names every step of `kinds.STEPS` in the order they run (see `full_order`; empty for the
    usual one); a step whose setting changes nothing is passed over. `strip` is the order in which
    tokens lie on the cumulative strip. `more` are the settings of steps that have no field here.

    Raises: ValueError naming the rule and the value.
    """

    temperature: float = 1.0
    top_k: int | None = None
    top_p: float | None = None
    min_p: float | None = None
    repetition_penalty: float = 1.0
    banned: tuple[int, ...] = ()
    order: tuple[str, ...] = ()
    strip: str = "id"
    more: Mapping[str, object] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "banned", tuple(self.banned or ()))
        object.__setattr__(self, "order", full_order(self.order or usual_order()))
        unknown = [name for name in self.more if name not in self.order]
        if unknown:
            raise ValueError(
                f"there is no step {unknown[0]!r}; the steps are {', '.join(self.order)}"
            )
        for kind in STEPS:
            value = self.value(kind.name)
            if not (kind.none and value is None):
                kind.check(value)
        if self.strip not in STRIPS:
            raise ValueError(f"strip must be one of {', '.join(STRIPS)}; got {self.strip!r}")

    def value(self, name: str) -> object:
        """Return the setting of the named step."""
        kind = kind_of(name)
        return getattr(self, name) if name in FIELDS else self.more.get(name, kind.neutral)

    def active(self, name: str) -> bool:
        """Return whether the named step changes anything with these settings."""
        return kind_of(name).changes_something(self.value(name))

    @cached_property
    def _running(self) -> tuple[StepKind, ...]:
        """The steps that change something; asked for every token that is drawn."""
        return tuple(kind_of(name) for name in self.order if self.active(name))

    @property
    def reads_previous(self) -> bool:
        """Whether a step that changes something looks at the tokens before."""
        return any(kind.reads_previous for kind in self._running)

    def run(
        self, logits: np.ndarray, previous: Iterable[int] | None = None
    ) -> list[tuple[str, np.ndarray]]:
        """Return (name, logits after it) of every active step on checked logits (V,).

        Raises: ValueError when a step leaves no token, naming it and those before it.
        """
        done: list[tuple[str, np.ndarray]] = []
        for kind in self._running:
            name = kind.name
            logits = kind.apply(logits, self.value(name), previous)
            if name == "banned" and logits.max() == -math.inf:
                before = [f"{n} = {self.value(n)}" for n, _ in done] or ["the model"]
                raise ValueError(
                    f"no token is left to draw: {', then '.join(before)} left only tokens that "
                    "are banned; allow one of them or loosen the cut"
                )
            done.append((name, logits))
        return done


FIELDS = frozenset(part.name for part in fields(SamplingSettings)) - {"order", "strip", "more"}
