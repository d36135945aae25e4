"""Chapter "Why ÷√d": what the size of a head does to its softmax, with and without the scale."""

import math

import streamlit as st

from llmviz.course.figures.attention import Axes, against_size, bars
from llmviz.course.lessons.attention.scale import words
from llmviz.course.lessons.attention.scale.model import scale_row
from llmviz.course.ui import kit
from llmviz.nn.attention.study import ScaleStudy, scale_study

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


@kit.kept(16)
def studies(seed: int) -> tuple[ScaleStudy, ScaleStudy]:
    """Return the study with and without the scale, as arrays."""
    both = (scale_study(SIZES, KEYS, QUERIES, seed, scaled=scaled) for scaled in (True, False))
    return tuple(ScaleStudy(*(part.numpy() for part in study)) for study in both)


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    kit.section(words.intro)
    with st.container(horizontal=True, gap="medium"):
        sizes = [str(size) for size in SIZES]
        st.select_slider(words.size, sizes, width=560, **state.bind("size"))
        st.number_input(words.seed, width=160, **state.ranged("seed"))
    size = int(state["size"])
    at = SIZES.index(size)
    divided, plain = studies(state["seed"])
    slots = {
        "d": size,
        "wide": plain.deviation[at],
        "sharp": plain.largest[at],
        "low": plain.entropy[at],
        "flat": plain.gradient[at],
        "one": divided.deviation[at],
        "soft": divided.largest[at],
        "high": divided.entropy[at],
        "steep": divided.gradient[at],
    }
    kit.prose(words.read, **slots)
    mode = kit.theme()
    for place, part in zip(st.columns(2, gap="large"), CURVES, strict=True):
        figure = curve(part, state["seed"], size, mode)
        place.plotly_chart(figure, key=f"attention.{part}", theme=None)
    st.caption(words.caption.format(queries=QUERIES, keys=KEYS))
    kit.prose(words.gradient)
    kit.chart(row_of_weights(size, state["seed"], mode), "attention.row")
    kit.predict(question(size, plain), "attention.scale")
    kit.show_code(
        [scale_study],
        words.snippet.format(size=size, keys=KEYS, queries=QUERIES, seed=state["seed"]),
        "\n".join(f"{s.entropy[at]:.3f} {s.gradient[at]:.4f}" for s in (divided, plain)),
    )
    kit.seen(words.end, **slots)


@kit.kept(64)
def curve(part: str, seed: int, size: int, mode: kit.Mode) -> kit.Figure:
    """Return one value of the study over all sizes, with the chosen one marked."""
    title, axis, level = CURVES[part]
    return against_size(
        SIZES,
        dict(zip(words.names, (getattr(study, part) for study in studies(seed)), strict=True)),
        Axes(words.d_axis, axis),
        title=title,
        level=level,
        chosen=size,
        mode=mode,
    )


@kit.kept(64)
def row_of_weights(size: int, seed: int, mode: kit.Mode) -> kit.Figure:
    """Return the weights of the study's first query as bars."""
    return bars(
        [str(j) for j in range(KEYS)],
        dict(zip(words.names, scale_row(size, KEYS, QUERIES, seed), strict=True)),
        Axes(words.key_axis, words.row_axis),
        title=words.one_row.format(d=size),
        height=300,
        mode=mode,
    )


def question(size: int, plain: ScaleStudy) -> kit.Question:
    """Return the question what the spread of undivided scores is at another size.

    That size is 4 or 16 times the chosen one in turn; for the largest ones a quarter, so that the
    slider can be moved to the end without losing the question.
    """
    at = SIZES.index(size)
    steps = 4 if at % 2 else 2
    if at + steps >= len(SIZES):
        steps = 2 if at + 2 < len(SIZES) else -2
    other, now = SIZES[at + steps], math.sqrt(size)
    reasons = {
        f"{now:.1f}": words.ask_scale_same,
        f"{math.sqrt(other):.1f}": words.ask_scale_root,
        f"{now * other / size:.1f}": words.ask_scale_linear,
    }
    if steps == 4:
        reasons[f"{2 * now:.1f}"] = words.ask_scale_less
    slots = {"d": size, "other": other, "there": plain.deviation[at + steps]}
    slots["times"] = f"{other // size} times" if steps > 0 else "a quarter"
    in_order = {answer: reasons[answer] for answer in sorted(reasons, key=float)}
    right = f"{math.sqrt(other):.1f}"
    return kit.Question.among(
        words.ask_scale, in_order, right, scale=True, now=f"{now:.1f}", **slots
    )
