"""Figures of the residual stream: numbers and names in, Plotly figures out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from llmviz.course.figures import theme

PART_ROLES = {
    "token": "residual",
    "position": "residual",
    "head": "weights",
    "attention": "weights",
    "attention_bias": "accent",
    "mlp": "value",
    "mlp_bias": "accent",
    "norm_shift": "accent",
}


def waterfall(
    names: Sequence[str],
    values: Sequence[float],
    kinds: Sequence[str],
    total: str,
    mode: theme.Mode = "light",
) -> go.Figure:
    """Return parts that add up, each bar beginning where the one above it ends; last their sum.

    kinds: of `PART_ROLES`, which give the colours; a part below zero is drawn pale.
    """
    ink = theme.INK[mode]
    steps = np.asarray(values, dtype=float)
    ends = steps.cumsum()
    starts = ends - steps
    last = float(ends[-1]) if len(ends) else 0.0
    colors = [theme.role_color(PART_ROLES[kind], mode) for kind in kinds]
    bars = {
        "type": "bar",
        "orientation": "h",
        "y": [*names, total],
        "x": [*steps.tolist(), last],
        "base": [*starts.tolist(), 0.0],
        "marker": {
            "color": [*colors, ink["ink"]],
            "opacity": [*(0.45 if step < 0 else 1.0 for step in steps), 1.0],
            "line": {"width": 0},
        },
        # With an opacity for each bar, Plotly has no style of its own for a bar that is clicked.
        "selected": {"marker": {"opacity": 1.0}},
        "unselected": {"marker": {"opacity": 0.45}},
        "text": [f"{step:+.2f}".replace("-", "−") for step in [*steps, last]],
        "textposition": "outside",
        "cliponaxis": False,
        "customdata": [*ends.tolist(), last],
        "hovertemplate": "%{y}: %{text}<br>so far %{customdata:.2f}<extra></extra>",
    }
    # A line from the end of each bar to the beginning of the next.
    links = [
        {
            "type": "line",
            "xref": "x",
            "yref": "y",
            "x0": end,
            "x1": end,
            "y0": i + 0.36,
            "y1": i + 0.64,
            "line": {"color": ink["muted"], "width": 1},
        }
        for i, end in enumerate(ends.tolist())
    ]
    spread = [0.0, *starts.tolist(), *ends.tolist()]
    room = 0.13 * ((max(spread) - min(spread)) or 1.0)
    layout = theme.bare_layout(
        mode,
        height=70 + 23 * (len(names) + 1),
        bargap=0.28,
        margin={"l": 8, "r": 12, "t": 8, "b": 36},
        showlegend=False,
        shapes=links,
    )
    layout["xaxis"] |= {"range": [min(spread) - 1.4 * room, max(spread) + room]}
    layout["yaxis"] |= {"autorange": "reversed", "ticks": "", "showgrid": False}
    return go.Figure([bars], layout)


def three_bars(
    labels: Sequence[str],
    series: Sequence[Sequence[float]],
    names: Sequence[str],
    mode: theme.Mode = "light",
) -> go.Figure:
    """Return probabilities of the same tokens three times: grey, violet and green bars.

    labels: (N,); series: three of (N,), from 0 to 1; names: one for each.
    """
    traces = [
        {
            "type": "bar",
            "x": list(range(len(labels))),
            "y": [float(value) for value in values],
            "name": name,
            "marker": {"color": theme.role_color(role, mode), "line": {"width": 0}},
            "hovertemplate": "%{y:.1%}",
        }
        for values, name, role in zip(series, names, ("residual", "weights", "value"), strict=True)
    ]
    layout = theme.bare_layout(
        mode,
        height=300,
        barmode="group",
        bargap=0.3,
        margin={"l": 40, "r": 12, "t": 44, "b": 40},
        legend=theme.LEGEND_ABOVE,
    )
    layout["xaxis"] |= {"tickvals": list(range(len(labels))), "ticktext": list(labels)}
    layout["yaxis"] |= {"rangemode": "tozero", "tickformat": "~%"}
    return go.Figure(traces, layout)


def over_points(
    series: Sequence[Sequence[float]],
    names: Sequence[str],
    axes: tuple[str, str],
    mode: theme.Mode = "light",
    *,
    logarithmic: bool = False,
) -> go.Figure:
    """Return lines over the points 0, 1, …, the first in violet, the others in grey.

    series: each (P,). On a logarithmic axis what is not above 0 and finite is left out.
    """
    roles = ["weights", *["residual"] * (len(series) - 1)]
    traces = []
    for values, name, role in zip(series, names, roles, strict=True):
        heights = np.asarray(values, dtype=float)
        good = np.isfinite(heights) & ((heights > 0) | (not logarithmic))
        traces.append(
            {
                "type": "scatter",
                "x": np.flatnonzero(good).tolist(),
                "y": heights[good].tolist(),
                "name": name,
                "mode": "lines+markers",
                "line": {"color": theme.role_color(role, mode), "width": 2.5},
                "marker": {"size": 6},
                "hovertemplate": "%{y:.2e}",
            }
        )
    margin = {"l": 56, "r": 16, "t": 40, "b": 44}
    layout = theme.chart_layout(axes, mode, height=340, hovermode="x unified", margin=margin)
    if logarithmic:
        layout["yaxis"] |= {"type": "log", "exponentformat": "power", "nticks": 8}
    return go.Figure(traces, layout)


def stacked(
    labels: Sequence[str],
    series: Sequence[Sequence[float]],
    names: Sequence[str],
    roles: Sequence[str],
    axis: str,
    mode: theme.Mode = "light",
) -> go.Figure:
    """Return bars on top of each other, those below zero downwards.

    labels: (N,); series: each (N,), with a name and a role of the theme for each.
    """
    traces = [
        {
            "type": "bar",
            "x": list(labels),
            "y": list(values),
            "name": name,
            "marker": {"color": theme.role_color(role, mode), "line": {"width": 0}},
            "hovertemplate": f"{name} %{{y:.3f}}<extra></extra>",
        }
        for values, name, role in zip(series, names, roles, strict=True)
    ]
    layout = theme.bare_layout(
        mode,
        height=320,
        barmode="relative",
        bargap=0.35,
        margin={"l": 48, "r": 12, "t": 44, "b": 60},
        showlegend=len(traces) > 1,
        legend=theme.LEGEND_ABOVE,
    )
    layout["yaxis"] |= {"title": {"text": axis, "standoff": 8}}
    return go.Figure(traces, layout)
