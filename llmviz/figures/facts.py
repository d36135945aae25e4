"""Figures of what a model says about facts, by how often it read them."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from llmviz.figures.adapters import HEIGHT
from llmviz.figures.theme import INK, LEGEND_ABOVE, Mode, bare_layout, role_color


def by_times(
    times: Sequence[int],
    measured: Sequence[tuple[str, str, Sequence[Sequence[float]]]],
    axes: tuple[str, str],
    mode: Mode = "light",
) -> go.Figure:
    """Return lines over how often a fact was read, with the range of several worlds at each point.

    measured: for each line its name, its role, and a row of shares for each world.
    """
    traces = []
    for name, role, worlds in measured:
        columns = list(zip(*worlds, strict=True))
        means = [sum(column) / len(column) for column in columns]
        traces.append(
            {
                "type": "scatter",
                "x": [str(count) for count in times],
                "y": means,
                "name": name,
                "mode": "lines+markers",
                "line": {"color": role_color(role, mode), "width": 2.2},
                "marker": {"size": 7},
                "error_y": {
                    "type": "data",
                    "symmetric": False,
                    "array": [max(column) - sum(column) / len(column) for column in columns],
                    "arrayminus": [sum(column) / len(column) - min(column) for column in columns],
                    "thickness": 1.5,
                    "width": 4,
                },
                "hovertemplate": "%{y:.1%}",
            }
        )
    layout = bare_layout(
        mode,
        height=HEIGHT,
        hovermode="x unified",
        margin={"l": 56, "r": 16, "t": 40, "b": 44},
        legend=LEGEND_ABOVE,
        showlegend=True,
    )
    for axis, name in zip(("xaxis", "yaxis"), axes, strict=True):
        layout[axis] |= {
            "title": {"text": name, "standoff": 8, "font": {"color": INK[mode]["ink"]}}
        }
    layout["xaxis"] |= {"type": "category"}
    layout["yaxis"] |= {"range": [0, 1.04], "tickformat": "~%"}
    return go.Figure(traces, layout)
