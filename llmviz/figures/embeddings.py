"""Figures of the lesson on embeddings: arrays and labels in, Plotly figures out.

Labels come with their markup taken away; they are drawn as they are.
"""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from llmviz.figures.theme import INK, POLES, Mode, plotly_layout, role_color

# Without the library's own template, whose colours are all replaced: it takes 8 ms a figure.
BARE = {"template": None}
MARGIN = {"l": 58, "r": 16, "t": 28, "b": 46}


def arrows(points: np.ndarray, names: Sequence[str], gap: str, mode: Mode = "light") -> go.Figure:
    """Return two vectors as arrows from one point, in the plane that they span.

    points: (2, 2), the tips. names: what stands at the tips. gap: what stands at the dashed line
    between them.
    """
    ink = INK[mode]
    colors = (role_color("accent", mode), POLES[mode]["neutral"][1])
    low, high = np.minimum(points.min(axis=0), 0), np.maximum(points.max(axis=0), 0)
    pad = 0.18 * max(float((high - low).max()), 1e-9)
    tips = points.tolist()
    notes = [
        {"ax": 0, "ay": 0, "axref": "x", "ayref": "y", "x": x, "y": y, "text": "",
         "showarrow": True, "arrowhead": 2, "arrowsize": 1.2, "arrowwidth": 3, "arrowcolor": color}
        for (x, y), color in zip(tips, colors, strict=True)
    ]  # fmt: skip
    apart = float(np.linalg.norm(points[0] - points[1]))
    if apart > 0.1 * float(np.abs(points).max()):  # else there is no room between the tips
        middle = points.mean(axis=0).tolist()
        font = {"color": ink["muted"], "size": 12}
        notes.append(
            {"x": middle[0], "y": middle[1], "text": gap, "showarrow": False, "font": font}
            | {"bgcolor": ink["surface"]}
        )
    for (x, y), name, shift in zip(tips, names, (-17, 14), strict=True):  # clear of the arrows
        font = {"color": ink["ink"], "size": 14}
        notes.append(
            {"x": x, "y": y, "text": name, "showarrow": False, "yshift": shift, "font": font}
        )
    trace = {
        "type": "scatter",
        "x": points[:, 0],
        "y": points[:, 1],
        "mode": "lines",
        "line": {"color": ink["muted"], "dash": "dot", "width": 1.5},
        "text": list(names),
        "hovertemplate": "%{text}: (%{x:.3f}, %{y:.3f})<extra></extra>",
    }
    layout = plotly_layout(
        mode, height=300, showlegend=False, margin=MARGIN | {"l": 44}, annotations=notes
    )
    layout["xaxis"] |= {
        "range": [low[0] - pad, high[0] + pad],
        "title": {"text": "along A", "standoff": 8},
    }
    layout["yaxis"] |= {
        "range": [low[1] - pad, high[1] + pad],
        "title": {"text": "across A", "standoff": 8},
    }
    layout["xaxis"] |= {"constrain": "domain"}
    layout["yaxis"] |= {"scaleanchor": "x"}
    return go.Figure([trace], layout | BARE)


def spread(
    values: np.ndarray,
    marks: Sequence[float],
    name: str,
    axis: str,
    mode: Mode = "light",
) -> go.Figure:
    """Return how many tokens have which value, as bars, with some values marked as lines.

    values: (N,). marks: the values of the lines; `name` stands beside them.
    """
    counts, edges = np.histogram(values, 60)
    bars = {
        "type": "bar",
        "x": (edges[:-1] + edges[1:]) / 2,
        "y": counts,
        "width": np.diff(edges),
        "marker": {"color": role_color("residual", mode), "line": {"width": 0}},
        "customdata": np.stack((edges[:-1], edges[1:]), axis=1),
        "hovertemplate": "%{customdata[0]:.2f} to %{customdata[1]:.2f}: %{y:,}<extra></extra>",
    }
    # All lines are one trace: as shapes, each would take the library ten milliseconds.
    lines = {
        "type": "scatter",
        "x": [x for value in marks for x in (float(value), float(value), None)],
        "y": [0, float(counts.max()), None] * len(marks),
        "mode": "lines",
        "line": {"color": role_color("accent", mode), "width": 1.5},
        "hoverinfo": "skip",
    }
    # The name goes to the side where the other values are.
    high = np.mean(marks) > values.mean()
    note = {
        "x": float(min(marks) if high else max(marks)),
        "y": 1,
        "yref": "paper",
        "text": name,
        "showarrow": False,
        "xanchor": "right" if high else "left",
        "xshift": -6 if high else 6,
        "font": {"color": INK[mode]["ink"], "size": 13},
    }
    layout = plotly_layout(mode, height=240, showlegend=False, margin=MARGIN, annotations=[note])
    layout["xaxis"] |= {"title": {"text": axis, "standoff": 8}}
    layout["yaxis"] |= {"title": {"text": "tokens", "standoff": 8}}
    return go.Figure([bars, lines], layout | BARE)


def by_stage(
    names: Sequence[str],
    values: np.ndarray,
    others: np.ndarray,
    titles: tuple[str, str],
    axes: tuple[str, str],
    mode: Mode = "light",
) -> go.Figure:
    """Return a value after every stage as a line, and what it is between strangers, in grey.

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
    layout = plotly_layout(
        mode,
        height=350,
        hovermode="x unified",
        margin=MARGIN | {"t": 60},
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.02, "x": 0},
    )
    low = float(np.nanmin([np.nanmin(values), np.nanmin(others), 0.0]))
    layout["xaxis"] |= {
        "tickvals": list(range(len(names))),
        "ticktext": list(names),
        "title": {"text": axes[0], "standoff": 8},
        "automargin": True,
    }
    layout["yaxis"] |= {"title": {"text": axes[1], "standoff": 8}, "range": [low - 0.05, 1.05]}
    return go.Figure(traces, layout | BARE)
