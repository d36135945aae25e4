"""Several lines over one axis, each in a colour and with a mark of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from llmviz.course.figures import theme


@dataclass(frozen=True, eq=False)
class Line:
    """One line: its name, its points, its number in the palette; whether points have marks.

    errors: half the height of a bar at each point; none where it is empty. below: its lower half,
    where that differs.
    """

    name: str
    x: Sequence[float] | np.ndarray
    y: Sequence[float] | np.ndarray
    colour: int
    dashed: bool = False
    marked: bool = True
    errors: Sequence[float] = ()
    below: Sequence[float] = ()


def lines(
    drawn: Sequence[Line],
    axes: tuple[str, str],
    mode: theme.Mode = "light",
    *,
    logarithmic: tuple[bool, bool] = (False, False),
    level: tuple[float, str] | None = None,
    hover: str = "%{y:.3g}",
    height: int = 360,
    ticks: Sequence[float] = (),
) -> go.Figure:
    """Return lines over the same axis; on a logarithmic axis only what is above 0 is drawn.

    level: a height that is drawn as a thin line, and its name. ticks: where x has ticks; else
    the library chooses.
    """
    traces = []
    for line in drawn:
        x, y = np.asarray(line.x, dtype=float), np.asarray(line.y, dtype=float)
        good = np.isfinite(y) & ((y > 0) | (not logarithmic[1]))
        colour, shape = theme.category_style(line.colour, mode)
        traces.append(
            {
                "type": "scatter",
                "x": x[good].tolist(),
                "y": y[good].tolist(),
                "name": line.name,
                "mode": "lines+markers" if line.marked else "lines",
                "line": {
                    "color": colour,
                    "width": 2.2,
                    "dash": "dash" if line.dashed else "solid",
                },
                "marker": {"size": 6, "symbol": theme.PLOTLY_SHAPES.get(shape, shape)},
                "hovertemplate": hover,
            }
        )
        if len(line.errors):
            bars = np.asarray(line.errors, dtype=float)[good].tolist()
            traces[-1]["error_y"] = {"type": "data", "array": bars, "thickness": 1.2, "width": 3}
            if len(line.below):
                lower = np.asarray(line.below, dtype=float)[good].tolist()
                traces[-1]["error_y"] |= {"symmetric": False, "arrayminus": lower}
    layout = theme.chart_layout(
        axes,
        mode,
        height=height,
        hovermode="x unified",
        margin={"l": 56, "r": 16, "t": 56, "b": 46},
        legend=theme.LEGEND_ABOVE | {"y": 1.02},
    )
    for name, powers in zip(("xaxis", "yaxis"), logarithmic, strict=True):
        if powers:
            layout[name] |= {"type": "log", "exponentformat": "power", "nticks": 8}
    if ticks:
        layout["xaxis"] |= {"tickvals": list(ticks), "ticktext": [f"{tick:,}" for tick in ticks]}
    heights = [value for trace in traces for value in trace["y"]]
    if logarithmic[1] and heights and max(heights) >= 1e3 * min(heights):
        layout["yaxis"]["dtick"] = 1  # powers of ten alone, where there are enough of them
    if level is not None:
        value, text = level
        layout["shapes"] = [
            {
                "type": "line",
                "xref": "paper",
                "x0": 0,
                "x1": 1,
                "y0": value,
                "y1": value,
                "line": {"color": theme.INK[mode]["muted"], "width": 1, "dash": "dot"},
            }
        ]
        layout["annotations"] = [
            {
                "xref": "paper",
                "x": 1,
                "xanchor": "right",
                "y": np.log10(value) if logarithmic[1] else value,
                "yanchor": "bottom",
                "text": text,
                "showarrow": False,
                "font": {"size": 12, "color": theme.INK[mode]["muted"]},
            }
        ]
    return go.Figure(traces, layout)
