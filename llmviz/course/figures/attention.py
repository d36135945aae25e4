"""Figures of the lesson on attention: arrays and labels in, Plotly figures out."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from llmviz.course.figures import theme


class Axes(NamedTuple):
    """What stands at the axes of a figure."""

    x: str
    y: str


def _layout(mode: theme.Mode, title: str, axes: Axes, **more: Any) -> dict[str, Any]:
    """Return a layout with a title above everything, a legend below it, and named axes."""
    head = {"text": title, "font": {"size": 14, "color": theme.INK[mode]["ink"]}, "x": 0, "y": 1}
    head |= {"xanchor": "left", "yanchor": "top", "yref": "container", "pad": {"t": 8, "l": 8}}
    own = {
        "title": head,
        "legend": theme.LEGEND_ABOVE,
        "margin": {"l": 48, "r": 16, "t": 62, "b": 44},
    }
    layout = theme.bare_layout(mode, **own, **more)
    for axis, name in (("xaxis", axes.x), ("yaxis", axes.y)):
        layout[axis]["title"] = {"standoff": 8} | ({"text": name} if name else {})
    return layout


def against_size(
    sizes: Sequence[int],
    series: Mapping[str, Sequence[float] | np.ndarray],
    axes: Axes,
    *,
    title: str = "",
    chosen: int | None = None,
    level: tuple[float, str] | None = None,
    log_y: bool = False,
    mode: theme.Mode = "light",
) -> go.Figure:
    """Return lines over head sizes, the first in violet, the others in grey.

    sizes: (N,), drawn on a logarithmic axis. series: each (N,), by its name. chosen: a size to
    mark. level: a height with its name, drawn as a dashed line.
    """
    roles = ["weights", *["residual"] * (len(series) - 1)]
    traces = [
        {
            "type": "scatter",
            "x": list(sizes),
            "y": np.asarray(values, dtype=float),
            "name": name,
            "mode": "lines+markers",
            "line": {"color": theme.role_color(role, mode), "width": 2.5},
            "hovertemplate": "%{y:.4f}",
        }
        for (name, values), role in zip(series.items(), roles, strict=True)
    ]
    layout = _layout(mode, title, axes, height=320, hovermode="x unified")
    ticks = {"tickvals": list(sizes), "ticktext": [str(size) for size in sizes]}
    layout["xaxis"] |= {"type": "log", **ticks}
    layout["yaxis"] |= {"type": "log"} if log_y else {"type": "linear", "rangemode": "tozero"}
    shapes = []
    if chosen is not None:
        line = {"color": theme.role_color("accent", mode), "width": 2}
        shapes.append(
            {"xref": "x", "x0": chosen, "x1": chosen, "yref": "y domain", "y0": 0, "y1": 1}
        )
        shapes[-1] |= {"type": "line", "line": line}
    if level is not None:
        line = {"color": theme.INK[mode]["muted"], "dash": "dot", "width": 1.5}
        shapes.append({"xref": "x domain", "x0": 0, "x1": 1, "y0": level[0], "y1": level[0]})
        shapes[-1] |= {"yref": "y", "type": "line", "line": line}
        at = {"xref": "x domain", "x": 1, "xanchor": "right", "y": level[0], "yanchor": "bottom"}
        layout["annotations"] = [at | {"yref": "y", "text": level[1], "showarrow": False}]
    return go.Figure(traces, layout | {"shapes": shapes})


def bars(
    labels: Sequence[str],
    series: Mapping[str, Sequence[float] | np.ndarray],
    axes: Axes,
    *,
    title: str = "",
    height: int = 320,
    roles: Sequence[str | int] = ("weights", "residual"),
    mode: theme.Mode = "light",
) -> go.Figure:
    """Return grouped bars, each series in the colour of its role, or of a number in the palette.

    labels: (N,), shown as they are. series: each (N,), by its name, shares from 0 to 1; NaN
    leaves a bar out.
    """
    thin = {"color": theme.BAR_EDGE, "width": 0.5}
    traces = [
        {
            "type": "bar",
            "x": list(range(len(labels))),
            "y": np.asarray(values, dtype=float),
            "name": name,
            "marker": {
                "color": theme.category_style(role, mode)[0]
                if isinstance(role, int)
                else theme.role_color(role, mode),
                "line": thin,
            },
            "hovertemplate": "%{y:.1%}",
        }
        for (name, values), role in zip(series.items(), roles, strict=False)
    ]
    layout = _layout(mode, title, axes, height=height, barmode="group", bargap=0.3)
    layout["xaxis"] |= {"tickvals": list(range(len(labels))), "ticktext": list(labels)}
    # Half a percent stays one, not "0%".
    layout["yaxis"] |= {"rangemode": "tozero", "tickformat": "~%"}
    return go.Figure(traces, layout)
