"""Figures of maps in three dimensions: arrays and labels in, Plotly figures out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from llmviz.course.figures.theme import INK, Mode, category_style, plotly_layout, role_color

# Plotly knows fewer shapes in three dimensions than in two.
_SOLID = {"circle": "circle", "square": "square", "diamond": "diamond", "triangle": "cross"}
_HEIGHT = 540  # pixels
_ROOM = 1.55  # diagonal of the box: on a phone of that height it is not cut off at the sides


@dataclass(frozen=True)
class Kinds:
    """Which kind each of N points has: a number into `names`, -1 for none; those in `lit` have
    their colour, the rest are called `others`."""

    numbers: tuple[int, ...]
    names: tuple[str, ...]
    lit: tuple[int, ...]
    others: str


@dataclass(frozen=True)
class Shade:
    """A number for each point, which colours it instead of its kind, from `low` to 1."""

    title: str
    values: np.ndarray  # (N,)
    low: float = 0.0


def map_in_space(
    points: np.ndarray,
    labels: Sequence[str],
    kinds: Kinds,
    lines: Sequence[tuple[int, Sequence[int]]],
    shade: Shade | None,
    axes: Sequence[str],
    mode: Mode = "light",
) -> go.Figure:
    """Return a map (N, 3) to be turned and looked at.

    ``lines`` hold points with their neighbours. ``shade`` colours the points in place of ``kinds``.
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
        bar = {
            "title": {"text": shade.title},
            "thickness": 10,
            "orientation": "h",  # at the side it would take room that a phone has not
            "len": 0.6,
            "y": 0,
            "yanchor": "top",
        }
        add(
            everything,
            "",
            {"colorscale": scale, "cmin": shade.low, "cmax": 1, "colorbar": bar}
            | {"color": shade.values},
            0.9,
        )
    else:
        numbers = np.array(kinds.numbers)
        dim = everything[~np.isin(numbers, list(kinds.lit))]
        if dim.size:
            add(dim, kinds.others, {"color": ink["muted"], "size": 2.5}, 0.35)
        for kind in kinds.lit:
            members = everything[numbers == kind]
            if members.size:
                color, shape = category_style(kind, mode)
                add(members, kinds.names[kind], {"color": color, "symbol": _SOLID[shape]}, 0.9)
    for chosen, near in lines:
        _rays(figure, points, labels, chosen, near, mode)
    figure.update_layout(**plotly_layout(mode, height=_HEIGHT, showlegend=shade is None))
    side = {
        "backgroundcolor": "rgba(0,0,0,0)",
        "gridcolor": ink["line"],
        "color": ink["muted"],
        "showspikes": False,
    }
    ranges, ratio = _box(points)
    figure.update_layout(
        margin={"l": 0, "r": 0, "t": 10, "b": 0},
        legend={"orientation": "h", "y": 0, "itemsizing": "constant"},
        scene={
            "aspectmode": "manual",
            "aspectratio": dict(zip("xyz", ratio, strict=True)),
            # far enough for the axes' titles, and a little below the middle, which lifts the box
            "camera": {
                "eye": {"x": 1.5, "y": 1.5, "z": 1.2},
                "center": {"x": 0, "y": 0, "z": -0.1},
            },
            **{
                f"{name}axis": {**side, "title": {"text": title}, "range": ends}
                for name, title, ends in zip("xyz", axes, ranges, strict=True)
            },
        },
    )
    return figure


def _box(points: np.ndarray) -> tuple[list[list[float]], list[float]]:
    """Return the ends of the three axes, and how long each is drawn: one scale for all.

    Long thin clouds get no larger box than round ones, so that no camera has to know them.
    """
    low, high = points.min(axis=0), points.max(axis=0)
    spread = max(float((high - low).max()), 1e-9)
    low, high = low - 0.04 * spread, high + 0.04 * spread
    ratio = _ROOM * (high - low) / np.linalg.norm(high - low)
    return np.stack((low, high), axis=1).tolist(), ratio.tolist()


def _rays(
    figure: go.Figure,
    points: np.ndarray,
    labels: Sequence[str],
    chosen: int,
    near: Sequence[int],
    mode: Mode,
) -> None:
    """Add lines from a point to its neighbours, and its name; theirs would hide each other."""
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
            text=[labels[chosen]] + [""] * len(near),
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
