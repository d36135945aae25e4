"""Figures of the chapter on backpropagation: arrays and labels in, plotly figures out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from llmviz.course.figures.theme import Mode, plotly_layout, role_color


def differences(
    steps: Sequence[float],
    errors: Mapping[str, Sequence[float]],
    axes: tuple[str, str],
    mode: Mode = "light",
) -> go.Figure:
    """Return how far measured slopes are from the exact one, against the step, both logarithmic.

    ``errors`` has one line a name; zeros have no place on a logarithmic axis and are left out.
    """
    figure = go.Figure()
    for (name, values), role in zip(errors.items(), ("query", "key"), strict=False):
        points = [(x, y) for x, y in zip(steps, values, strict=True) if y > 0]
        figure.add_scatter(
            x=[x for x, _ in points],
            y=[y for _, y in points],
            name=name,
            mode="lines+markers",
            line={"color": role_color(role, mode), "width": 2},
            marker={"size": 7},
            hovertemplate=f"{name}, ε = %{{x:.0e}}: %{{y:.1e}}<extra></extra>",
        )
    figure.update_layout(**plotly_layout(mode, height=320, showlegend=True))
    figure.update_layout(margin={"l": 72, "r": 16, "t": 44, "b": 48})
    figure.update_xaxes(type="log", title_text=axes[0], dtick=1, exponentformat="power")
    return figure.update_yaxes(type="log", title_text=axes[1], dtick=2, exponentformat="power")
