"""Figures of what changed in transformers since 2017: numbers and names in, Plotly figures out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from llmviz.course.figures import theme
from llmviz.course.figures.attention import Axes

TITLE = {"x": 0, "y": 1, "xanchor": "left", "yanchor": "top", "yref": "container"}


def number_table(
    values: np.ndarray,
    title: str,
    axes: Axes,
    mode: theme.Mode = "light",
    *,
    limit: float | None = None,
    labels: Sequence[str] = (),
) -> go.Figure:
    """Return a table (R, C) as colours: from white at 0, to both sides where some are below 0.

    NaN is grey. limit: the number at the end of the colours; the largest magnitude if not given.
    labels: names of the rows and columns of a square table.
    """
    values = np.asarray(values, dtype=float)
    signed = bool((values < 0).any())
    top = limit or float(np.nanmax(np.abs(values), initial=0)) or 1.0
    scale = [[0.0, theme.INK[mode]["surface"]], [1.0, theme.role_color("weights", mode)]]
    heat = {
        "type": "heatmap",
        "z": [[None if np.isnan(v) else round(v, 4) for v in row] for row in values.tolist()],
        "zmin": -top if signed else 0,
        "zmax": top,
        "colorscale": theme.diverging_scale(mode) if signed else scale,
        "showscale": False,
        "hovertemplate": "%{y}, %{x}: %{z:.3f}<extra></extra>",
    }
    layout = _layout(mode, title, axes, 320 if labels else 300)
    layout["plot_bgcolor"] = theme.INK[mode]["line"]
    for axis in ("xaxis", "yaxis"):
        layout[axis] |= {"showgrid": False, "zeroline": False}
    layout["yaxis"] |= {"autorange": "reversed"}
    if labels:
        ticks = {"tickvals": list(range(len(labels))), "ticktext": list(labels)}
        layout["xaxis"] |= ticks | {"tickangle": -90, "tickfont": {"size": 9}}
        layout["yaxis"] |= ticks | {"tickfont": {"size": 9}}
    return go.Figure([heat], layout)


def cloud(
    x: np.ndarray,
    y: np.ndarray,
    curve: tuple[np.ndarray, np.ndarray],
    names: tuple[str, str],
    title: str,
    axes: Axes,
    mode: theme.Mode = "light",
) -> go.Figure:
    """Return points over two axes, and a curve under them; names: of the points and of the curve.

    x, y: (N,). curve: its x and y.
    """
    points = {
        "type": "scatter",
        "mode": "markers",
        "x": np.asarray(x, dtype=float).round(3).tolist(),
        "y": np.asarray(y, dtype=float).round(3).tolist(),
        "name": names[0],
        "marker": {"size": 4, "opacity": 0.6, "color": theme.role_color("weights", mode)},
        "hovertemplate": "%{x:.2f} → %{y:.2f}<extra></extra>",
    }
    line = {
        "type": "scatter",
        "mode": "lines",
        "x": np.asarray(curve[0], dtype=float).round(3).tolist(),
        "y": np.asarray(curve[1], dtype=float).round(3).tolist(),
        "name": names[1],
        "line": {"color": theme.role_color("residual", mode), "width": 2},
        "hoverinfo": "skip",
    }
    layout = _layout(mode, title, axes, 340)
    layout |= {"legend": theme.LEGEND_ABOVE}
    return go.Figure([line, points], layout | {"margin": layout["margin"] | {"t": 62}})


def _layout(mode: theme.Mode, title: str, axes: Axes, height: int) -> dict:
    font = {"size": 14, "color": theme.INK[mode]["ink"]}
    layout = theme.bare_layout(
        mode,
        height=height,
        title={**TITLE, "text": title, "font": font, "pad": {"t": 8, "l": 8}},
        margin={"l": 48, "r": 12, "t": 36, "b": 40},
    )
    for axis, name in (("xaxis", axes.x), ("yaxis", axes.y)):
        layout[axis] |= {"title": {"standoff": 8} | ({"text": name} if name else {})}
    return layout
