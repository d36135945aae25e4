"""The controls of the sampling pipeline and the order in which its steps run."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from llmviz.sampling import steps as pure

# The order of Hugging Face's `generate`: penalties act on the model's own logits, cuts come last.
ORDER = ("banned", "repetition_penalty", "temperature", "top_k", "top_p", "min_p")
# "id": the strip lists tokens by id. "probability": the most probable first, ties by lowest id.
STRIPS = ("id", "probability")


@dataclass(frozen=True)
class SamplingSettings:
    """The controls of the pipeline, checked when made.

    `order` names every step of `ORDER` in the order they run ("banned" may be left out and then
    comes first); a step whose setting changes nothing is passed over. `strip` is the order in
    which tokens lie on the cumulative strip.

    Raises: ValueError naming the rule and the value.
    """

    temperature: float = 1.0
    top_k: int | None = None
    top_p: float | None = None
    min_p: float | None = None
    repetition_penalty: float = 1.0
    banned: tuple[int, ...] = ()
    order: tuple[str, ...] = ORDER
    strip: str = "id"

    def __post_init__(self) -> None:
        pure.check_temperature(self.temperature)
        if self.top_k is not None:
            pure.check_top_k(self.top_k)
        if self.top_p is not None:
            pure.check_top_p(self.top_p)
        if self.min_p is not None:
            pure.check_min_p(self.min_p)
        pure.check_penalty(self.repetition_penalty)
        object.__setattr__(self, "banned", tuple(self.banned or ()))
        object.__setattr__(self, "order", full_order(self.order))
        if self.strip not in STRIPS:
            raise ValueError(f"strip must be one of {', '.join(STRIPS)}; got {self.strip!r}")

    def value(self, name: str) -> object:
        """Return the setting of the named step."""
        return getattr(self, name)

    def active(self, name: str) -> bool:
        """Return whether the named step changes anything with these settings."""
        value = self.value(name)
        if name in ("temperature", "repetition_penalty", "top_p"):
            return value is not None and value != 1
        return bool(value)

    def step(self, name: str, previous: Iterable[int] | None) -> Callable[..., np.ndarray]:
        """Return the named step as a function of logits alone."""
        value = self.value(name)
        if name == "repetition_penalty":
            return lambda logits: pure.penalise_repetition(logits, previous, value)
        return lambda logits: FUNCTIONS[name](logits, value)

    def run(
        self, logits: np.ndarray, previous: Iterable[int] | None = None
    ) -> list[tuple[str, np.ndarray]]:
        """Return (name, logits after it) of every active step on checked logits (V,).

        Raises: ValueError when a step leaves no token, naming it and those before it.
        """
        done: list[tuple[str, np.ndarray]] = []
        for name in self.order:
            if not self.active(name):
                continue
            logits = self.step(name, previous)(logits)
            if name == "banned" and logits.max() == -math.inf:
                before = [f"{n} = {self.value(n)}" for n, _ in done] or ["the model"]
                raise ValueError(
                    f"no token is left to draw: {', then '.join(before)} left only tokens that "
                    "are banned; allow one of them or loosen the cut"
                )
            done.append((name, logits))
        return done


FUNCTIONS: dict[str, Callable[..., np.ndarray]] = {
    "banned": pure.ban,
    "repetition_penalty": pure.penalise_repetition,
    "temperature": pure.apply_temperature,
    "top_k": pure.keep_top_k,
    "top_p": pure.keep_top_p,
    "min_p": pure.keep_min_p,
}


def full_order(order: Iterable[str]) -> tuple[str, ...]:
    """Return the order with "banned" put first when left out.

    >>> full_order(("top_k", "top_p", "min_p", "repetition_penalty", "temperature"))[:2]
    ('banned', 'top_k')

    Raises: ValueError when another step is missing, unknown or named twice.
    """
    names = tuple(order)
    if "banned" not in names:
        names = ("banned", *names)
    if sorted(names) != sorted(ORDER):
        raise ValueError(
            f"order must name each of {', '.join(ORDER)} once; got {', '.join(map(str, order))}"
        )
    return names
