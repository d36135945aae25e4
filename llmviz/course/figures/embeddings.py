"""Figures of the lesson on embeddings: arrays and labels in, Plotly figures out.

Labels come with their markup taken away; they are drawn as they are.
"""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from llmviz.course.figures.theme import LEGEND_ABOVE, Mode, chart_layout, role_color

MARGIN = {"l": 58, "r": 16, "t": 28, "b": 46}


def by_stage(
    names: Sequence[str],
    values: np.ndarray,
    others: np.ndarray,
    titles: tuple[str, str],
    axes: tuple[str, str],
    mode: Mode = "light",
) -> go.Figure:
    """Return a value after every stage as a line, and what it is between unrelated tokens, in grey.

    values, others: (S,). titles: of both lines. axes: the titles of both axes.
    """
    traces = []
    lines = ((values, titles[0], "accent", 3), (others, titles[1], "residual", 1.5))
    for series, title, role, width in lines:
        traces.append(
            {
                "type": "scatter",
                "x": list(range(len(names))),
                "y": np.asarray(series, dtype=float),
                "name": title,
                "mode": "lines+markers",
                "line": {"color": role_color(role, mode), "width": width},
                "marker": {"size": 8 if width == 3 else 4},
                "hovertemplate": "%{y:.3f}",
            }
        )
    layout = chart_layout(
        axes,
        mode,
        height=350,
        hovermode="x unified",
        margin=MARGIN | {"t": 60},
        legend=LEGEND_ABOVE | {"y": 1.02},
    )
    low = float(np.nanmin([np.nanmin(values), np.nanmin(others), 0.0]))
    layout["xaxis"] |= {"tickvals": list(range(len(names))), "ticktext": list(names)}
    layout["yaxis"] |= {"range": [low - 0.05, 1.05]}
    return go.Figure(traces, layout)
