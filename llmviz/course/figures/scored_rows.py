"""Scores and shares from 0 to 1 for each name, as marks in one row: dot plots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from llmviz.course.figures import theme
from llmviz.course.figures.adapters import HEIGHT


def planted_and_said(
    groups: Sequence[tuple[str, str, Sequence[str], Sequence[float], Sequence[float]]],
    axes: tuple[str, str],
    equal: str,
    mode: theme.Mode = "light",
) -> go.Figure:
    """Return dots over two shares, with a line where both are equal.

    groups: name, role, names of the dots, and both shares of each.
    """
    traces = [
        {
            "type": "scatter",
            "x": [0, 1],
            "y": [0, 1],
            "name": equal,
            "mode": "lines",
            "line": {"color": theme.INK[mode]["muted"], "width": 1, "dash": "dot"},
            "hoverinfo": "skip",
        }
    ]
    for at, (name, role, names, planted, said) in enumerate(groups):
        traces.append(
            {
                "type": "scatter",
                "x": list(planted),
                "y": list(said),
                "customdata": list(names),
                "name": name,
                "mode": "markers",
                "marker": {
                    "color": theme.role_color(role, mode),
                    "size": 10,
                    "line": {"width": 2},
                    "symbol": ("circle", "diamond-open")[at % 2],
                },
                "hovertemplate": "%{customdata}: %{x:.1%} → %{y:.1%}<extra></extra>",
            }
        )
    layout = theme.chart_layout(
        axes,
        mode,
        height=HEIGHT + 140,
        margin={"l": 56, "r": 16, "t": 40, "b": 44},
        showlegend=True,
    )
    for axis in ("xaxis", "yaxis"):
        layout[axis] |= {"range": [-0.03, 1.03], "tickformat": "~%"}
    return go.Figure(traces, layout)


def scored_rows(
    names: Sequence[str],
    scores: Mapping[str, Sequence[float]],
    axis: str,
    mode: theme.Mode = "light",
) -> go.Figure:
    """Return one row for each name (N,), and in it a mark for each of some kinds of score.

    scores: the numbers (N,) of a kind by its name in the legend. axis: what the numbers are.
    """
    rows = list(range(len(names)))
    traces = []
    for number, (kind, values) in enumerate(scores.items()):
        colour, shape = theme.category_style(number, mode)
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": kind,
                "x": [float(value) for value in values],
                "y": rows,
                "customdata": list(names),
                "marker": {
                    "color": colour,
                    "size": 10,
                    "symbol": theme.PLOTLY_SHAPES.get(shape, shape),
                },
                "hovertemplate": "%{customdata}: %{x:.2f}",
            }
        )
    layout = theme.bare_layout(
        mode,
        height=110 + 24 * len(rows),
        margin={"l": 8, "r": 16, "t": 48, "b": 44},
        legend=theme.LEGEND_ABOVE | {"y": 1.0},
    )
    layout["xaxis"] |= {"title": {"text": axis, "standoff": 8}, "range": [-0.02, 1.04]}
    layout["yaxis"] |= {
        "range": [len(rows) - 0.4, -0.6],
        "tickvals": rows,
        "ticktext": list(names),
        "ticks": "",
        "zeroline": False,
        "showgrid": True,
    }
    return go.Figure(traces, layout)
