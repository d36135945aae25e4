"""Figures of work that processes share: what lies where, what each does when, bytes held."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from llmviz.course.figures.theme import (
    INK,
    LEGEND_ABOVE,
    Mode,
    bare_layout,
    category_style,
    role_color,
)

ROW, TOP, BELOW = 24, 44, 52  # pixels: a row, and the room around all rows
TIME_ROW = 44


@dataclass(frozen=True)
class Segment:
    """A piece of a row: where it begins, how long it is, which colour, and what the pointer reads.

    group: a number; segments of one group have one colour.
    """

    row: str
    start: float
    length: float
    group: int
    text: str


def lying(
    rows: Sequence[str], segments: Sequence[Segment], whole: float, axis: str, mode: Mode = "light"
) -> go.Figure:
    """Return what of a whole lies in which row, over a pale bar for all of it.

    rows: from the top. whole: where each row ends. axis: what is along it.
    """
    pale = {
        "type": "bar",
        "orientation": "h",
        "x": [whole] * len(rows),
        "y": list(rows),
        "marker": {"color": INK[mode]["hair"], "line": {"width": 0}},
        "hoverinfo": "skip",
    }
    there = _bars(segments, [category_style(segment.group, mode)[0] for segment in segments], mode)
    height = TOP + BELOW + ROW * len(rows)
    return _rows([pale, there], rows, axis, height, mode, legend=False)


@dataclass(frozen=True)
class Stretch:
    """A stretch of time of a row: its kind, from when to when (milliseconds), what it is."""

    row: str
    kind: str
    start: float
    end: float
    text: str


def over_time(
    rows: Sequence[str],
    stretches: Sequence[Stretch],
    kinds: dict[str, str],
    axis: str,
    mode: Mode = "light",
) -> go.Figure:
    """Return a row for each process, with what it did over time.

    rows: from the top. kinds: the name of each kind, in the order of the legend.
    """
    traces = []
    for kind, name in kinds.items():
        own = [span for span in stretches if span.kind == kind]
        segments = [
            Segment(span.row, span.start, span.end - span.start, 0, span.text) for span in own
        ]
        color = _time_color(kind, mode)
        if own:
            traces.append(_bars(segments, color, mode) | {"name": name})
    height = TOP + BELOW + TIME_ROW * len(rows)
    return _rows(traces, rows, axis, height, mode, legend=True)


def _time_color(kind: str, mode: Mode) -> str:
    roles = {"forward": "query", "backward": "value", "update": "weights", "send": "accent"}
    return INK[mode]["line"] if kind not in roles else role_color(roles[kind], mode)


def _bars(segments: Sequence[Segment], color: str | Sequence[str], mode: Mode) -> dict:
    return {
        "type": "bar",
        "orientation": "h",
        "base": [segment.start for segment in segments],
        "x": [segment.length for segment in segments],
        "y": [segment.row for segment in segments],
        "marker": {"color": color, "line": {"width": 0.5, "color": INK[mode]["surface"]}},
        "customdata": [segment.text for segment in segments],
        "hovertemplate": "%{customdata}<extra></extra>",
    }


def _rows(
    traces: list[dict], rows: Sequence[str], axis: str, height: int, mode: Mode, legend: bool
) -> go.Figure:
    layout = bare_layout(
        mode,
        barmode="overlay",
        bargap=0.2,
        height=height,
        showlegend=legend,
        margin={"l": 8, "r": 16, "t": TOP if legend else 8, "b": BELOW},
        legend=LEGEND_ABOVE,
    )
    title = {"text": axis, "standoff": 8, "font": {"color": INK[mode]["ink"]}}
    layout["xaxis"] |= {"title": title, "rangemode": "tozero"}
    layout["yaxis"] |= {
        "categoryorder": "array",
        "categoryarray": list(reversed(rows)),
        "ticks": "",
        "showgrid": False,
    }
    return go.Figure(traces, layout)


def held(
    names: Sequence[str],
    parts: Mapping[str, Sequence[float]],
    axis: str,
    mode: Mode = "light",
    *,
    limit: float | None = None,
    limit_name: str = "",
    chosen: int | None = None,
) -> go.Figure:
    """Return stacked bars: for each name, how much of each part.

    parts: name of a part -> a value for each of the names. limit: a dashed line, and what it is.
    chosen: the bar that is drawn in full colour, the others paler; None for all.
    """
    roles = ("query", "key", "weights", "value")
    opacity = [1.0 if chosen in (None, number) else 0.45 for number in range(len(names))]
    traces: list[dict] = [
        {
            "type": "bar",
            "x": list(names),
            "y": [float(value) for value in values],
            "name": part,
            "marker": {"color": role_color(role, mode), "opacity": opacity},
            "hovertemplate": "%{y:,.4~g}",
        }
        for role, (part, values) in zip(roles, parts.items(), strict=False)
    ]
    layout = bare_layout(
        mode,
        barmode="stack",
        height=320,
        hovermode="x unified",
        margin={"l": 56, "r": 16, "t": TOP, "b": BELOW},
        legend=LEGEND_ABOVE,
    )
    layout["yaxis"] |= {"title": {"text": axis, "standoff": 8, "font": {"color": INK[mode]["ink"]}}}
    if limit is not None:
        line = {"color": role_color("accent", mode), "width": 2, "dash": "dash"}
        traces.append(
            {
                "type": "scatter",
                "mode": "lines",
                "x": list(names),
                "y": [limit] * len(names),
                "name": limit_name,
                "line": line,
                "hovertemplate": "%{y:,.4~g}",
            }
        )
    return go.Figure(traces, layout)
