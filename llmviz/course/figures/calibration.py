"""Reliability: how often guesses were right by how sure the model was, and how many there were."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from llmviz.course.figures.theme import INK, LEGEND_ABOVE, Mode, chart_layout, role_color


def over_temperature(
    temperatures: Sequence[float],
    lines: Sequence[Sequence[float]],
    names: Sequence[str],
    chosen: float,
    fitted: tuple[float, str],
    axes: tuple[str, str],
    mode: Mode = "light",
) -> go.Figure:
    ink = INK[mode]
    traces = [
        {
            "type": "scatter",
            "x": list(temperatures),
            "y": list(values),
            "mode": "lines+markers",
            "name": name,
            "line": {"color": role_color(role, mode), "width": 2.2},
            "marker": {"size": 5},
            "hovertemplate": "%{y:.2%}",
        }
        for values, name, role in zip(lines, names, ("weights", "value"), strict=False)
    ]
    layout = chart_layout(
        axes,
        mode,
        height=300,
        hovermode="x unified",
        margin={"l": 56, "r": 16, "t": 44, "b": 46},
        legend=LEGEND_ABOVE | {"y": 1.02},
    )
    for place, dash in ((chosen, "solid"), (fitted[0], "dot")):
        layout.setdefault("shapes", []).append(
            {
                "type": "line",
                "yref": "paper",
                "x0": place,
                "x1": place,
                "y0": 0,
                "y1": 1,
                "line": {"color": ink["muted"], "width": 1.2, "dash": dash},
            }
        )
    layout["annotations"] = [
        {
            "x": fitted[0],
            "yref": "paper",
            "y": 1,
            "yanchor": "top",
            "xanchor": "left",
            "text": fitted[1],
            "showarrow": False,
            "font": {"size": 12, "color": ink["muted"]},
        }
    ]
    layout["yaxis"] |= {"rangemode": "tozero", "tickformat": ".0%"}
    return go.Figure(traces, layout)
