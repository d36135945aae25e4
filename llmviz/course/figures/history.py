"""Figures of the lesson from counts to GPT: numbers and names in, Plotly figures out.

A kind of network has one colour, on every page that compares them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from llmviz.course.figures.theme import (
    INK,
    PLOTLY_SHAPES,
    Mode,
    bare_layout,
    category_style,
    plotly_layout,
    role_color,
)

# From the oldest to the newest; two tables of counts come last. A number in the palette of kinds.
_ORDER = ("bigram", "mlp", "wavenet", "rnn", "gru", "lstm", "gpt", "counted-pairs", "counted-fours")
_YELLOW = 5  # is told from orange by dashes


def network_number(name: str) -> int:
    """Return a network's number in the palette (see `theme.category_style`).

    name: its kind, or the name of a bundled model of names. Raises ValueError for another one.

    >>> network_number("names-gru") == network_number("gru")
    True
    """
    kind = name.removeprefix("names-")
    if kind not in _ORDER:
        raise ValueError(f"the kind of network must be one of {', '.join(_ORDER)}; got {name!r}")
    return _ORDER.index(kind)


def is_dashed(name: str) -> bool:
    """Whether a network's line is drawn in dashes, so that its colour is told from a near one."""
    return network_number(name) == _YELLOW


BELOW = {"y": -0.2, "yanchor": "top", "orientation": "h"}  # a legend under the axis


def by_measure(
    points: Mapping[str, tuple[float, float]],
    numbers: Sequence[int],
    axes: Sequence[str],
    powers: Sequence[bool],
    mode: Mode = "light",
) -> go.Figure:
    """Return a point for each name over two measures; one with a NaN is left out.

    numbers: of the points in the palette. axes: both titles. powers: which goes by powers of ten.
    """
    figure = go.Figure()
    for number, (name, (x, y)) in zip(numbers, points.items(), strict=True):
        if x != x or y != y:
            continue
        color, shape = category_style(number, mode)
        marker = {"color": color, "symbol": PLOTLY_SHAPES.get(shape, shape)}
        _point(figure, name, (x, y), marker | {"size": 13}, "%{x:,.4~g}, %{y:,.4~g}")
    _lay_out(figure, mode, 420, showlegend=True)
    for update, title, by_powers in zip(
        (figure.update_xaxes, figure.update_yaxes), axes, powers, strict=True
    ):
        update(title_text=title, type="log" if by_powers else "linear")
    return figure


def _point(
    figure: go.Figure,
    name: str,
    place: tuple[float, float],
    marker: Mapping[str, object],
    numbers: str,
) -> None:
    """Add a point with a name of its own; numbers: how the pointer's label writes its place."""
    figure.add_scatter(
        x=[place[0]],
        y=[place[1]],
        name=name,
        mode="markers",
        marker=marker,
        hovertemplate=f"{name}: {numbers}<extra></extra>",
    )


def _lay_out(figure: go.Figure, mode: Mode, height: int, **more: object) -> None:
    """Give a figure the theme, its height in pixels, and a legend below."""
    figure.update_layout(**plotly_layout(mode, height=height))
    figure.update_layout(margin={"l": 60, "r": 16, "t": 16, "b": 48}, legend=BELOW, **more)


def beside_each_other(
    pictures: Mapping[str, np.ndarray], framed: int | None, mode: Mode = "light"
) -> go.Figure:
    """Return pictures of squares in a row, each under its name; one may be framed.

    pictures: by name, (R, C) from 0 to 1, which is full colour.
    """
    layout = bare_layout(mode, height=230, margin={"l": 4, "r": 4, "t": 40, "b": 4})
    width, heats, notes, frames = 1 / len(pictures), [], [], []
    for n, (name, values) in enumerate(pictures.items()):
        low, high = n * width + 0.02, (n + 1) * width - 0.02
        at = f"{n + 1}" if n else ""
        axes = {"xaxis": f"x{at}", "yaxis": f"y{at}"}
        end = {"domain": [low, high], "anchor": axes["yaxis"], "constrain": "domain"}
        down = {"anchor": axes["xaxis"], "scaleanchor": axes["xaxis"], "constrain": "domain"}
        down["autorange"] = "reversed"
        for axis, how in ((f"xaxis{at}", end), (f"yaxis{at}", down)):
            layout[axis] = how | {"visible": False, "fixedrange": True}
        colors = [[0.0, INK[mode]["line"]], [1.0, role_color("weights", mode)]]
        heat = {"z": np.round(values, 3).tolist(), "zmin": 0, "zmax": 1, "colorscale": colors}
        heats.append({"type": "heatmap", "showscale": False, "hoverinfo": "skip"} | axes | heat)
        place = {"x": (low + high) / 2, "y": 1.03, "xref": "paper", "yref": "paper"}
        strong = f"<b>{name}</b>" if n == framed else name
        notes.append(
            {"text": strong, "showarrow": False, "xanchor": "center", "yanchor": "bottom"} | place
        )
        if n == framed:
            corners = {"x0": low - 0.015, "x1": high + 0.015, "y0": -0.01, "y1": 1.17}
            line = {"color": role_color("accent", mode), "width": 3}
            frames.append(
                {"type": "rect", "xref": "paper", "yref": "paper", "line": line} | corners
            )
    layout |= {"annotations": notes, "shapes": frames}
    return go.Figure(heats, layout)
