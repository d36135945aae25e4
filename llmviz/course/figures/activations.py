"""Figures of units and their activation functions: arrays and names in, Plotly figures out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from llmviz.course.figures.bars import named_bars
from llmviz.course.figures.theme import INK, LEGEND_ABOVE, POLES, Mode, bare_layout, role_color


def signed_bars(
    names: Sequence[str], values: Sequence[float], axis: str, mode: Mode = "light"
) -> go.Figure:
    """Return bars below each other, to the right where a value is above 0, else to the left.

    names and values: (N,) each; equal names stand for different bars all the same.
    """
    negative, positive = POLES[mode]["value"]
    most = 1.25 * max((abs(float(value)) for value in values), default=1.0) or 1.0
    return named_bars(
        names,
        [float(value) for value in values],
        [f"{value:+.2f}".replace("-", "−") for value in values],
        [positive if value > 0 else negative for value in values],
        {"title": {"text": axis, "standoff": 8}, "range": [-most, most]},
        mode,
        room=40,
    )


BARS = 60


def curve_on_values(
    x: np.ndarray,
    lines: Sequence[np.ndarray],
    names: Sequence[str],
    values: np.ndarray,
    bar: str,
    axis: str,
    mode: Mode = "light",
) -> go.Figure:
    """Return curves over x (N,), and behind them how many of some values lie where.

    lines: each (N,): the function in green, its derivative in orange, all others in grey. values
    (M,): those outside the range of x are counted in the outermost bars. bar: what a bar counts.
    """
    low, high = float(x[0]), float(x[-1])
    counts, edges = np.histogram(np.clip(values, low, high), BARS, (low, high))
    middles = (edges[:-1] + edges[1:]) / 2
    bars = {
        "type": "bar",
        "x": middles.tolist(),
        "y": counts.tolist(),
        "yaxis": "y2",
        "name": bar,
        "marker": {"color": INK[mode]["line"], "line": {"width": 0}},
        "hovertemplate": "%{y:,}",
    }
    roles = ["value", "key", *["residual"] * len(lines)][: len(lines)]
    drawn = [
        {
            "type": "scatter",
            "x": x.tolist(),
            "y": line.tolist(),
            "name": name,
            "mode": "lines",
            "line": {"color": role_color(role, mode), "width": 2.5 if role == "value" else 1.8},
            "hovertemplate": "%{y:.3f}",
        }
        for line, name, role in zip(lines, names, roles, strict=True)
    ]
    layout = bare_layout(
        mode,
        height=360,
        bargap=0.06,
        hovermode="x unified",
        margin={"l": 44, "r": 44, "t": 44, "b": 44},
        legend=LEGEND_ABOVE,
    )
    ink = INK[mode]["muted"]
    layout["xaxis"] |= {"title": {"text": axis, "standoff": 8}, "hoverformat": ".2f"}
    layout["yaxis"] |= {"overlaying": "y2", "tickmode": "auto"}
    layout["yaxis2"] = {
        "side": "right",
        "showgrid": False,
        "zeroline": False,
        "range": [0, 2.2 * max(1, int(counts.max()))],  # the bars keep to the lower half
        "title": {"text": bar, "font": {"color": ink}},
        "tickfont": {"color": ink},
        "automargin": True,
    }
    return go.Figure([bars, *drawn], layout)
