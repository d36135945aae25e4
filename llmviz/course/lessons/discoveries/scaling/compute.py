"""Equal compute: which size has the lowest loss for the same cost, measured and by the law."""

from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go

from llmviz.course.figures.lines import Line, lines
from llmviz.course.lessons.discoveries.scaling import words
from llmviz.course.lessons.discoveries.scaling.laws import of_width
from llmviz.course.lessons.discoveries.scaling.scaling_fit import Law
from llmviz.course.lessons.discoveries.scaling.scaling_fits import ALL, Taken
from llmviz.course.lessons.discoveries.scaling.scaling_runs import SIZES
from llmviz.course.ui import kit

KEY = "discoveries.scaling.compute"
COSTS = (1e10, 3e10, 1e11, 3e11)


class Point(NamedTuple):
    """A size at a cost: its parameters, and its loss between two measured amounts of text."""

    parameters: int
    loss: float


@kit.kept(1)
def equal_compute() -> dict[float, list[Point]]:
    """Return for each cost the sizes whose amounts of text were measured on both sides."""
    found: dict[float, list[Point]] = {cost: [] for cost in COSTS}
    for size in SIZES:
        of_size = of_width(size.width)
        tokens = np.log([run.tokens for run in of_size])
        losses = np.log([run.loss for run in of_size])
        for cost, points in found.items():
            at = np.log(cost / 6 / of_size[0].parameters)
            if tokens[0] <= at <= tokens[-1]:
                loss = float(np.exp(np.interp(at, tokens, losses)))
                points.append(Point(of_size[0].parameters, loss))
    return found


def written(cost: float) -> str:
    """Return a cost in powers of ten.

    >>> written(3e10)
    '3·10¹⁰'
    """
    power = int(np.floor(np.log10(cost) + 1e-9))
    factor = round(cost / 10**power)
    return ("" if factor == 1 else f"{factor}·") + "10" + kit.raised(power)


def draw(taken: Taken, law: Law | None) -> None:
    """Show the curves of equal compute, and the best size of each."""
    kit.section(words.compute)
    kit.chart(figure(kit.theme()), f"{KEY}.chart", bar=False)
    counts_all = law is not None and taken.counted == ALL
    rows = []
    for cost, points in equal_compute().items():
        best = min(points, key=lambda point: point.loss)
        by_law = f"{law.best_size(cost):,.0f}" if law is not None and counts_all else "–"
        rows.append((written(cost), f"{best.parameters:,}", f"{best.loss:.3f}", by_law))
    kit.rows_table(rows, words.compute_columns)
    if law is not None and counts_all:
        kit.prose(words.compute_read.format(power=law.beta / (law.alpha + law.beta)))


@kit.kept(2)
def figure(mode: kit.Mode) -> go.Figure:
    """Return the loss by size, a line for each cost."""
    drawn = [
        Line(
            words.compute_line.format(cost=written(cost)),
            [point.parameters for point in points],
            [point.loss for point in points],
            number,
        )
        for number, (cost, points) in enumerate(equal_compute().items())
    ]
    chart = lines(
        drawn, (words.compute_axis, words.loss_axis), mode, logarithmic=(True, True), height=380
    )
    sizes = [2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5]
    chart.update_layout(
        xaxis={"dtick": None, "tickvals": sizes, "ticktext": [f"{size:,.0f}" for size in sizes]},
        yaxis={"dtick": None, "tickvals": [1, 2, 3, 4, 5, 6], "ticktext": list("123456")},
    )
    return chart
