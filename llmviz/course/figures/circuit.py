"""A graph of parts, one level above the other, with edges: numbers in, a Plotly figure out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from llmviz.course.figures.theme import INK, LEGEND_ABOVE, Mode, bare_layout, role_color

WIDTHS = (1.0, 2.0, 4.0, 7.0)  # pixels of an edge
FROM = (0.0, 0.05, 0.2, 0.5)  # sizes from which an edge has them
CURVE = np.linspace(0, 1, 13)
BEND = 0.16  # how far an edge leaves the straight line for each level that it passes over


@dataclass(frozen=True)
class Node:
    """One part: its name, and where it stands; y counts levels from the bottom."""

    name: str
    x: float
    y: float


def circuit_graph(
    nodes: Sequence[Node],
    edges: Sequence[tuple[int, int, float]],
    directions: tuple[str, str],
    mode: Mode = "light",
) -> go.Figure:
    """Return all nodes, and edges (from, to, size) between them.

    The thicker an edge, the larger its size. directions: what the colours of sizes from 0 on and of
    those below 0 mean. Nodes without an edge are pale.
    """
    traces = []
    for sign, role, name in zip((1, -1), ("weights", "query"), directions, strict=True):
        mine = [edge for edge in edges if (edge[2] >= 0) == (sign > 0)]
        thickest = max((_step(size) for *_, size in mine), default=-1)
        for step, width in enumerate(WIDTHS):
            drawn = [edge for edge in mine if _step(edge[2]) == step]
            if not drawn:
                continue
            x, y = [], []
            for start, end, _ in drawn:
                line = _curved(nodes[start], nodes[end])
                x += [*line[0], None]
                y += [*line[1], None]
            traces.append(
                {
                    "type": "scatter",
                    "mode": "lines",
                    "x": x,
                    "y": y,
                    "name": name,
                    "showlegend": step == thickest,
                    "line": {"width": width, "color": role_color(role, mode)},
                    "hoverinfo": "skip",
                }
            )
    used = {end for edge in edges for end in edge[:2]}
    ink = INK[mode]
    traces.append(
        {
            "type": "scatter",
            "mode": "markers+text",
            "x": [node.x for node in nodes],
            "y": [node.y for node in nodes],
            "text": [node.name for node in nodes],
            "textposition": "bottom center",
            "textfont": {
                "size": 12,
                "color": [ink["ink" if k in used else "muted"] for k in range(len(nodes))],
            },
            "marker": {
                "size": [12 if k in used else 7 for k in range(len(nodes))],
                "color": [ink["ink" if k in used else "line"] for k in range(len(nodes))],
            },
            "hovertemplate": "%{text}<extra></extra>",
            "showlegend": False,
        }
    )
    levels = max(node.y for node in nodes)
    layout = bare_layout(
        mode,
        height=round(110 + 58 * levels),
        margin={"l": 8, "r": 8, "t": 40, "b": 8},
        legend=LEGEND_ABOVE,
        showlegend=True,
    )
    for axis in ("xaxis", "yaxis"):
        layout[axis] |= {"visible": False, "fixedrange": True}
    across = [node.x for node in nodes]
    layout["xaxis"] |= {"range": [min(across) - 0.6, max(across) + 0.6]}
    layout["yaxis"] |= {"range": [-0.6, levels + 0.3]}
    return go.Figure(traces, layout)


def _step(size: float) -> int:
    return sum(abs(size) >= least for least in FROM) - 1


def _curved(start: Node, end: Node) -> tuple[list[float], list[float]]:
    """The points of an edge; one that passes over levels goes around their nodes."""
    bend = BEND * max(0.0, end.y - start.y - 1) * 4 * CURVE * (1 - CURVE)
    x = start.x + (end.x - start.x) * CURVE + bend
    return x.tolist(), (start.y + (end.y - start.y) * CURVE).tolist()
