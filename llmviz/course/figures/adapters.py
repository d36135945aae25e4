"""Figures of adapters and small trainings: arrays and labels in, plotly figures out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from llmviz.course.figures import theme

HEIGHT = 300
DEEP = 127  # of a cell's colour, in a byte


@dataclass(frozen=True)
class Curve:
    """One line of a chart: its name, its points, a role of the theme; dashed where it is a limit.

    marks: draw its points, too.
    """

    name: str
    x: Sequence[float] | np.ndarray
    y: Sequence[float] | np.ndarray
    role: str = "weights"
    dashed: bool = False
    marks: bool = False


def lines(
    curves: Sequence[Curve],
    axes: tuple[str, str],
    mode: theme.Mode = "light",
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
                "color": theme.role_color(curve.role, mode),
                "width": 1.5 if curve.dashed else 2.2,
                "dash": "dot" if curve.dashed else "solid",
            },
            "marker": {"size": 6},
            "hovertemplate": "%{y:.1%}" if shares else "%{y:.4f}",
        }
        for curve in curves
    ]
    layout = theme.chart_layout(
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


def product(
    b: np.ndarray, a: np.ndarray, names: Mapping[str, str], mode: theme.Mode = "light"
) -> go.Figure:
    """Return a frozen matrix, and beside it B (R, r), A (r, C) and B·A, all to one scale.

    The longer side lies across. names: of the big matrix, of the tall and wide
    one as they are drawn, and of the product. A cell is as deep as its size beside
    thrice the typical one (the root of the mean square).
    """
    left, top = (a.T, b.T) if len(b) > a.shape[1] else (b, a)
    (rows, rank), columns = left.shape, top.shape[1]
    gap, ink = max(rows, columns) // 16, theme.INK[mode]
    at = columns + gap + rank + gap // 3  # where the product begins
    above = -rank - gap // 3
    traces = [
        _cells(values, x, y, mode)
        for values, x, y in (
            (left, columns + gap, 0),
            (top, at, above),
            (left @ top, at, 0),
        )
    ]
    texts = [
        (names["big"], columns / 2, rows / 2, "center", "middle"),
        (names["tall"], columns + gap + rank, 0, "right", "bottom"),
        (names["wide"], at, above, "left", "bottom"),
        (names["product"], at + columns / 2, rows, "center", "top"),
    ]
    layout = theme.bare_layout(
        mode,
        height=230,
        margin={"l": 0, "r": 0, "t": 24, "b": 24},
        dragmode=False,
        showlegend=False,
        shapes=[
            {
                "type": "rect",
                "x0": 0,
                "x1": columns,
                "y0": 0,
                "y1": rows,
                "fillcolor": ink["hair"],
                "line": {"color": ink["line"], "width": 1},
            }
        ],
        annotations=[
            {"text": text, "x": x, "y": y, "xanchor": across, "yanchor": up, "showarrow": False}
            for text, x, y, across, up in texts
        ],
    )
    plain = {"visible": False, "fixedrange": True, "constrain": "domain"}
    layout["xaxis"] = plain | {"range": [0, at + columns]}
    layout["yaxis"] = plain | {"range": [rows, above], "scaleanchor": "x", "constraintoward": "top"}
    return go.Figure(traces, layout)


def _cells(values: np.ndarray, x: int, y: int, mode: theme.Mode) -> dict[str, object]:
    """Return a matrix as cells of one unit, its corner at x and y, each in a byte."""
    limit = 3 * float(np.sqrt(np.mean(values**2))) or 1.0
    depth = np.clip(values / limit, -1, 1) * DEEP
    return {
        "type": "heatmap",
        "z": np.round(depth).astype(np.int8),
        "x0": x + 0.5,
        "y0": y + 0.5,
        "dx": 1,
        "dy": 1,
        "zmin": -DEEP,
        "zmax": DEEP,
        "colorscale": theme.diverging_scale(mode),
        "showscale": False,
        "hoverinfo": "skip",
    }
