"""Figures of the lesson on embeddings: arrays and labels in, Plotly figures out.

Labels come with their markup taken away; they are drawn as they are.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go

from llmviz.figures.theme import INK, POLES, Mode, plotly_layout, role_color

MARGIN = {"l": 58, "r": 16, "t": 28, "b": 46}
MANY = 6_000  # points from which on the browser draws them as one picture


class Mark(NamedTuple):
    """A point with a name, by its index."""

    index: int
    label: str
    role: str = "accent"


def all_points(
    x: np.ndarray,
    y: np.ndarray,
    labels: Sequence[str],
    marks: Sequence[Mark],
    axes: tuple[str, str],
    mode: Mode = "light",
) -> go.Figure:
    """Return a point for every token, grey, with some of them marked and named.

    x, y: (N,). labels: N, shown at the pointer. axes: the titles of both axes.
    """
    figure = go.Figure()
    scatter = go.Scattergl if len(x) > MANY else go.Scatter
    figure.add_trace(
        scatter(
            x=np.asarray(x),
            y=np.asarray(y),
            mode="markers",
            marker={"size": 4, "color": role_color("residual", mode), "opacity": 0.45},
            text=list(labels),
            hovertemplate="%{text}<br>%{x:,} · %{y:.3f}<extra></extra>",
        )
    )
    right = np.asarray(x) < 0.75 * np.max(x)
    for number, mark in enumerate(marks):
        side = "right" if right[mark.index] else "left"
        figure.add_scatter(
            x=[x[mark.index]],
            y=[y[mark.index]],
            mode="markers+text",
            text=[mark.label],
            textposition=f"{('top', 'bottom', 'middle')[number % 3]} {side}",
            textfont={"color": INK[mode]["ink"], "size": 13},
            marker={
                "size": 10,
                "color": role_color(mark.role, mode),
                "line": {"color": INK[mode]["ink"], "width": 1},
            },
            hoverinfo="skip",
        )
    figure.update_layout(plotly_layout(mode, height=330, showlegend=False, margin=MARGIN))
    figure.update_xaxes(title_text=axes[0])
    return figure.update_yaxes(title_text=axes[1])


def arrows(points: np.ndarray, names: Sequence[str], gap: str, mode: Mode = "light") -> go.Figure:
    """Return two vectors as arrows from one point, in the plane that they span.

    points: (2, 2), the tips. names: what stands at the tips. gap: what stands at the dashed line
    between them.
    """
    ink = INK[mode]
    colors = (role_color("accent", mode), POLES[mode]["neutral"][1])
    figure = go.Figure()
    figure.add_scatter(
        x=points[:, 0],
        y=points[:, 1],
        mode="lines",
        line={"color": ink["muted"], "dash": "dot", "width": 1.5},
        hoverinfo="skip",
    )
    apart = float(np.linalg.norm(points[0] - points[1]))
    if apart > 0.1 * float(np.abs(points).max()):  # else there is no room between the tips
        figure.add_annotation(
            x=float(points[:, 0].mean()),
            y=float(points[:, 1].mean()),
            text=gap,
            showarrow=False,
            font={"color": ink["muted"], "size": 12},
            bgcolor=ink["surface"],
        )
    sides = ("bottom center", "top center")
    for (x, y), name, color, side in zip(points.tolist(), names, colors, sides, strict=True):
        figure.add_annotation(
            ax=0, ay=0, axref="x", ayref="y", x=x, y=y, xref="x", yref="y",
            arrowhead=2, arrowsize=1.2, arrowwidth=3, arrowcolor=color, text="",
        )  # fmt: skip
        figure.add_scatter(
            x=[x],
            y=[y],
            mode="markers+text",
            marker={"size": 1, "color": color},
            text=[name],
            textposition=side,
            textfont={"color": ink["ink"], "size": 14},
            hovertemplate="%{text}: (%{x:.3f}, %{y:.3f})<extra></extra>",
        )
    low, high = np.minimum(points.min(axis=0), 0), np.maximum(points.max(axis=0), 0)
    pad = 0.18 * max(float((high - low).max()), 1e-9)
    figure.update_layout(
        plotly_layout(mode, height=300, showlegend=False, margin=MARGIN | {"l": 44})
    )
    figure.update_xaxes(
        range=[low[0] - pad, high[0] + pad], title_text="along A", constrain="domain"
    )
    return figure.update_yaxes(
        range=[low[1] - pad, high[1] + pad], title_text="across A", scaleanchor="x"
    )


def spread(
    values: np.ndarray,
    marks: Sequence[float],
    name: str,
    axis: str,
    mode: Mode = "light",
) -> go.Figure:
    """Return how many tokens have which value, as bars, with some values marked as lines.

    values: (N,). marks: the values of the lines; `name` stands beside them.
    """
    counts, edges = np.histogram(values, 60)
    figure = go.Figure(
        go.Bar(
            x=(edges[:-1] + edges[1:]) / 2,
            y=counts,
            width=np.diff(edges),
            marker={"color": role_color("residual", mode), "line": {"width": 0}},
            customdata=np.stack((edges[:-1], edges[1:]), axis=1),
            hovertemplate="%{customdata[0]:.2f} to %{customdata[1]:.2f}: %{y:,}<extra></extra>",
        )
    )
    for value in marks:
        figure.add_vline(x=float(value), line_color=role_color("accent", mode), line_width=1.5)
    # The name goes to the side where the other values are.
    high = np.mean(marks) > values.mean()
    figure.add_annotation(
        x=float(min(marks) if high else max(marks)),
        y=1,
        yref="paper",
        text=name,
        showarrow=False,
        xanchor="right" if high else "left",
        xshift=-6 if high else 6,
        font={"color": INK[mode]["ink"], "size": 13},
    )
    figure.update_layout(plotly_layout(mode, height=240, showlegend=False, margin=MARGIN))
    figure.update_xaxes(title_text=axis)
    return figure.update_yaxes(title_text="tokens")


def by_stage(
    names: Sequence[str],
    values: np.ndarray,
    others: np.ndarray,
    titles: tuple[str, str],
    axes: tuple[str, str],
    mode: Mode = "light",
) -> go.Figure:
    """Return a value after every stage as a line, and what it is between strangers, in grey.

    values, others: (S,). titles: of both lines. axes: the titles of both axes.
    """
    figure = go.Figure()
    lines = ((values, titles[0], "accent", 3), (others, titles[1], "residual", 1.5))
    for series, title, role, width in lines:
        figure.add_scatter(
            x=list(range(len(names))),
            y=np.asarray(series, dtype=float),
            name=title,
            mode="lines+markers",
            line={"color": role_color(role, mode), "width": width},
            marker={"size": 8 if width == 3 else 4},
            hovertemplate="%{y:.3f}",
        )
    figure.update_layout(
        plotly_layout(
            mode,
            height=350,
            hovermode="x unified",
            margin=MARGIN | {"t": 60},
            legend={"orientation": "h", "yanchor": "bottom", "y": 1.02, "x": 0},
        )
    )
    figure.update_xaxes(
        tickvals=list(range(len(names))),
        ticktext=list(names),
        title_text=axes[0],
        automargin=True,
    )
    low = float(np.nanmin([np.nanmin(values), np.nanmin(others), 0.0]))
    return figure.update_yaxes(title_text=axes[1], range=[low - 0.05, 1.05])
