"""Figures of the chapter on the loss: arrays and labels in, plotly figures out."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from llmviz.figures.theme import INK, POLES, Mode, plotly_layout


def compared(
    names: Sequence[str],
    values: Sequence[float],
    chosen: int,
    axis: str,
    mode: Mode = "light",
    *,
    logarithmic: bool = False,
) -> go.Figure:
    """Return numbers as bars that lie below each other, the one called `chosen` in full colour."""
    negative, positive = POLES[mode]["neutral"]
    colors = [positive if i == 0 else INK[mode]["line"] for i in range(len(names))]
    colors[chosen] = negative if chosen else positive
    bars = {
        "type": "bar",
        "x": list(values),
        "y": list(names),
        "orientation": "h",
        "marker": {"color": colors, "line": {"width": 0}},
        "text": [f"{value:,.3f}" if value < 1e5 else f"{value:.1e}" for value in values],
        "textposition": "outside",
        "cliponaxis": False,
        "hovertemplate": "%{y}: %{x:,.4f}<extra></extra>",
    }
    layout = plotly_layout(
        mode,
        height=86 + 34 * len(names),
        bargap=0.45,
        margin={"l": 8, "r": 56, "t": 8, "b": 44},
    )
    layout["xaxis"] |= {
        "title": {"text": axis, "standoff": 8},
        "type": "log" if logarithmic else "linear",
    }
    layout["yaxis"] |= {"autorange": "reversed", "automargin": True, "ticks": "", "showgrid": False}
    return go.Figure([bars], layout)
