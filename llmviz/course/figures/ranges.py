"""Lines whose points are means of several runs, with the range of the runs at each point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from llmviz.course.figures.adapters import HEIGHT
from llmviz.course.figures.theme import Mode, chart_layout, role_color


@dataclass(frozen=True)
class Ranged:
    """One line: its name, its role in the theme, and its values: a row for each run."""

    name: str
    role: str
    runs: Sequence[Sequence[float]]
    dashed: bool = False


def ranged_lines(
    at: Sequence[int | str],
    drawn: Sequence[Ranged],
    axes: tuple[str, str],
    mode: Mode = "light",
    *,
    shares: bool = False,
) -> go.Figure:
    """Return lines over counts, which stand at equal distances; each point from lowest to highest.

    at: the counts, or names. axes: what x and y are. shares: y goes from 0 to 1, in percent.
    """
    layout = chart_layout(
        axes,
        mode,
        height=HEIGHT,
        hovermode="x unified",
        margin={"l": 56, "r": 16, "t": 40, "b": 44},
        showlegend=True,
    )
    layout["xaxis"] |= {"type": "category"}
    layout["yaxis"] |= (
        {"range": [0, 1.04], "tickformat": "~%"} if shares else {"rangemode": "tozero"}
    )
    return go.Figure([_trace(at, line, mode, shares) for line in drawn], layout)


def _trace(at: Sequence[int | str], line: Ranged, mode: Mode, shares: bool) -> dict[str, object]:
    columns = list(zip(*line.runs, strict=True))
    means = [sum(column) / len(column) for column in columns]
    return {
        "type": "scatter",
        "x": [place if isinstance(place, str) else f"{place:,}" for place in at],
        "y": means,
        "name": line.name,
        "mode": "lines+markers",
        "line": {
            "color": role_color(line.role, mode),
            "width": 2.2,
            "dash": "dot" if line.dashed else "solid",
        },
        "marker": {"size": 7},
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": [max(each) - mean for each, mean in zip(columns, means, strict=True)],
            "arrayminus": [mean - min(each) for each, mean in zip(columns, means, strict=True)],
            "thickness": 1.5,
            "width": 4,
        },
        "hovertemplate": "%{y:.1%}" if shares else "%{y:.2f}",
    }
