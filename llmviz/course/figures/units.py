"""Figures of a single unit: numbers and names in, Plotly figures out."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from llmviz.course.figures.bars import named_bars
from llmviz.course.figures.theme import POLES, Mode


def signed_bars(
    names: Sequence[str], values: Sequence[float], axis: str, mode: Mode = "light"
) -> go.Figure:
    """Return bars below each other, to the right where a value is above 0, else to the left.

    names and values: (N,) each; equal names stand for different bars all the same.
    """
    negative, positive = POLES[mode]["value"]
    most = 1.25 * max((abs(float(value)) for value in values), default=1.0) or 1.0
    return named_bars(
        names,
        [float(value) for value in values],
        [f"{value:+.2f}".replace("-", "−") for value in values],
        [positive if value > 0 else negative for value in values],
        {"title": {"text": axis, "standoff": 8}, "range": [-most, most]},
        mode,
        room=40,
    )
