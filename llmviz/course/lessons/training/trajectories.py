"""A computed descent as its view is sent it, and the view's settings in the link.

L learning rates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from llmviz.course.components.descent_view.view import DescentState, Row, Walker, settled
from llmviz.course.lessons.training.optimizers import words
from llmviz.course.ui import kit

if TYPE_CHECKING:
    from torch import Tensor

    from llmviz.training.descent import Descent
    from llmviz.training.optimizers import Hyper

ROLES = {
    "sgd": "residual",
    "momentum": "query",
    "nesterov": "ink",
    "adagrad": "key",
    "rmsprop": "value",
    "adam": "weights",
    "adamw": "accent",
}
SETTLED = 0.01  # share of the way down that may be left


@dataclass(frozen=True)
class Rates:
    """`count` learning rates from `low` to `high`, each larger than the last by one factor."""

    low: float
    high: float
    count: int

    def values(self) -> Tensor:
        """The rates (L,)."""
        from llmviz.training.descent import rates_between

        return rates_between(self.low, self.high, self.count)


def walker(
    descent: Descent,
    hyper: Hyper,
    floor: float,
    label: str = "",
    role: str = "",
    when: np.ndarray | None = None,
) -> Walker:
    """Return an optimizer's ways as the view takes them, with the arithmetic of its numbers."""
    name = descent.optimizer
    arithmetic = words.arithmetic[name]
    rows = [Row(key, words.value_names[key], arithmetic.get(key, "")) for key in descent.values]
    return Walker(
        name,
        label or words.names[name],
        role or ROLES[name],
        descent.path.numpy(),
        descent.losses.numpy(),
        descent.lasted.numpy(),
        descent.settled(floor, SETTLED).numpy(),
        descent.best(),
        {key: values.numpy() for key, values in descent.values.items()},
        rows,
        {
            "momentum": hyper.momentum,
            "beta1": hyper.beta1,
            "beta2": hyper.beta2,
            "rest1": 1 - hyper.beta1,
            "rest2": 1 - hyper.beta2,
            "lambda": hyper.weight_decay,
        },
        when,
    )


def state_of(state: kit.PageState, name: str, walkers: int, rates: int, steps: int) -> DescentState:
    """Return where a view stands, as far as it fits what is shown now."""
    stops = [min(stop, rates - 1) for stop in state[f"{name}_lr"]]
    if len(stops) != walkers:
        stops = [stops[0] if stops else rates // 2] * walkers
    step = state[f"{name}_at"]
    last = steps if step < 0 else min(step, steps)
    return DescentState(last, tuple(stops), min(state[f"{name}_who"], walkers - 1))


def keep_in_link(state: kit.PageState, name: str, key: str, walkers: int, rates: int, steps: int):
    """Return the callback that puts what was settled on into the page's state."""

    def changed() -> None:
        settled_state = settled(st.session_state[key], walkers, rates, steps)
        if settled_state is None:
            return
        stops = list(settled_state.stops)
        state[f"{name}_lr"] = stops[:1] if len(set(stops)) == 1 else stops
        state[f"{name}_at"] = -1 if settled_state.step == steps else settled_state.step
        state[f"{name}_who"] = settled_state.followed

    return changed
