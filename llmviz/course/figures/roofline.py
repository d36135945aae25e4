"""The roofline of a machine: operations per second over operations per byte, both logarithmic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from llmviz.course.figures.theme import (
    INK,
    LEGEND_ABOVE,
    Mode,
    category_style,
    chart_layout,
    role_color,
)


@dataclass(frozen=True)
class Roof:
    """A roof: its name, and how many bytes a second are read below its slope."""

    name: str
    bandwidth: float


@dataclass(frozen=True)
class Mark:
    """Points that belong together: their name, operations per byte, and operations per second."""

    name: str
    intensity: Sequence[float]
    speed: Sequence[float]
    labels: Sequence[str]
    chosen: int | None = None  # which of them is drawn large


def roofline_figure(
    peak: float, roofs: Sequence[Roof], marks: Sequence[Mark], axes: tuple[str, str], mode: Mode
) -> go.Figure:
    """Return roofs and points; speeds are drawn in units of 10⁹.

    peak: operations per second that are computed at most. Raises ValueError for a peak, a
    bandwidth or a point that is not above 0.
    """
    points = [value for mark in marks for value in (*mark.intensity, *mark.speed)]
    if not all(value > 0 for value in (peak, *(roof.bandwidth for roof in roofs), *points)):
        raise ValueError("a roofline needs numbers above 0")
    ridges = [peak / roof.bandwidth for roof in roofs]
    across = [*ridges, *(value for mark in marks for value in mark.intensity)]
    low, high = min(across) / 4, max(across) * 4
    traces = []
    for i, (roof, ridge) in enumerate(zip(roofs, ridges, strict=True)):
        x = [low, ridge, high]
        y = np.minimum(peak, np.array(x) * roof.bandwidth) / 1e9
        line = {"color": INK[mode]["ink" if not i else "muted"], "width": 2}
        traces.append(
            {
                "type": "scatter",
                "x": x,
                "y": y.tolist(),
                "name": roof.name,
                "mode": "lines",
                "line": line | {"dash": "solid" if not i else "dash"},
                "hovertemplate": "%{x:.3g}: %{y:.3g}",
            }
        )
    for i, mark in enumerate(marks):
        colour, shape = category_style(i, mode)
        chosen = [n == mark.chosen for n in range(len(mark.intensity))]
        rim = [role_color("accent", mode) if on else colour for on in chosen]
        traces.append(
            {
                "type": "scatter",
                "x": list(mark.intensity),
                "y": [value / 1e9 for value in mark.speed],
                "text": list(mark.labels),
                "name": mark.name,
                "mode": "lines+markers+text",
                "textposition": "bottom center",
                "textfont": {"size": 11},
                "line": {"color": colour, "width": 1, "dash": "dot"},
                "marker": {
                    "size": [16 if on else 9 for on in chosen],
                    "symbol": shape,
                    "color": colour,
                    "line": {"color": rim, "width": [3 if on else 0 for on in chosen]},
                },
                "hovertemplate": "%{text}: %{x:.3g}, %{y:.3g}<extra></extra>",
            }
        )
    margin = {"l": 60, "r": 16, "t": 64, "b": 48}
    layout = chart_layout(axes, mode, height=400, margin=margin, legend=LEGEND_ABOVE | {"y": 1.02})
    for axis in ("xaxis", "yaxis"):
        layout[axis] |= {"type": "log", "dtick": "D2"}
    return go.Figure(traces, layout)
