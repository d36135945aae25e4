"""Several scores from 0 to 1 for each name, as marks in one row: a dot plot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from llmviz.course.figures.theme import (
    LEGEND_ABOVE,
    PLOTLY_SHAPES,
    Mode,
    bare_layout,
    category_style,
)


def scored_rows(
    names: Sequence[str], scores: Mapping[str, Sequence[float]], axis: str, mode: Mode = "light"
) -> go.Figure:
    """Return one row for each name (N,), and in it a mark for each of some kinds of score.

    scores: the numbers (N,) of a kind by its name in the legend. axis: what the numbers are.
    """
    rows = list(range(len(names)))
    traces = []
    for number, (kind, values) in enumerate(scores.items()):
        colour, shape = category_style(number, mode)
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": kind,
                "x": [float(value) for value in values],
                "y": rows,
                "customdata": list(names),
                "marker": {
                    "color": colour,
                    "size": 10,
                    "symbol": PLOTLY_SHAPES.get(shape, shape),
                },
                "hovertemplate": "%{customdata}: %{x:.2f}",
            }
        )
    layout = bare_layout(
        mode,
        height=110 + 24 * len(rows),
        margin={"l": 8, "r": 16, "t": 48, "b": 44},
        legend=LEGEND_ABOVE | {"y": 1.0},
    )
    layout["xaxis"] |= {"title": {"text": axis, "standoff": 8}, "range": [-0.02, 1.04]}
    layout["yaxis"] |= {
        "range": [len(rows) - 0.4, -0.6],
        "tickvals": rows,
        "ticktext": list(names),
        "ticks": "",
        "zeroline": False,
        "showgrid": True,
    }
    return go.Figure(traces, layout)
