"""Figures of the lesson on sampling: arrays in, Plotly figure out."""

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from llmviz.course.figures.theme import INK, LEGEND_ABOVE, POLES, Mode, plotly_layout, role_color

MARGIN = {"l": 70, "r": 16, "t": 44, "b": 44}
BARE = {"template": "none"}  # all colours are set here: the default one only travels along


def _layout(
    title: str,
    mode: Mode,
    xaxis: dict[str, Any],
    yaxis: dict[str, Any],
    *,
    legend: dict[str, Any] | None = None,
    **more: Any,
) -> dict[str, Any]:
    """Return a layout with a title above everything, and room for a legend where there is one."""
    ink = INK[mode]["ink"]
    head = {"text": title, "font": {"size": 14, "color": ink}, "x": 0, "xanchor": "left"}
    head |= {"y": 1, "yanchor": "top", "yref": "container", "pad": {"t": 8, "l": 8}}
    layout = plotly_layout(
        mode,
        title=head,
        margin=MARGIN | {"t": 40 if legend is None else 62},
        showlegend=legend is not None,
        legend=LEGEND_ABOVE | (legend or {}),
        **more,
    )
    for name, axis in (("xaxis", xaxis), ("yaxis", yaxis)):
        layout[name] |= axis | {"title": {"standoff": 8, "text": axis["title"]}}
    return layout | BARE


def _mark(temperature: float, mode: Mode) -> dict[str, Any]:
    """Return the upright line at a temperature."""
    at = {"type": "line", "xref": "x", "yref": "y domain", "y0": 0, "y1": 1}
    line = {"color": role_color("accent", mode), "width": 2}
    return at | {"x0": temperature, "x1": temperature, "line": line}


def chances(
    temperatures: Sequence[float],
    curves: Mapping[str, Sequence[float]],
    chosen: str,
    temperature: float,
    mode: Mode = "light",
) -> go.Figure:
    """Return the chance of the right continuation against temperature, a line for each kind.

    The line called ``chosen`` is drawn in full, the others thin; ``temperature`` is marked.
    """
    ink = INK[mode]
    traces = [
        {
            "type": "scatter",
            "x": list(temperatures),
            "y": list(curve),
            "name": name,
            "mode": "lines",
            "line": {
                "color": POLES[mode]["neutral"][1] if name == chosen else ink["muted"],
                "width": 3 if name == chosen else 1,
            },
            "opacity": 1 if name == chosen else 0.55,
            "hovertemplate": f"{name}<br>T = %{{x:g}}: %{{y:.0%}}<extra></extra>",
        }
        for name, curve in sorted(curves.items(), key=lambda item: item[0] == chosen)
    ]
    layout = _layout(
        "All rules at every temperature",
        mode,
        {"title": "temperature", "range": [0, max(temperatures)]},
        {"title": "chance of the right words", "tickformat": ".0%", "range": [0, 1.02]},
        height=340,
        shapes=[_mark(temperature, mode)],
    )
    return go.Figure(traces, layout)


def shares(
    temperatures: Sequence[float],
    right: Sequence[float],
    wrong: Sequence[float],
    temperature: float,
    mode: Mode = "light",
) -> go.Figure:
    """Return what the right words, the wrong ones and everything else get at each temperature."""
    negative, positive = POLES[mode]["neutral"]
    rest = [max(0.0, 1 - a - b) for a, b in zip(right, wrong, strict=True)]
    layers = (("right", right, positive), ("wrong", wrong, negative), ("else", rest, "line"))
    traces = [
        {
            "type": "scatter",
            "x": list(temperatures),
            "y": list(values),
            "name": {"else": "something else"}.get(name, f"{name} words"),
            "stackgroup": "one",
            "mode": "lines",
            "line": {"width": 0, "color": INK[mode].get(color, color)},
            "fillcolor": INK[mode].get(color, color),
            "hovertemplate": f"{name}, T = %{{x:g}}: %{{y:.1%}}<extra></extra>",
        }
        for name, values, color in layers
    ]
    layout = _layout(
        "What follows this story, at every temperature",
        mode,
        {"title": "temperature", "range": [0, max(temperatures)]},
        {"title": "chance", "tickformat": ".0%", "range": [0, 1]},
        legend={"traceorder": "normal"},
        height=280,
        shapes=[_mark(temperature, mode)],
    )
    return go.Figure(traces, layout)


def places(
    names: Sequence[str],
    probabilities: Sequence[float],
    notes: Sequence[str],
    places: Sequence[int],
    words: Mapping[str, str],
    mode: Mode = "light",
) -> go.Figure:
    """Return texts in the order of their probabilities, with what a search found marked.

    ``places`` are the texts' numbers among all, 1 for the best, and ``notes`` what to write behind
    their bars; a bar with a note is drawn strongly. ``words`` holds the title, and those of the
    axes, x and y.
    """
    ink = INK[mode]
    strong = POLES[mode]["neutral"][1]
    bars = {
        "type": "bar",
        "x": list(probabilities),
        "y": list(range(len(names))),
        "orientation": "h",
        "marker": {
            "color": [
                role_color("accent", mode) if place == 1 else strong if note else ink["line"]
                for place, note in zip(places, notes, strict=True)
            ],
        },
        "text": [
            f"{share:.2%}" + (f"  {note}" if note else "")
            for share, note in zip(probabilities, notes, strict=True)
        ],
        "textposition": "outside",
        "cliponaxis": False,
        "hoverinfo": "skip",
    }
    most = 1.8 * max(probabilities)
    layout = _layout(
        words["title"],
        mode,
        {"title": words["x"], "tickformat": ".0%", "range": [0, most], "nticks": 6},
        {
            "title": words["y"],
            "tickvals": list(range(len(names))),
            "ticktext": [f"{place:,}. {name}" for place, name in zip(places, names, strict=True)],
            "autorange": "reversed",
            "showgrid": False,
            "zeroline": False,
            "automargin": True,
        },
        height=96 + 24 * len(names),
        bargap=0.3,
    )
    return go.Figure([bars], layout)
