"""Figures of the chapter on descent: arrays and labels in, plotly figures out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from llmviz.course.figures.theme import INK, Mode, plotly_layout, role_color


def race(
    curves: Mapping[str, tuple[Sequence[int], Sequence[float]]],
    roles: Mapping[str, str],
    axes: tuple[str, str],
    mode: Mode = "light",
) -> go.Figure:
    """Return loss curves, each (steps, losses), one colour a name; every point is drawn.

    ``roles`` gives each name's colour by role, or "ink".
    """
    figure = go.Figure()
    for name, (steps, losses) in curves.items():
        role = roles[name]
        color = INK[mode]["ink"] if role == "ink" else role_color(role, mode)
        figure.add_scatter(
            x=list(steps),
            y=list(losses),
            name=name,
            mode="lines",
            line={"color": color, "width": 1.6},
            hovertemplate=f"{name}<br>step %{{x}}: %{{y:.3f}}<extra></extra>",
        )
    figure.update_layout(**plotly_layout(mode, height=400))
    # Below the axis, where its lines on a narrow screen take room from nothing.
    figure.update_layout(
        margin={"l": 60, "r": 16, "t": 16, "b": 48}, legend={"y": -0.2, "yanchor": "top"}
    )
    figure.update_xaxes(title_text=axes[0])
    return figure.update_yaxes(title_text=axes[1])
