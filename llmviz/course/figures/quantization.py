"""Figures of numbers of few bits: arrays and labels in, plotly figures out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from llmviz.course.figures import theme


@dataclass(frozen=True, eq=False)
class PowerBars:
    """One group of bars: its name, whole powers of two, a count for each, a role of the theme."""

    name: str
    powers: Sequence[int] | np.ndarray
    counts: Sequence[int] | np.ndarray
    role: str


def power_bars(
    groups: Sequence[PowerBars],
    axes: tuple[str, str],
    mode: theme.Mode = "light",
    *,
    between: tuple[int, int] | None = None,
) -> go.Figure:
    """Return bars over powers of two, with a logarithmic height; each group is in the legend.

    between: the first and the last power of the axis, if it is to stay as it is from one figure to
    the next.
    """
    traces = [
        {
            "type": "bar",
            "x": [int(power) for power in group.powers],
            "y": [int(count) for count in group.counts],
            "name": group.name,
            "marker": {"color": theme.role_color(group.role, mode)},
            "hovertemplate": "from 2<sup>%{x}</sup>: %{y:,}",
        }
        for group in groups
    ]
    layout = theme.chart_layout(
        axes,
        mode,
        height=300,
        bargap=0.12,
        barmode="overlay",
        hovermode="x",
        margin={"l": 56, "r": 16, "t": 40, "b": 48},
        showlegend=True,
    )
    if between is not None:
        layout["xaxis"] |= {"range": [between[0] - 0.5, between[1] + 0.5]}
    layout["yaxis"] |= {"type": "log", "dtick": 1}
    return go.Figure(traces, layout)


Numbers = Sequence[float] | Sequence[float | None] | np.ndarray
ABOVE, BELOW = 1.0, 0.0
MANY_VALUES = 64  # of a grid, above which its lines are thin


def rounding_line(
    weights: np.ndarray,
    rounded: np.ndarray,
    grid: np.ndarray,
    marked: int,
    names: tuple[str, str, str],
    axis: str,
    rows: tuple[str, str],
    mode: theme.Mode = "light",
) -> go.Figure:
    """Return weights (N,) above the values of their grid (K,), a line from each to its own.

    rounded (N,): the value that each gets. marked: the weight that stands out. names: of the
    weights, the grid and that one. rows: what stands below and above.
    """
    ink = theme.INK[mode]
    links_x = [x for pair in zip(rounded, weights, strict=True) for x in (*pair, None)]
    links_y = [BELOW, ABOVE, None] * len(weights)
    plain = np.delete(weights, marked)
    mark = {"size": 7, "color": theme.role_color("weights", mode), "opacity": 0.75}
    thin = len(grid) > MANY_VALUES
    line = {"width": 0.7 if thin else 1.6, "color": ink["muted"]}
    ticks = {"size": 15, "symbol": "line-ns", "line": line}
    traces = [
        _points(links_x, links_y, "", mode="lines", line={"width": 0.8, "color": ink["line"]})
        | {"showlegend": False, "hoverinfo": "skip"},
        _points(grid, [BELOW] * len(grid), names[1], marker=ticks),
        _points(plain, [ABOVE] * len(plain), names[0], marker=mark),
        _points(
            weights[marked : marked + 1],
            [ABOVE],
            names[2],
            marker={"size": 11, "symbol": "diamond", "color": theme.role_color("key", mode)},
        ),
    ]
    layout = theme.bare_layout(
        mode,
        height=230,
        margin={"l": 8, "r": 12, "t": 40, "b": 44},
        legend=theme.LEGEND_ABOVE | {"y": 1.02},
        showlegend=True,
    )
    layout["xaxis"] |= {"title": {"text": axis, "standoff": 8}}
    layout["yaxis"] |= {
        "range": [-0.35, 1.35],
        "tickvals": [BELOW, ABOVE],
        "ticktext": list(rows),
        "showgrid": False,
        "zeroline": False,
    }
    return go.Figure(traces, layout)


def _points(x: Numbers, y: Numbers, name: str, **more: Any) -> dict[str, Any]:
    values = [None if value is None else float(value) for value in x]
    trace = {"type": "scatter", "mode": "markers", "x": values, "y": list(y), "name": name}
    return trace | {"hovertemplate": "%{x:.4f}"} | more


def error_bars(
    labels: Sequence[str],
    errors: tuple[Sequence[float], Sequence[float]],
    names: tuple[str, str],
    axis: str,
    mode: theme.Mode = "light",
) -> go.Figure:
    """Return two shares for each label as bars below each other, the first label on top."""
    brown, blue = theme.POLES[mode]["neutral"]
    traces = [
        {
            "type": "bar",
            "orientation": "h",
            "x": [float(value) for value in values],
            "y": list(labels),
            "name": name,
            "marker": {"color": colour, "line": {"width": 0}},
            "hovertemplate": "%{x:.2%}",
        }
        for values, name, colour in zip(errors, names, (brown, blue), strict=True)
    ]
    layout = theme.bare_layout(
        mode,
        height=90 + 34 * len(labels),
        barmode="group",
        bargap=0.35,
        bargroupgap=0.08,
        margin={"l": 8, "r": 16, "t": 40, "b": 44},
        legend=theme.LEGEND_ABOVE | {"traceorder": "normal"},
        showlegend=True,
        hovermode="y unified",
    )
    layout["xaxis"] |= {"title": {"text": axis, "standoff": 8}, "tickformat": "~%"}
    layout["yaxis"] |= {"autorange": "reversed", "ticks": "", "showgrid": False}
    return go.Figure(traces, layout)
