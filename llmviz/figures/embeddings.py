"""Figures of the lesson on embeddings: arrays and labels in, Plotly figures out.

Labels come with their markup taken away; they are drawn as they are.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go

from llmviz.figures.theme import INK, Mode, plotly_layout, role_color

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
