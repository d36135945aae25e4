"""Bars below each other, each with its name: numbers and names in, a Plotly figure out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from llmviz.course.figures.theme import Mode, bare_layout, role_color

MARGIN = 8  # pixels around the figure, where no number stands


def named_bars(
    names: Sequence[str],
    values: Sequence[float],
    texts: Sequence[str],
    colors: str | Sequence[str],
    axis: dict[str, Any],
    mode: Mode = "light",
    *,
    room: int = 48,
) -> go.Figure:
    """Return one horizontal bar for each name, in the order given.

    names, values and texts: (N,) each; equal names stand for different bars all the same.
    colors: one for all bars, or one each. axis: what the axis of the values has of its own.
    room: pixels on the right for the texts.
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
        "hovertemplate": "%{customdata}: %{text}<extra></extra>",
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


def share_bars(
    shares: Sequence[float], strong: Sequence[int], top: float, axes: tuple[str, str], mode: Mode
) -> go.Figure:
    """Return a bar for the share of each of N numbers from 1; the strong ones stand out.

    top: the largest share of all such figures.
    """
    colours = ["weights" if k + 1 in strong else "residual" for k in range(len(shares))]
    bars = {
        "type": "bar",
        "x": list(range(1, len(shares) + 1)),
        "y": [round(share, 4) for share in shares],
        "marker": {"color": [role_color(role, mode) for role in colours]},
        "hovertemplate": "%{x}: %{y:.1%}<extra></extra>",
    }
    margin = {"l": 56, "r": 16, "t": 16, "b": 44}
    layout = bare_layout(mode, height=240, margin=margin, showlegend=False, bargap=0.25)
    for name, title in zip(("xaxis", "yaxis"), axes, strict=True):
        layout[name] |= {"title": {"text": title, "standoff": 8}}
    layout["yaxis"] |= {"tickformat": ".0%", "range": [0, top * 1.05]}
    return go.Figure([bars], layout)
