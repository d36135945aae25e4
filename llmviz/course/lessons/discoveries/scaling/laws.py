"""The runs as a chart, and the law of the runs that are taken."""

from contextlib import suppress

import numpy as np
import plotly.graph_objects as go

from llmviz.course.figures.lines import Line, lines
from llmviz.course.lessons.discoveries.scaling import words
from llmviz.course.lessons.discoveries.scaling.scaling_fit import (
    Fitted,
    Law,
    Taken,
    check,
    fit_from,
    start_of,
)
from llmviz.course.lessons.discoveries.scaling.scaling_fit import recorded as fits
from llmviz.course.lessons.discoveries.scaling.scaling_runs import AMOUNTS, SIZES, ScalingRun
from llmviz.course.lessons.discoveries.scaling.scaling_runs import recorded as runs
from llmviz.course.ui import kit

SOME_STARTS = [(5.0, 5.0, power, power, 0.0) for power in (0.3, 0.6)]


def taken_of(state: kit.PageState) -> Taken:
    """Return which runs the controls take."""
    return Taken(state["counted"], state["smallest"], state["shortest"])


def fit_of(taken: Taken) -> Fitted:
    """Return the law of the runs that are taken.

    Raises ValueError where they are too few, of too few sizes or of too few amounts.
    """
    check(*taken.numbers(runs()[1]))
    return fits()[taken.name]


def of_width(width: int) -> list[ScalingRun]:
    """Return the runs of one size, by amount of text."""
    every = [run for run in runs()[1] if run.width == width]
    return sorted(every, key=lambda run: run.tokens)


def sizes() -> list[int]:
    return [of_width(size.width)[0].parameters for size in SIZES]


@kit.cached(32)
def law_with_floor(taken: Taken, floor: float) -> Law:
    """Return the best law whose E is given."""
    numbers = taken.numbers(runs()[1])
    starts = [start_of(fit_of(taken).law), *SOME_STARTS]
    return min((fit_from(start, *numbers, floor) for start in starts), key=lambda law: law.left)


@kit.cached(1)
def without_largest() -> Law:
    """Return the best law of all runs but those of the largest model."""
    taken, largest = Taken(), SIZES[-1].width
    numbers = taken.numbers([run for run in runs()[1] if run.width != largest])
    starts = [start_of(fit_of(taken).law), *SOME_STARTS]
    return min((fit_from(start, *numbers) for start in starts), key=lambda law: law.left)


def longest() -> list[ScalingRun]:
    """Return the run of each size on the longest text, the smallest first."""
    return [of_width(size.width)[-1] for size in SIZES]


def misses(law: Law, taken: Taken) -> np.ndarray:
    """Return by which share the law misses each run that is taken (R,)."""
    n, d, losses = taken.numbers(runs()[1])
    return np.abs(law.loss(n, d) / losses - 1)


@kit.cached(2)
def runs_figure(mode: kit.Mode) -> go.Figure:
    """Return the loss of all runs by tokens, a line for each size."""
    return _figure(mode, None, None)


@kit.cached(32)
def law_figure(taken: Taken | None, own: ScalingRun | None, mode: kit.Mode) -> go.Figure:
    """Return the runs that are taken, their law as dotted lines, and a run of the learner's.

    taken: None draws all runs and no law.
    """
    law = None
    if taken is not None:
        with suppress(ValueError):
            law = fit_of(taken).law
    return _figure(mode, taken, law, own)


def _figure(
    mode: kit.Mode, taken: Taken | None, law: Law | None, own: ScalingRun | None = None
) -> go.Figure:
    drawn = []
    for number, size in enumerate(SIZES):
        of_size = of_width(size.width)
        if taken is not None:
            of_size = taken.of(of_size)
        if not of_size:
            continue
        tokens = [run.tokens for run in of_size]
        name = words.size_line.format(count=of_size[0].parameters)
        drawn.append(Line(name, tokens, [run.loss for run in of_size], number))
    figure = lines(
        drawn, (words.tokens_axis, words.loss_axis), mode, logarithmic=(True, True), height=440
    )
    if law is not None and taken is not None:
        for line, size in zip(drawn, SIZES[taken.smallest :], strict=True):
            said = law.loss(getattr(of_width(size.width)[0], taken.counted), np.asarray(line.x))
            colour = kit.category_style(line.colour, mode)[0]
            figure.add_scatter(
                x=list(line.x),
                y=said.tolist(),
                mode="lines",
                line={"color": colour, "width": 1.2, "dash": "dot"},
                hoverinfo="skip",
                showlegend=False,
            )
    if own is not None:
        figure.add_scatter(
            x=[own.tokens],
            y=[own.loss],
            mode="markers",
            name=words.own_point,
            marker={"symbol": "star", "size": 15, "color": kit.category_style(4, mode)[0]},
        )
    figure.update_layout(
        xaxis={"dtick": None, "tickvals": [1e5, 3e5, 1e6], "ticktext": ["10⁵", "3·10⁵", "10⁶"]},
        yaxis={"dtick": None, "tickvals": [1, 2, 3, 4, 5, 6], "ticktext": list("123456")},
    )
    return figure


def least_text() -> dict[int, str]:
    """Return the amounts of text to choose from, by place."""
    return {place: f"{amount:,}" for place, amount in enumerate(AMOUNTS)}
