"""Figures of the chapter on positions: arrays and labels in, Plotly figure out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from llmviz.figures.theme import INK, POLES, Mode, plotly_layout, role_color

MARGIN = {"l": 96, "r": 16, "t": 64, "b": 44}


def before_and_after(
    labels: Sequence[str],
    before: np.ndarray,
    after: np.ndarray,
    names: tuple[str, str],
    title: str,
    limit: float,
    mode: Mode = "light",
) -> go.Figure:
    """Return probabilities before and after a change as bars, the first token on top.

    ``before`` and ``after`` (N,) belong to ``labels``; ``limit`` is the end of the axis.
    """
    colors = (POLES[mode]["neutral"][1], role_color("accent", mode))
    traces = [
        {
            "type": "bar",
            "x": np.asarray(values, dtype=float),
            "y": list(range(len(labels))),
            "orientation": "h",
            "name": name,
            "marker": {"color": color},
            "customdata": list(labels),
            "hovertemplate": "%{customdata}, " + name + ": %{x:.1%}<extra></extra>",
        }
        for name, values, color in zip(names, (before, after), colors, strict=True)
    ]
    layout = plotly_layout(
        mode,
        height=64 + 44 + 34 * len(labels),
        margin=MARGIN,
        barmode="group",
        bargap=0.3,
        title={"text": title, "font": {"size": 15}, "x": 0, "y": 0.98, "yanchor": "top"},
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        template=None,  # its colours are all replaced, and it takes 8 ms a figure
    )
    layout["xaxis"] |= {
        "title": {"text": "probability of the next word", "standoff": 8},
        "tickformat": ".0%",
        "range": [0, limit],
    }
    layout["yaxis"] |= {
        "tickvals": list(range(len(labels))),
        "ticktext": list(labels),
        "autorange": "reversed",
        "ticks": "",
        "gridcolor": INK[mode]["surface"],
    }
    return go.Figure(traces, layout)
