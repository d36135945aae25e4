"""Figures of the lesson on fine-tuning: arrays and labels in, plotly figures out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from llmviz.course.figures import theme

HEIGHT = 420
SYMBOLS = ("circle", "square", "diamond", "triangle-up")


def areas(
    parts: Sequence[tuple[str, str, int, str]],
    names: Mapping[str, str],
    whole: str,
    unit: str,
    mode: theme.Mode = "light",
) -> go.Figure:
    """Return numbers as areas: each part a rectangle as large as its count.

    parts: (group, label, count, state) of each. names: what the states are called; they are the
    grey, the blue and the brown of the picture, in this order. whole: what all of it is called.
    """
    ink, (brown, blue) = theme.INK[mode], theme.POLES[mode]["neutral"]
    colours = dict(zip(names, (ink["line"], blue, brown), strict=True))
    texts = dict(zip(names, (ink["ink"], ink["surface"], ink["surface"]), strict=True))
    groups = list(dict.fromkeys(group for group, *_ in parts))
    totals = {group: sum(count for own, _, count, _ in parts if own == group) for group in groups}
    ids = ["", *groups, *(f"{group}/{label}/{state}" for group, label, _, state in parts)]
    raised = ink["raised"]
    areas = {
        "type": "treemap",
        "ids": ids,
        "labels": [whole, *groups, *(label for _, label, _, _ in parts)],
        "parents": [None, *([""] * len(groups)), *(group for group, *_ in parts)],
        "values": [sum(totals.values()), *totals.values(), *(count for _, _, count, _ in parts)],
        "branchvalues": "total",
        "sort": False,
        "marker": {
            "colors": [raised, *([raised] * len(groups)), *(colours[s] for *_, s in parts)],
            "line": {"width": 1, "color": ink["surface"]},
            "pad": {"t": 22, "l": 4, "r": 4, "b": 4},
        },
        "textfont": {
            "color": [ink["ink"]] * (1 + len(groups)) + [texts[state] for *_, state in parts]
        },
        "customdata": [""] * (1 + len(groups)) + [names[state] for *_, state in parts],
        "texttemplate": "%{label}<br>%{value:,}",
        "hovertemplate": f"%{{label}}<br>%{{value:,}} {unit}<br>%{{customdata}}<extra></extra>",
        "pathbar": {"visible": False},
        "tiling": {"pad": 2},
    }
    keys = [_key(names[state], colour, ink["muted"]) for state, colour in colours.items()]
    layout = theme.bare_layout(
        mode,
        height=HEIGHT,
        margin={"l": 0, "r": 0, "t": 34, "b": 4},
        legend=theme.LEGEND_ABOVE | {"y": 1.01, "itemclick": False},
        showlegend=True,
    )
    for axis in ("xaxis", "yaxis"):
        layout[axis] = {"visible": False}
    return go.Figure([areas, *keys], layout)


def _key(name: str, colour: str, line: str) -> dict[str, Any]:
    """An entry of a legend for what the library gives none: a line without a point."""
    marker = {"color": colour, "symbol": "square", "size": 12, "line": {"width": 1, "color": line}}
    return {"type": "scatter", "x": [None], "y": [None], "mode": "markers", "name": name} | {
        "marker": marker,
        "hoverinfo": "skip",
    }


def learning_curve(
    steps: Sequence[int],
    loss: Sequence[float],
    measured: Sequence[tuple[int, float]],
    names: tuple[str, str],
    axes: tuple[str, str],
    last: int,
    mode: theme.Mode = "light",
) -> go.Figure:
    """Return a loss step by step, and where it was measured on other texts.

    steps (N,), loss (N,); measured: (step, loss) pairs; names: of the two; last: the step at which
    the axis ends, so that it stands still while the curve grows.
    """
    traces = [
        {
            "type": "scatter",
            "mode": "lines",
            "x": list(steps),
            "y": list(loss),
            "name": names[0],
            "line": {"color": theme.role_color("loss", mode), "width": 1.6},
            "hovertemplate": "%{y:.3f}",
        },
        {
            "type": "scatter",
            "mode": "lines+markers",
            "x": [step for step, _ in measured],
            "y": [value for _, value in measured],
            "name": names[1],
            "line": {"color": theme.POLES[mode]["neutral"][0], "width": 1.6, "dash": "dot"},
            "marker": {"size": 7, "symbol": "square"},
            "hovertemplate": "%{y:.3f}",
        },
    ]
    layout = _lines_layout(axes, 260, mode)
    layout["xaxis"] |= {"range": [0, last]}
    layout["yaxis"] |= {"rangemode": "tozero"}
    return go.Figure(traces, layout)


def bands(
    counts: Sequence[int],
    ways: Sequence[tuple[str, Sequence[float], Sequence[float], Sequence[float]]],
    guess: tuple[str, float],
    axes: tuple[str, str],
    mode: theme.Mode = "light",
) -> go.Figure:
    """Return shares against counts, each way a line inside the band from its lowest to its highest.

    ways: (name, lowest, mean, highest), each of the length of `counts`, from 0 to 1. guess: the
    name and the height of a line to compare with. Counts are on an axis of powers of ten.
    """
    ink, traces = theme.INK[mode], []
    for number, (name, lowest, mean, highest) in enumerate(ways):
        colour, _ = theme.category_style(number, mode)
        band = {"type": "scatter", "mode": "lines", "hoverinfo": "skip", "showlegend": False}
        band |= {"x": [*counts, *reversed(counts)], "y": [*highest, *reversed(lowest)]}
        band |= {"fill": "toself", "fillcolor": _faint(colour), "line": {"width": 0}}
        line: dict[str, Any] = {"type": "scatter", "mode": "lines+markers", "name": name}
        line |= {"x": list(counts), "y": list(mean), "hovertemplate": "%{y:.1%}"}
        line |= {"line": {"color": colour, "width": 2}}
        line |= {"marker": {"size": 8, "symbol": SYMBOLS[number % len(SYMBOLS)]}}
        traces += [band, line]
    traces.append(
        {
            "type": "scatter",
            "mode": "lines",
            "x": [counts[0], counts[-1]],
            "y": [guess[1]] * 2,
            "name": guess[0],
            "line": {"color": ink["muted"], "width": 1, "dash": "dash"},
            "hovertemplate": "%{y:.1%}",
        }
    )
    layout = _lines_layout(axes, 380, mode)
    ticks = {"tickvals": list(counts), "ticktext": [f"{count:,}" for count in counts]}
    layout["xaxis"] |= {"type": "log", **ticks}
    layout["yaxis"] |= {"tickformat": "~%"}
    return go.Figure(traces, layout)


def _lines_layout(axes: tuple[str, str], height: int, mode: theme.Mode) -> dict[str, Any]:
    margin = {"l": 52, "r": 12, "t": 48, "b": 46}
    return theme.chart_layout(axes, mode, height=height, margin=margin, hovermode="x unified")


def _faint(colour: str) -> str:
    """A colour (#RRGGBB) that lets through most of what is below it."""
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.16)"
