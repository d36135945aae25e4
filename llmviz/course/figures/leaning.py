"""A figure of shares that were planted and shares that came out."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from llmviz.course.figures.adapters import HEIGHT
from llmviz.course.figures.theme import INK, Mode, chart_layout, role_color


def planted_and_said(
    groups: Sequence[tuple[str, str, Sequence[str], Sequence[float], Sequence[float]]],
    axes: tuple[str, str],
    equal: str,
    mode: Mode = "light",
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
            "line": {"color": INK[mode]["muted"], "width": 1, "dash": "dot"},
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
                    "color": role_color(role, mode),
                    "size": 10,
                    "line": {"width": 2},
                    "symbol": ("circle", "diamond-open")[at % 2],
                },
                "hovertemplate": "%{customdata}: %{x:.1%} → %{y:.1%}<extra></extra>",
            }
        )
    layout = chart_layout(
        axes,
        mode,
        height=HEIGHT + 140,
        margin={"l": 56, "r": 16, "t": 40, "b": 44},
        showlegend=True,
    )
    for axis in ("xaxis", "yaxis"):
        layout[axis] |= {"range": [-0.03, 1.03], "tickformat": "~%"}
    return go.Figure(traces, layout)
