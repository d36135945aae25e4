"""Bars below each other, each with its name: numbers and names in, a Plotly figure out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from llmviz.course.figures.theme import Mode, bare_layout

MARGIN = 8  # pixels around the figure, where no number stands


def named_bars(
    names: Sequence[str],
    values: Sequence[float],
    texts: Sequence[str],
    colors: str | Sequence[str],
    axis: dict[str, Any],
    mode: Mode = "light",
    *,
    hover: str = "%{customdata}: %{text}<extra></extra>",
    room: int = 48,
) -> go.Figure:
    """Return one horizontal bar for each name, in the order given.

    names, values and texts: (N,) each; equal names stand for different bars all the same.
    colors: one for all bars, or one each. axis: what the axis of the values has of its own.
    hover: what is said of a bar under the pointer. room: pixels on the right for the texts.
    """
    rows = list(range(len(names)))
    bars = {
        "type": "bar",
        "orientation": "h",
        "y": rows,
        "x": list(values),
        "customdata": list(names),
        "marker": {"color": colors, "line": {"width": 0}},
        "text": list(texts),
        "textposition": "outside",
        "cliponaxis": False,
        "hovertemplate": hover,
    }
    layout = bare_layout(
        mode,
        height=70 + 22 * len(rows),
        bargap=0.3,
        margin={"l": MARGIN, "r": room, "t": MARGIN, "b": 44},
        showlegend=False,
    )
    layout["xaxis"] |= axis
    layout["yaxis"] |= {
        "autorange": "reversed",
        "tickvals": rows,
        "ticktext": list(names),
        "ticks": "",
        "zeroline": False,
        "showgrid": False,
    }
    return go.Figure([bars], layout)
