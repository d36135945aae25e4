"""Figures of losses, over a text and over one weight: arrays and labels in, plotly figures out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from llmviz.course.figures.theme import INK, POLES, Mode, plotly_layout, role_color


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


def compared(
    names: Sequence[str],
    values: Sequence[float],
    chosen: int,
    axis: str,
    mode: Mode = "light",
    *,
    digits: int = 3,
) -> go.Figure:
    """Return numbers as bars that lie below each other, the one called `chosen` in full colour."""
    negative, positive = POLES[mode]["neutral"]
    colors = [positive if i == 0 else INK[mode]["line"] for i in range(len(names))]
    colors[chosen] = negative if chosen else positive
    texts = [f"{v:,.{digits}f}" if v < 1e5 or not digits else f"{v:.1e}" for v in values]
    bars = {
        "type": "bar",
        "x": list(values),
        "y": list(names),
        "orientation": "h",
        "marker": {"color": colors, "line": {"width": 0}},
        "text": texts,
        "textposition": "outside",
        "cliponaxis": False,
        "hovertemplate": f"%{{y}}: %{{x:,.{digits + (digits > 0)}f}}<extra></extra>",
    }
    layout = plotly_layout(
        mode,
        height=86 + 34 * len(names),
        bargap=0.45,
        margin={"l": 8, "r": 56, "t": 8, "b": 44},
    )
    layout["xaxis"] |= {"title": {"text": axis, "standoff": 8}, "type": "linear"}
    layout["yaxis"] |= {"autorange": "reversed", "automargin": True, "ticks": "", "showgrid": False}
    return go.Figure([bars], layout)
