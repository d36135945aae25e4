"""Figures of a single unit: numbers and names in, Plotly figures out."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from llmviz.figures.theme import POLES, Mode, bare_layout


def signed_bars(
    names: Sequence[str], values: Sequence[float], axis: str, mode: Mode = "light"
) -> go.Figure:
    """Return bars below each other, to the right where a value is above 0, else to the left.

    names and values: (N,) each; equal names stand for different bars all the same.
    """
    negative, positive = POLES[mode]["value"]
    rows = list(range(len(names)))
    bars = {
        "type": "bar",
        "orientation": "h",
        "y": rows,
        "x": [float(value) for value in values],
        "customdata": list(names),
        "marker": {
            "color": [positive if value > 0 else negative for value in values],
            "line": {"width": 0},
        },
        "text": [f"{value:+.2f}".replace("-", "−") for value in values],
        "textposition": "outside",
        "cliponaxis": False,
        "hovertemplate": "%{customdata}: %{text}<extra></extra>",
    }
    layout = bare_layout(
        mode,
        height=70 + 22 * len(rows),
        bargap=0.3,
        margin={"l": 8, "r": 40, "t": 8, "b": 44},
        showlegend=False,
    )
    most = 1.25 * max((abs(float(value)) for value in values), default=1.0) or 1.0
    layout["xaxis"] |= {"title": {"text": axis, "standoff": 8}, "range": [-most, most]}
    layout["yaxis"] |= {
        "autorange": "reversed",
        "tickvals": rows,
        "ticktext": list(names),
        "ticks": "",
        "zeroline": False,
        "showgrid": False,
    }
    return go.Figure([bars], layout)
