"""Figures of the chapter on the loss: arrays and labels in, plotly figures out."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from llmviz.course.figures.theme import INK, POLES, Mode, plotly_layout


def compared(
    names: Sequence[str],
    values: Sequence[float],
    chosen: int,
    axis: str,
    mode: Mode = "light",
    *,
    logarithmic: bool = False,
    digits: int = 3,
) -> go.Figure:
    """Return numbers as bars that lie below each other, the one called `chosen` in full colour."""
    negative, positive = POLES[mode]["neutral"]
    colors = [positive if i == 0 else INK[mode]["line"] for i in range(len(names))]
    colors[chosen] = negative if chosen else positive
    texts = [f"{v:,.{digits}f}" if v < 1e5 or not digits else f"{v:.1e}" for v in values]
    bars = {
        "type": "bar",
        "x": list(values),
        "y": list(names),
        "orientation": "h",
        "marker": {"color": colors, "line": {"width": 0}},
        "text": texts,
        "textposition": "outside",
        "cliponaxis": False,
        "hovertemplate": f"%{{y}}: %{{x:,.{digits + (digits > 0)}f}}<extra></extra>",
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
