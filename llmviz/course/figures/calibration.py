"""Reliability: how often guesses were right by how sure the model was, and how many there were."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from llmviz.course.figures.theme import INK, LEGEND_ABOVE, Mode, chart_layout, role_color

_SPLIT = 0.24  # of the height: below it the counts


def reliability_chart(
    sure: np.ndarray,
    right: np.ndarray,
    counts: np.ndarray,
    names: tuple[str, str, str],
    axes: tuple[str, str],
    mode: Mode = "light",
) -> go.Figure:
    """Return the share that was right (B,) over how sure the model was (B,), above their counts.

    Empty bins have no point. names: of the points, of the diagonal where both are equal, and of the
    counts. axes: what x is, and what y is.
    """
    ink = INK[mode]
    full = counts > 0
    edges = np.linspace(0, 1, len(counts) + 1)
    middles = (edges[:-1] + edges[1:]) / 2
    texts = [
        f"{low:.0%} to {high:.0%}: {count:,}"
        for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True)
    ]
    traces = [
        {
            "type": "scatter",
            "x": [0, 1],
            "y": [0, 1],
            "mode": "lines",
            "name": names[1],
            "line": {"color": ink["muted"], "width": 1.2, "dash": "dot"},
            "hoverinfo": "skip",
        },
        {
            "type": "scatter",
            "x": sure[full].tolist(),
            "y": right[full].tolist(),
            "mode": "lines+markers",
            "name": names[0],
            "line": {"color": role_color("weights", mode), "width": 2.2},
            "marker": {"size": 9},
            "hovertemplate": "%{x:.1%} · %{y:.1%}<extra></extra>",
        },
        {
            "type": "bar",
            "x": middles.tolist(),
            "y": [int(count) for count in counts],
            "width": 0.9 / len(counts),
            "name": names[2],
            "yaxis": "y2",
            "showlegend": False,
            "marker": {"color": role_color("residual", mode), "line": {"width": 0}},
            "customdata": texts,
            "hovertemplate": "%{customdata}<extra></extra>",
        },
    ]
    layout = chart_layout(
        axes,
        mode,
        height=440,
        margin={"l": 56, "r": 16, "t": 40, "b": 46},
        legend=LEGEND_ABOVE | {"y": 1.02},
    )
    layout["xaxis"] |= {
        "range": [0, 1],
        "tickformat": ".0%",
        "anchor": "y2",
    }
    layout["yaxis2"] = layout["yaxis"] | {
        "domain": [0, _SPLIT - 0.05],
        "title": {"text": names[2], "standoff": 8},
        "nticks": 3,
    }
    layout["yaxis"] |= {
        "domain": [_SPLIT, 1],
        "range": [0, 1.02],
        "tickformat": ".0%",
    }
    return go.Figure(traces, layout)


def over_temperature(
    temperatures: Sequence[float],
    lines: Sequence[Sequence[float]],
    names: Sequence[str],
    chosen: float,
    fitted: tuple[float, str],
    axes: tuple[str, str],
    mode: Mode = "light",
) -> go.Figure:
    """Return lines over temperatures, with the chosen one marked and the fitted one named."""
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
