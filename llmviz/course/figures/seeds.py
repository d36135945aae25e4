"""Measurements of a few values: a dot for each seed, the mean, and its interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from llmviz.course.figures.theme import LEGEND_ABOVE, Mode, chart_layout, role_color

APART = 0.09  # of the way to the next value: how far two seeds stand from each other


@dataclass(frozen=True)
class Dots:
    """One value: its name, its measurements by seed, half the height of its interval or None."""

    name: str
    measured: dict[int, float]
    half: float | None


def seed_dots(
    drawn: Sequence[Dots],
    axes: tuple[str, str],
    names: tuple[str, str, str, str, str],
    mode: Mode = "light",
    *,
    predicted: int | None = None,
) -> go.Figure:
    """Return dots at equal distances, one place for each value; seeds are joined across values.

    axes: what x and y are. names: of a run, of a seed (with a slot), of the mean, of the mean with
    its interval, of the value that was predicted. predicted: its place, which gets a ground.
    """
    seeds = sorted({seed for dots in drawn for seed in dots.measured})
    middle = (len(seeds) - 1) / 2
    accent, quiet = role_color("accent", mode), role_color("residual", mode)
    traces: list[dict[str, object]] = []
    for number, seed in enumerate(seeds):
        places = [place for place, dots in enumerate(drawn) if seed in dots.measured]
        traces.append(
            {
                "type": "scatter",
                "x": [place + APART * (number - middle) for place in places],
                "y": [drawn[place].measured[seed] for place in places],
                "name": names[0],
                "mode": "lines+markers",
                "line": {"color": quiet, "width": 1, "dash": "dot"},
                "marker": {"size": 8, "color": quiet},
                "showlegend": number == 0,
                "legendgroup": "seeds",
                "hovertemplate": f"{names[1].format(seed=seed)}: %{{y:.5g}}<extra></extra>",
            }
        )
    shown = [place for place, dots in enumerate(drawn) if dots.measured]
    halves = [drawn[place].half for place in shown]
    mean: dict[str, object] = {
        "type": "scatter",
        "x": shown,
        "y": [sum(m := drawn[place].measured.values()) / len(m) for place in shown],
        "name": names[3] if any(half is not None for half in halves) else names[2],
        "mode": "markers",
        "marker": {"size": 12, "color": accent, "symbol": "line-ew-open", "line": {"width": 3}},
        "hovertemplate": "%{fullData.name}: %{y:.5g}<extra></extra>",
    }
    if any(half is not None for half in halves):
        bars = [half or 0.0 for half in halves]
        mean["error_y"] = {
            "type": "data",
            "array": bars,
            "thickness": 2,
            "width": 8,
            "color": accent,
        }
    traces.append(mean)
    layout = chart_layout(
        axes,
        mode,
        height=380,
        margin={"l": 64, "r": 16, "t": 48, "b": 48},
        showlegend=True,
        legend=LEGEND_ABOVE,
    )
    layout["xaxis"] |= {
        "tickvals": list(range(len(drawn))),
        "ticktext": [dots.name for dots in drawn],
        "range": [-0.6, len(drawn) - 0.4],
        "showgrid": False,
        "zeroline": False,
    }
    if predicted is not None:
        layout["shapes"] = [
            {
                "type": "rect",
                "xref": "x",
                "yref": "paper",
                "x0": predicted - 0.4,
                "x1": predicted + 0.4,
                "y0": 0,
                "y1": 1,
                "fillcolor": role_color("query", mode),
                "opacity": 0.1,
                "line": {"width": 0},
                "layer": "below",
            }
        ]
        layout["annotations"] = [
            {
                "x": predicted,
                "y": 1,
                "yref": "paper",
                "yanchor": "top",
                "text": names[4],
                "showarrow": False,
                "font": {"size": 12},
            }
        ]
    return go.Figure(traces, layout)
