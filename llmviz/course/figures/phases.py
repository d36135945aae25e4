"""A chart of phases: a table of kinds over two logarithmic axes. Arrays in, a Plotly figure out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from llmviz.course.figures.theme import INK, LEGEND_ABOVE, Mode, bare_layout, role_color


def phase_chart(
    x: np.ndarray,
    y: np.ndarray,
    kinds: np.ndarray,
    names: Sequence[str],
    roles: Sequence[str],
    axes: tuple[str, str],
    here: tuple[float, float, str],
    mode: Mode = "light",
) -> go.Figure:
    """Return a table of kinds (X, Y) as colours, and a mark at one place.

    names, roles: of each kind; a kind that is not in the table is not in the legend. here: x, y and
    the name of the mark.
    """
    count = len(names)
    colours = [role_color(role, mode) for role in roles]
    scale = [[edge / count, colour] for k, colour in enumerate(colours) for edge in (k, k + 1)]
    heat = {
        "type": "heatmap",
        "x": np.log10(x).tolist(),
        "y": np.log10(y).tolist(),
        "z": kinds.T.tolist(),
        "zmin": -0.5,
        "zmax": count - 0.5,
        "colorscale": scale,
        "showscale": False,
        "xgap": 1,
        "ygap": 1,
        "hoverinfo": "skip",
    }
    legend = [
        {
            "type": "scatter",
            "x": [None],
            "y": [None],
            "mode": "markers",
            "name": names[kind],
            "marker": {"symbol": "square", "size": 12, "color": colours[kind]},
        }
        for kind in sorted(set(kinds.ravel().tolist()))
    ]
    mark = {
        "type": "scatter",
        "x": [float(np.log10(here[0]))],
        "y": [float(np.log10(here[1]))],
        "mode": "markers",
        "name": here[2],
        "marker": {
            "symbol": "circle-open",
            "size": 14,
            "color": INK[mode]["ink"],
            "line": {"width": 3, "color": INK[mode]["ink"]},
        },
        "hoverinfo": "skip",
    }
    layout = bare_layout(
        mode,
        height=420,
        margin={"l": 60, "r": 16, "t": 70, "b": 46},
        legend=LEGEND_ABOVE,
        showlegend=True,
    )
    for axis, title, values in zip(("xaxis", "yaxis"), axes, (x, y), strict=True):
        low, high = float(np.log10(values.min())), float(np.log10(values.max()))
        powers = np.arange(np.ceil(low - 1e-9), np.floor(high + 1e-9) + 1)
        half = (high - low) / (len(values) - 1) / 2
        layout[axis] |= {
            "title": {"text": title, "standoff": 8},
            "tickvals": powers.tolist(),
            "ticktext": [f"{10**power:g}" for power in powers],
            "range": [low - half, high + half],
            "showgrid": False,
            "zeroline": False,
        }
    return go.Figure([heat, *legend, mark], layout)
