"""Figures of maps in three dimensions: arrays and labels in, Plotly figures out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from llmviz.figures.theme import INK, Mode, category_style, plotly_layout, role_color

# Plotly knows fewer shapes in three dimensions than in two.
_SOLID = {"circle": "circle", "square": "square", "diamond": "diamond", "triangle": "cross"}


def map_in_space(
    points: np.ndarray,
    labels: Sequence[str],
    kinds: np.ndarray,
    kind_names: Sequence[str],
    lit: Sequence[int],
    lines: Sequence[tuple[int, Sequence[int]]] = (),
    shade: np.ndarray | None = None,
    shade_title: str = "",
    shade_low: float = 0.0,
    others: str = "others",
    axes: tuple[str, str, str] = ("first", "second", "third"),
    mode: Mode = "light",
) -> go.Figure:
    """Return a map (N, 3) to be turned and looked at.

    ``kinds`` (N,) numbers ``kind_names``, -1 for none; those in ``lit`` are coloured. ``lines``
    hold points with their neighbours. ``shade`` (N,), from ``shade_low`` to 1, colours the points
    instead. ``others`` names the points of no kind that is coloured.
    """
    ink = INK[mode]
    figure = go.Figure()

    def add(members: np.ndarray, name: str, marker: dict, opacity: float) -> None:
        figure.add_trace(
            go.Scatter3d(
                x=points[members, 0],
                y=points[members, 1],
                z=points[members, 2],
                mode="markers",
                name=name,
                text=[labels[i] for i in members],
                hovertemplate="%{text}<extra>" + name + "</extra>",
                marker={"size": 4, "line": {"width": 0}, **marker},
                opacity=opacity,
            )
        )

    everything = np.arange(len(points))
    if shade is not None:
        scale = [[0.0, role_color("key", mode)], [1.0, ink["line"]]]
        bar = {"title": {"text": shade_title}, "thickness": 10, "len": 0.6}
        add(
            everything,
            "",
            {"color": shade, "colorscale": scale, "cmin": shade_low, "cmax": 1, "colorbar": bar},
            0.9,
        )
    else:
        dim = everything[~np.isin(kinds, list(lit))]
        if dim.size:
            add(dim, others, {"color": ink["muted"], "size": 2.5}, 0.35)
        for kind in lit:
            members = everything[kinds == kind]
            if members.size:
                color, shape = category_style(kind, mode)
                add(members, kind_names[kind], {"color": color, "symbol": _SOLID[shape]}, 0.9)
    for chosen, near in lines:
        _rays(figure, points, labels, chosen, near, mode)
    figure.update_layout(**plotly_layout(mode, height=620, showlegend=shade is None))
    side = {
        "backgroundcolor": "rgba(0,0,0,0)",
        "gridcolor": ink["line"],
        "color": ink["muted"],
        "showspikes": False,
    }
    figure.update_layout(
        margin={"l": 0, "r": 0, "t": 10, "b": 0},
        legend={"orientation": "h", "y": 0, "itemsizing": "constant"},
        scene={
            "aspectmode": "data",
            "camera": {"eye": {"x": 1.5, "y": 1.5, "z": 1.2}},  # far enough for the axes' titles
            **{
                f"{name}axis": {**side, "title": {"text": title}}
                for name, title in zip("xyz", axes, strict=True)
            },
        },
    )
    return figure


def _rays(
    figure: go.Figure,
    points: np.ndarray,
    labels: Sequence[str],
    chosen: int,
    near: Sequence[int],
    mode: Mode,
) -> None:
    """Add lines from a point to its neighbours, with their names."""
    ends = np.full((3 * len(near), 3), np.nan)
    ends[0::3], ends[1::3] = points[chosen], points[list(near)]
    x, y, z = ends.T
    line = {"color": INK[mode]["ink"], "width": 2}
    figure.add_trace(
        go.Scatter3d(
            x=x, y=y, z=z, mode="lines", line=line, hoverinfo="skip", showlegend=False, opacity=0.6
        )
    )
    named = [chosen, *near]
    figure.add_trace(
        go.Scatter3d(
            x=points[named, 0],
            y=points[named, 1],
            z=points[named, 2],
            mode="text+markers",
            text=[labels[i] for i in named],
            textposition="middle right",
            textfont={"color": INK[mode]["ink"], "size": 11},
            marker={
                "size": [7] + [4] * len(near),
                "color": [role_color("accent", mode)] + [INK[mode]["ink"]] * len(near),
            },
            hoverinfo="skip",
            showlegend=False,
        )
    )
