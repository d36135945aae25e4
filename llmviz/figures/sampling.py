"""Figures of the lesson on sampling: arrays in, Plotly figure out."""

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from llmviz.figures.theme import INK, POLES, Mode, plotly_layout, role_color

MARGIN = {"l": 70, "r": 16, "t": 44, "b": 44}
LEGEND = {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom"}


def _layout(title: str, mode: Mode, *, legend: bool = False, **more: Any) -> dict[str, Any]:
    """Return a layout with a title above everything and room for a legend below it."""
    ink = INK[mode]["ink"]
    head = {"text": title, "font": {"size": 14, "color": ink}, "x": 0, "xanchor": "left"}
    head |= {"y": 1, "yanchor": "top", "yref": "container", "pad": {"t": 8, "l": 8}}
    margin = MARGIN | {"t": 62 if legend else 40}
    return plotly_layout(mode, title=head, margin=margin, showlegend=legend, legend=LEGEND, **more)


def convergence(
    draws: Sequence[int], distances: Sequence[float], mode: Mode = "light"
) -> go.Figure:
    """Return how far frequencies are from probabilities against the number of draws.

    ``distances`` are total variation distances (half the sum of absolute differences). The
    dashed line falls with the square root of the number of draws from the last point.
    """
    ink = INK[mode]
    guide = [min(1.0, distances[-1] * (draws[-1] / n) ** 0.5) for n in draws]
    figure = go.Figure(
        [
            go.Scatter(
                x=list(draws),
                y=guide,
                name="1/√n",
                mode="lines",
                line={"dash": "dot", "color": ink["muted"], "width": 1},
                hoverinfo="skip",
            ),
            go.Scatter(
                x=list(draws),
                y=list(distances),
                name="distance",
                mode="lines+markers",
                line={"color": POLES[mode]["neutral"][1], "width": 2},
                hovertemplate="%{x:,} draws: %{y:.4f}<extra></extra>",
            ),
        ]
    )
    figure.update_layout(
        **_layout(
            "How far the frequencies are from the probabilities", mode, legend=True, height=280
        )
    )
    figure.update_xaxes(type="log", title_text="draws", dtick=1)
    return figure.update_yaxes(type="log", title_text="total distance", dtick=1)


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
    figure = go.Figure()
    for name, curve in sorted(curves.items(), key=lambda item: item[0] == chosen):
        here = name == chosen
        figure.add_scatter(
            x=list(temperatures),
            y=list(curve),
            name=name,
            mode="lines",
            line={
                "color": POLES[mode]["neutral"][1] if here else ink["muted"],
                "width": 3 if here else 1,
            },
            opacity=1 if here else 0.55,
            hovertemplate=f"{name}<br>T = %{{x:g}}: %{{y:.0%}}<extra></extra>",
        )
    figure.add_vline(x=temperature, line={"color": role_color("accent", mode), "width": 2})
    figure.update_layout(**_layout("All rules at every temperature", mode, height=340))
    figure.update_xaxes(title_text="temperature", range=[0, max(temperatures)])
    return figure.update_yaxes(
        title_text="chance of the right words", tickformat=".0%", range=[0, 1.02]
    )


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
    figure = go.Figure()
    for name, values, color in layers:
        figure.add_scatter(
            x=list(temperatures),
            y=list(values),
            name={"else": "something else"}.get(name, f"{name} words"),
            stackgroup="one",
            mode="lines",
            line={"width": 0, "color": INK[mode].get(color, color)},
            fillcolor=INK[mode].get(color, color),
            hovertemplate=f"{name}, T = %{{x:g}}: %{{y:.1%}}<extra></extra>",
        )
    figure.add_vline(x=temperature, line={"color": role_color("accent", mode), "width": 2})
    figure.update_layout(
        **_layout("What follows this story, at every temperature", mode, legend=True, height=280)
    )
    figure.update_layout(legend={"traceorder": "normal"})
    figure.update_xaxes(title_text="temperature", range=[0, max(temperatures)])
    return figure.update_yaxes(title_text="chance", tickformat=".0%", range=[0, 1])


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
    figure = go.Figure(
        go.Bar(
            x=list(probabilities),
            y=list(range(len(names))),
            orientation="h",
            marker={
                "color": [
                    role_color("accent", mode) if place == 1 else strong if note else ink["line"]
                    for place, note in zip(places, notes, strict=True)
                ]
            },
            text=[
                f"{share:.2%}" + (f"  {note}" if note else "")
                for share, note in zip(probabilities, notes, strict=True)
            ],
            textposition="outside",
            cliponaxis=False,
            hoverinfo="skip",
        )
    )
    height = 96 + 24 * len(names)
    figure.update_layout(**_layout(words["title"], mode, height=height, bargap=0.3))
    figure.update_xaxes(
        title_text=words["x"], tickformat=".0%", range=[0, 1.8 * max(probabilities)], nticks=6
    )
    labels = [f"{place:,}. {name}" for place, name in zip(places, names, strict=True)]
    return figure.update_yaxes(
        title_text=words["y"],
        tickvals=list(range(len(names))),
        ticktext=labels,
        autorange="reversed",
        showgrid=False,
        zeroline=False,
        automargin=True,
    )
