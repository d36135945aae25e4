"""Figures of adapters and small trainings: arrays and labels in, plotly figures out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from llmviz.course.figures.theme import Mode, chart_layout, role_color

HEIGHT = 300


@dataclass(frozen=True)
class Curve:
    """One line of a chart: its name, its points, a role of the theme; dashed where it is a limit.

    marks: draw its points, too.
    """

    name: str
    x: Sequence[float]
    y: Sequence[float]
    role: str = "weights"
    dashed: bool = False
    marks: bool = False


def lines(
    curves: Sequence[Curve],
    axes: tuple[str, str],
    mode: Mode = "light",
    *,
    shares: bool = False,
    at: Sequence[float] = (),
) -> go.Figure:
    """Return lines over one axis; every point that is given is drawn.

    axes: what x and y are. shares: y goes from 0 to 1 and is written in percent. at: where x has
    ticks; else the library chooses.
    """
    traces = [
        {
            "type": "scatter",
            "x": [float(x) for x in curve.x],
            "y": [float(y) for y in curve.y],
            "name": curve.name,
            "mode": "lines+markers" if curve.marks else "lines",
            "line": {
                "color": role_color(curve.role, mode),
                "width": 1.5 if curve.dashed else 2.2,
                "dash": "dot" if curve.dashed else "solid",
            },
            "marker": {"size": 6},
            "hovertemplate": "%{y:.1%}" if shares else "%{y:.4f}",
        }
        for curve in curves
    ]
    layout = chart_layout(
        axes,
        mode,
        height=HEIGHT,
        hovermode="x unified",
        margin={"l": 56, "r": 16, "t": 40, "b": 44},
        showlegend=True,
    )
    if at:
        layout["xaxis"] |= {"tickvals": list(at), "ticktext": [f"{tick:g}" for tick in at]}
    layout["yaxis"] |= {"range": [0, 1.04], "tickformat": "~%"} if shares else {}
    return go.Figure(traces, layout)
