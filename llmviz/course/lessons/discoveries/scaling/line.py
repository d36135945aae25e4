"""The learner's own line through the runs of the largest model."""

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from llmviz.course.figures.lines import Line, lines
from llmviz.course.lessons.discoveries.scaling import words
from llmviz.course.lessons.discoveries.scaling.laws import of_width
from llmviz.course.lessons.discoveries.scaling.scaling_runs import SIZES
from llmviz.course.ui import kit

KEY = "discoveries.scaling.line"
BEYOND = 10  # times the longest text, up to where the line is drawn


def line_at(floor: float, power: float, tokens: np.ndarray) -> np.ndarray:
    """Return what a line through the shortest run of the largest model says of other texts."""
    first = of_width(SIZES[-1].width)[0]
    return floor + (first.loss - floor) * (first.tokens / np.asarray(tokens, float)) ** power


def draw(state: kit.PageState) -> None:
    """Show the sliders, the runs and the learner's line."""
    kit.section(words.line)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        floor = state.ranged("linefloor")
        st.slider(words.line_floor, step=0.05, width=320, format="%.2f", **floor)
        power = state.ranged("linepower")
        st.slider(words.line_power, step=0.05, width=320, format="%.2f", **power)
    chosen = state["linefloor"], state["linepower"]
    kit.chart(line_figure(*chosen, kit.theme()), f"{KEY}.chart", bar=False)
    kit.prose(line_read(*chosen))


def line_read(floor: float, power: float) -> str:
    """Return how far a line is from the other runs, and where it leads, in a sentence."""
    every = of_width(SIZES[-1].width)
    tokens = np.array([run.tokens for run in every])
    apart = np.abs(line_at(floor, power, tokens) - [run.loss for run in every])[1:]
    more = float(line_at(floor, power, np.array([BEYOND * tokens[-1]]))[0])
    return words.line_read.format(
        others=len(apart), off=float(apart.mean()), more=more, floor=floor
    )


@kit.kept(32)
def line_figure(floor: float, power: float, mode: kit.Mode) -> go.Figure:
    """Return the runs of the largest model and a line through the first of them."""
    every = of_width(SIZES[-1].width)
    tokens = [run.tokens for run in every]
    along = np.geomspace(tokens[0], BEYOND * tokens[-1], 60)
    drawn = [
        Line(words.line_points, tokens, [run.loss for run in every], SIZES.index(SIZES[-1])),
        Line(words.line_yours, along, line_at(floor, power, along), 1, dashed=True),
    ]
    figure = lines(
        drawn, (words.tokens_axis, words.loss_axis), mode, logarithmic=(True, False), height=320
    )
    figure.data[0].mode, figure.data[1].mode = "markers", "lines"
    figure.data[0].marker.size = 10
    figure.update_layout(
        xaxis={"dtick": None, "tickvals": [1e5, 1e6, 1e7], "ticktext": ["10⁵", "10⁶", "10⁷"]},
        yaxis={"range": [0, 1.1 * every[0].loss]},
    )
    return figure
