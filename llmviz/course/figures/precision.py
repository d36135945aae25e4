"""Figures of numbers of few bits: how many values have which size, as bars over powers of two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from llmviz.course.figures.theme import Mode, chart_layout, role_color


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
    mode: Mode = "light",
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
            "marker": {"color": role_color(group.role, mode)},
            "hovertemplate": "from 2<sup>%{x}</sup>: %{y:,}",
        }
        for group in groups
    ]
    layout = chart_layout(
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
