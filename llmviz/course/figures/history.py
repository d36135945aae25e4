"""Figures of the lesson from counts to GPT: numbers and names in, Plotly figures out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from llmviz.course.figures.theme import (
    CATEGORIES,
    INK,
    PLOTLY_SHAPES,
    Mode,
    category_style,
    plotly_layout,
)

BELOW = {"y": -0.2, "yanchor": "top", "orientation": "h"}  # a legend under the axis
MARKS = ("circle", "square", "diamond", "triangle-up")


def losses_by_length(
    lengths: Sequence[int],
    lines: Mapping[str, Sequence[float]],
    axes: tuple[str, str],
    mode: Mode = "light",
) -> go.Figure:
    """Return a line for each name over the lengths (N,), with its lowest point ringed."""
    figure = go.Figure()
    for index, (name, values) in enumerate(lines.items()):
        color = CATEGORIES[mode][index]
        lowest = min(range(len(values)), key=values.__getitem__)
        figure.add_scatter(
            x=list(lengths),
            y=list(values),
            name=name,
            mode="lines+markers",
            line={"color": color, "width": 2},
            marker={
                "symbol": MARKS[index % len(MARKS)],
                "size": [13 if i == lowest else 7 for i in range(len(values))],
                "line": {
                    "color": INK[mode]["ink"],
                    "width": [2 * (i == lowest) for i in range(len(values))],
                },
            },
            hovertemplate=f"{name}, %{{x}}: %{{y:.4f}}<extra></extra>",
        )
    _lay_out(figure, mode, 360)
    figure.update_xaxes(title_text=axes[0], dtick=1)
    return figure.update_yaxes(title_text=axes[1])


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


def points_and_line(
    x: Sequence[float],
    y: Sequence[float],
    line: tuple[float, float],
    own: tuple[float, float] | None,
    names: tuple[str, str, str],
    axes: tuple[str, str],
    mode: Mode = "light",
) -> go.Figure:
    """Return points (N,), the line y = a + b·x of (a, b), and one point of its own.

    names: of the points, the line and the own point.
    """
    figure = go.Figure()
    first, second, third = CATEGORIES[mode][:3]
    figure.add_scatter(
        x=list(x),
        y=list(y),
        name=names[0],
        mode="markers",
        marker={"color": first, "size": 8},
        hovertemplate="%{x}: %{y:.2f}<extra></extra>",
    )
    ends = [min(x), max(x)]
    figure.add_scatter(
        x=ends,
        y=[line[0] + line[1] * end for end in ends],
        name=names[1],
        mode="lines",
        line={"color": second, "width": 2},
        hoverinfo="skip",
    )
    if own is not None:
        figure.add_scatter(
            x=[own[0]],
            y=[own[1]],
            name=names[2],
            mode="markers",
            marker={"color": third, "size": 13, "symbol": "diamond"},
            hovertemplate="%{x}: %{y}<extra></extra>",
        )
    _lay_out(figure, mode, 340)
    figure.update_xaxes(title_text=axes[0])
    return figure.update_yaxes(title_text=axes[1])


def sizes(
    points: Mapping[str, tuple[float, float]],
    own: str,
    axes: tuple[str, str],
    mode: Mode = "light",
) -> go.Figure:
    """Return a point for each name over two measures by powers of ten; `own` stands out."""
    colors = CATEGORIES[mode]
    figure = go.Figure()
    for index, (name, point) in enumerate(points.items()):
        marker = {
            "color": colors[index % len(colors)],
            "symbol": MARKS[index % len(MARKS)],
            "size": 11,
        }
        if name == own:
            marker = {"color": INK[mode]["ink"], "symbol": "diamond", "size": 15}
        _point(figure, name, point, marker, "%{x:.3s} tokens, %{y:.3s} parameters")
    _lay_out(figure, mode, 440, showlegend=True)
    figure.update_xaxes(title_text=axes[0], type="log", exponentformat="power")
    return figure.update_yaxes(title_text=axes[1], type="log", exponentformat="power")


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
