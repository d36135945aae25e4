"""Figures of words and their roles: numbers and names in, Plotly figures out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from llmviz.course.figures.bars import named_bars
from llmviz.course.figures.theme import (
    INK,
    Mode,
    chart_layout,
    role_color,
)

FEW = 12  # counts up to which each has a tick
SHORT = 30  # times that an axis by powers of ten grows, below which these alone are too few ticks


def count_bars(
    names: Sequence[str], counts: Sequence[int], axis: str, mode: Mode = "light"
) -> go.Figure:
    """Return counts as bars below each other, in the order given.

    names and counts: (N,) each; equal names stand for different bars all the same.
    """
    about: dict[str, Any] = {"title": {"text": axis, "standoff": 8}, "rangemode": "tozero"}
    if max(counts, default=0) <= FEW:  # no fractions between whole numbers
        about["dtick"] = 1
    return named_bars(
        names,
        counts,
        [f"{count:,}" for count in counts],
        role_color("weights", mode),
        about,
        mode,
        hover="%{customdata}: %{x:,}<extra></extra>",
    )


def rank_and_count(
    names: Sequence[str],
    ranks: Sequence[int],
    counts: Sequence[int],
    line: tuple[float, float],
    axes: tuple[str, str],
    line_name: str,
    mode: Mode = "light",
) -> go.Figure:
    """Return words by rank and count, both axes logarithmic, with the line through them.

    names, ranks, counts: (N,), the most frequent first. line: (slope, intercept) of ln count over
    ln rank.
    """
    ends = np.array([1.0, float(ranks[-1])])
    slope, intercept = line
    traces = [
        {
            "type": "scatter",
            "mode": "markers",
            "x": list(ranks),
            "y": list(counts),
            "customdata": list(names),
            "marker": {"color": role_color("weights", mode), "size": 6, "opacity": 0.7},
            "hovertemplate": "%{customdata}: rank %{x:,}, count %{y:,}<extra></extra>",
            "showlegend": False,
        },
        {
            "type": "scatter",
            "mode": "lines",
            "x": ends.tolist(),
            "y": np.exp(intercept + slope * np.log(ends)).tolist(),
            "name": line_name,
            "line": {"color": INK[mode]["ink"], "width": 1.5, "dash": "dash"},
            "hoverinfo": "skip",
        },
    ]
    margin = {"l": 8, "r": 16, "t": 36, "b": 44}
    layout = chart_layout(axes, mode, height=360, margin=margin, showlegend=True)
    spans = (ranks[-1] / ranks[0], counts[0] / counts[-1])
    for axis, span in zip(("xaxis", "yaxis"), spans, strict=True):
        layout[axis] |= {"type": "log", "dtick": "D2" if span < SHORT else 1}  # at 2 and 5, too
    return go.Figure(traces, layout)
