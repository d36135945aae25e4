"""One weight of the small network: nudged, and measured without any derivative."""

from typing import Any

import numpy as np
import streamlit as st

from llmviz.course.figures.gradients import differences
from llmviz.course.lessons.training.backprop import nudging, words
from llmviz.course.lessons.training.backprop.model import example_losses, slope_errors
from llmviz.course.lessons.training.backprop.nudging import exact
from llmviz.course.lessons.training.backprop.params import NUDGE_MATRICES
from llmviz.course.ui import kit

KEY = "training.nudge"
REACH = 2.0


def draw(state: kit.PageState) -> str:
    """Show the part; return what was seen of it."""
    from llmviz.training.backprop import TARGET, autograd, backward, example, forward, loss_with

    kit.section(words.nudge_section)
    given = example()
    name, row, column = _choose(state, given)
    weight = float(given[name][row, column])
    hand = float(backward(forward(given, TARGET))[name][row, column])
    auto = float(autograd(given, TARGET)[name][row, column])
    weights = nudging.values(weight, REACH)
    losses = _losses(name, row, column, weight)
    nudging.draw(state, "moved", KEY, weights, losses, hand)
    true = loss_with(given, TARGET, name, row, column, weight + 0.01) - float(
        losses[nudging.MIDDLE]
    )
    _measure(name, row, column, hand, auto)
    _code(name, row, column, hand)
    line = words.end_nudge.format(
        name=name, row=row, column=column, slope=exact(hand), true=exact(true)
    )
    return line


def _choose(state: kit.PageState, given: dict[str, Any]) -> tuple[str, int, int]:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        st.selectbox(words.matrix, NUDGE_MATRICES, width=130, **state.bind("wmat"))
        rows, columns = given[state["wmat"]].shape
        row, column = kit.keep(state, "wrow", range(rows)), kit.keep(state, "wcol", range(columns))
        st.selectbox(words.row, range(rows), width=110, **state.bind("wrow"))
        st.selectbox(words.column, range(columns), width=110, **state.bind("wcol"))
    return state["wmat"], row, column


@kit.kept(64)
def _losses(name: str, row: int, column: int, weight: float) -> np.ndarray:
    """The loss at every stop of the slider."""
    return example_losses(name, row, column, nudging.values(weight, REACH))


@kit.kept(64)
def _slope_errors(
    name: str, row: int, column: int, hand: float
) -> tuple[list[float], dict[str, list[float]]]:
    from llmviz.training.backprop import example

    return slope_errors(example(), name, row, column, hand)


@kit.kept(64)
def check_figure(
    steps: tuple[float, ...], named: tuple[tuple[str, tuple[float, ...]], ...], mode: kit.Mode
) -> kit.Figure:
    """Return how far measured slopes are from the exact one, a line for each precision."""
    return differences(steps, dict(named), words.check_axes, mode)


def _measure(name: str, row: int, column: int, hand: float, auto: float) -> None:
    kit.section(words.check)
    steps, errors = _slope_errors(name, row, column, hand)
    named = tuple((words.check_names[kind], tuple(values)) for kind, values in errors.items())
    st.plotly_chart(check_figure(tuple(steps), named, kit.theme()), key=f"{KEY}.check")
    best = int(np.argmin(errors["double"]))
    text = words.check_line.format(
        hand=exact(hand),
        auto=exact(auto),
        eps=f"{steps[best]:.0e}",
        off=f"{errors['double'][best]:.1e}",
    )
    zeros = sum(value == 0 for values in errors.values() for value in values)
    kit.prose(text + (" " + words.check_zero.format(count=zeros) if zeros else ""))


def _code(name: str, row: int, column: int, hand: float) -> None:
    from llmviz.training.backprop import TARGET, central_difference, example, loss_with

    given = example()

    def loss(value: float) -> float:
        return loss_with(given, TARGET, name, row, column, value)

    slope = central_difference(loss, float(given[name][row, column]), 1e-5)
    kit.show_code(
        [loss_with, central_difference],
        words.snippet_nudge.format(name=name, row=row, column=column),
        f"{hand:.6f} {slope:.6f}",
    )
