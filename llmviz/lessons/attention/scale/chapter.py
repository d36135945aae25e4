"""Chapter "Why ÷√d": what the size of a head does to its softmax, with and without the scale."""

from __future__ import annotations

import math

import plotly.graph_objects as go
import streamlit as st

from llmviz.figures.attention import Axes, against_size, bars
from llmviz.figures.theme import Mode
from llmviz.lessons.attention.scale import words
from llmviz.nn.attention.study import ScaleStudy, scale_study
from llmviz.study.scale_row import scale_row
from llmviz.ui.code import show_code
from llmviz.ui.common import theme
from llmviz.ui.kept import kept
from llmviz.ui.lesson import section
from llmviz.ui.prose import prose
from llmviz.ui.question import Question, predict
from llmviz.ui.state import PageState

SIZES = tuple(2**k for k in range(10))
KEYS, QUERIES = 16, 64
CURVES = {  # of a study's values: a title, an axis, and a height with its name
    "entropy": (
        words.entropy_title,
        words.entropy_axis,
        (math.log(KEYS), words.even),
    ),
    "gradient": (words.gradient_title, words.gradient_axis, None),
}


@kept(16)
def studies(seed: int) -> tuple[ScaleStudy, ScaleStudy]:
    """Return the study with and without the scale, as arrays."""
    both = (scale_study(SIZES, scaled, KEYS, QUERIES, seed) for scaled in (True, False))
    return tuple(ScaleStudy(*(part.numpy() for part in one)) for one in both)


@st.fragment
def draw(state: PageState) -> None:
    """Show the chapter."""
    section(words.intro)
    with st.container(horizontal=True, gap="medium"):
        sizes = [str(size) for size in SIZES]
        st.select_slider(words.size, sizes, width=560, **state.bind("size"))
        st.number_input(words.seed, width=160, **state.ranged("seed"))
    size = int(state["size"])
    at = SIZES.index(size)
    divided, plain = studies(state["seed"])
    prose(
        words.read.format(
            d=size,
            wide=plain.deviation[at],
            sharp=plain.largest[at],
            low=plain.entropy[at],
            flat=plain.gradient[at],
            one=divided.deviation[at],
            soft=divided.largest[at],
            high=divided.entropy[at],
            steep=divided.gradient[at],
        )
    )
    mode = theme()
    for place, part in zip(st.columns(2, gap="large"), CURVES, strict=True):
        figure = curve(part, state["seed"], size, mode)
        place.plotly_chart(figure, key=f"attention.{part}", theme=None)
    st.caption(words.caption.format(queries=QUERIES, keys=KEYS))
    prose(words.gradient)
    st.plotly_chart(row_of_weights(size, state["seed"], mode), key="attention.row", theme=None)
    predict(question(size, plain), "attention.scale")
    show_code(
        [scale_study],
        "from llmviz.nn.attention.study import scale_study\n\n"
        f"for scaled in (True, False):\n"
        f"    study = scale_study([{size}], scaled, {KEYS}, {QUERIES}, seed={state['seed']})\n"
        '    print(f"{study.entropy.item():.3f} {study.gradient.item():.4f}")',
        "\n".join(f"{s.entropy[at]:.3f} {s.gradient[at]:.4f}" for s in (divided, plain)),
    )


@kept(64)
def curve(part: str, seed: int, size: int, mode: Mode) -> go.Figure:
    """Return one value of the study over all sizes, with the chosen one marked."""
    title, axis, level = CURVES[part]
    return against_size(
        SIZES,
        [getattr(study, part) for study in studies(seed)],
        words.names,
        Axes(words.d_axis, axis),
        title=title,
        level=level,
        chosen=size,
        mode=mode,
    )


@kept(64)
def row_of_weights(size: int, seed: int, mode: Mode) -> go.Figure:
    """Return the weights of the study's first query as bars."""
    return bars(
        [str(j) for j in range(KEYS)],
        scale_row(size, KEYS, QUERIES, seed),
        words.names,
        words.row_axis,
        title=words.one_row.format(d=size),
        over=words.key_axis,
        height=300,
        mode=mode,
    )


def question(size: int, plain: ScaleStudy) -> Question:
    """Return the question how the spread grows from a size to four times as much.

    Of the largest sizes, it is how the spread comes to be what it is there, so that the slider can
    be moved to the end without losing the question.
    """
    at = SIZES.index(size)
    if at + 2 >= len(SIZES):
        size, at = size // 4, at - 2
    before, after = plain.deviation[at], plain.deviation[at + 2]
    return Question(
        words.ask_scale.format(d=size, four=4 * size),
        words.ask_scale_answers,
        1,
        [reason.format(before=before, after=after) for reason in words.ask_scale_reasons],
    )
