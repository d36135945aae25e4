"""Figures of the lesson on attention: arrays and labels in, Plotly figures out."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go

from llmviz.figures.theme import INK, Mode, plotly_layout, role_color

LEGEND = {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom"}


def _titled(title: str, mode: Mode) -> dict[str, object]:
    """Return the part of a layout with a title above everything and a legend below it."""
    head = {"text": title, "font": {"size": 14, "color": INK[mode]["ink"]}, "x": 0, "y": 1}
    head |= {"xanchor": "left", "yanchor": "top", "yref": "container", "pad": {"t": 8, "l": 8}}
    return {"title": head, "legend": LEGEND, "margin": {"l": 48, "r": 16, "t": 62, "b": 44}}


class Axes(NamedTuple):
    """What stands at the axes of a figure."""

    x: str
    y: str


def against_size(
    sizes: Sequence[int],
    series: Sequence[np.ndarray],
    names: Sequence[str],
    axes: Axes,
    *,
    title: str = "",
    chosen: int | None = None,
    level: tuple[float, str] | None = None,
    log_y: bool = False,
    mode: Mode = "light",
) -> go.Figure:
    """Return lines over head sizes, the first in violet, the others in grey.

    sizes: (N,), drawn on a logarithmic axis. series: each (N,). chosen: a size to mark. level: a
    height with its name, drawn as a dashed line.
    """
    figure = go.Figure()
    roles = ["weights", *["residual"] * (len(series) - 1)]
    for values, name, role in zip(series, names, roles, strict=True):
        figure.add_scatter(
            x=list(sizes),
            y=np.asarray(values, dtype=float),
            name=name,
            mode="lines+markers",
            line={"color": role_color(role, mode), "width": 2.5},
            hovertemplate="%{y:.4f}",
        )
    figure.update_layout(
        plotly_layout(mode, height=320, hovermode="x unified", **_titled(title, mode))
    )
    ticks = {"tickvals": list(sizes), "ticktext": [str(size) for size in sizes]}
    figure.update_xaxes(type="log", title_text=axes.x, **ticks)
    figure.update_yaxes(title_text=axes.y, type="log" if log_y else "linear", automargin=True)
    if not log_y:
        figure.update_yaxes(rangemode="tozero")
    if chosen is not None:
        figure.add_vline(x=chosen, line_color=role_color("accent", mode), line_width=2)
    if level is not None:
        line = {"color": INK[mode]["muted"], "dash": "dot", "width": 1.5}
        figure.add_hline(y=level[0], line=line, annotation_text=level[1])
    return figure


def bars(
    labels: Sequence[str],
    series: Sequence[np.ndarray],
    names: Sequence[str],
    axis: str,
    *,
    title: str = "",
    over: str = "",
    height: int = 320,
    percent: bool = True,
    mode: Mode = "light",
) -> go.Figure:
    """Return grouped bars, the first series in violet, the second in grey; axis of values named.

    labels: (N,), shown as they are, of what `over` says. series: each (N,), shares from 0 to 1 if
    `percent`; NaN leaves a bar out.
    """
    figure = go.Figure()
    for values, name, role in zip(series, names, ("weights", "residual"), strict=False):
        figure.add_bar(
            x=list(range(len(labels))),
            y=np.asarray(values, dtype=float),
            name=name,
            marker_color=role_color(role, mode),
            hovertemplate="%{y:.1%}" if percent else "%{y:.4f}",
        )
    figure.update_layout(
        plotly_layout(mode, height=height, barmode="group", bargap=0.3, **_titled(title, mode))
    )
    ticks = {"tickvals": list(range(len(labels))), "ticktext": list(labels)}
    figure.update_xaxes(title_text=over or None, **ticks)
    figure.update_yaxes(title_text=axis, rangemode="tozero", automargin=True)
    if percent:
        figure.update_yaxes(tickformat="~%")  # half a percent stays one, not "0%"
    return figure
