"""Why ÷√d: what the size of a head does to its softmax, with and without the scale."""

import itertools
import math
from typing import Any

import streamlit as st

from llmviz.course.figures.attention import Axes, against_size, bars
from llmviz.course.lessons.attention.steps import words
from llmviz.course.lessons.attention.steps.scale_model import scale_row
from llmviz.course.ui import kit
from llmviz.nn.attention.study import ScaleStudy, scale_study

KEY = "attention.sizes"  # no control is called so, as one is called scale
GUESS = f"{KEY}.largest"
APART = 0.08  # between the answers of the question
SIZES = tuple(2**k for k in range(10))
DRAWN = (1, 4, 16, 64, 256)  # sizes with a line in the picture
GUESSED = 64
KEYS, QUERIES = 16, 64
CURVES = {  # of a study's values: a title, an axis, and a height with its name
    "entropy": (
        words.entropy_title,
        words.entropy_axis,
        (math.log(KEYS), words.even),
    ),
    "gradient": (words.gradient_title, words.gradient_axis, None),
}


@kit.cached(16)
def studies(seed: int) -> list[Any]:
    """Return the study with and without the scale, as arrays."""
    both = (scale_study(SIZES, KEYS, QUERIES, seed, scaled=scaled) for scaled in (True, False))
    drawn: Any = ScaleStudy  # of arrays here
    return [drawn(*(part.numpy() for part in study)) for study in both]


def draw(state: kit.PageState) -> None:
    """Show what a softmax makes of scores of any size, the guess and the looks; then why."""
    kit.section(words.scale)
    size, seed = int(state["size"]), state["seed"]
    at = SIZES.index(size)
    divided, plain = studies(seed)
    guess = kit.Guess(GUESS, question(plain))
    revealed = guess.open
    slots = {
        "d": size,
        "wide": plain.deviation[at],
        "sharp": plain.largest[at],
        "low": plain.entropy[at],
        "one": divided.deviation[at],
        "soft": divided.largest[at],
        "high": divided.entropy[at],
    }
    _lines(size, seed, guess)
    shown = revealed or size < GUESSED
    kit.prose(words.now if shown else words.later, **slots)
    st.select_slider(words.size, list(map(str, SIZES)), width=560, **state.bind("size"))
    guess.ask()
    if not revealed:
        return
    ends = {"first": f"{plain.largest[0]:.0%}", "last": f"{plain.largest[-1]:.0%}"}
    kit.looks(state, words.size_looks, f"{KEY}.looks", **ends)
    kit.prose(words.root)
    kit.prose(words.gradient)
    box = kit.measured(words.how_scaled, queries=QUERIES, keys=KEYS, **slots)
    if box is None:
        return
    with box:
        mode = kit.theme()
        kit.chart(row_of_weights(size, seed, mode), "attention.row")
        kit.prose(words.read, **slots)
        for place, part in zip(st.columns(2, gap="large"), CURVES, strict=True):
            figure = curve(part, seed, size, mode)
            place.plotly_chart(figure, key=f"attention.{part}", theme=None)


def _lines(size: int, seed: int, guess: kit.Guess) -> None:
    """Draw the largest share at some sizes; dots are what dividing makes of it."""
    divided, plain = studies(seed)
    revealed = guess.open
    cases = []
    for d in sorted({*DRAWN, size}):
        at = SIZES.index(d)
        known = revealed or d <= GUESSED
        cases.append(
            kit.Case(
                [(words.line.format(d=d), d == size)],
                float(plain.largest[at]) if known else None,
                dots=[float(divided.largest[at])] if known else (),
                note="" if known else words.size_waits,
            )
        )
    veiled = [sorted({*DRAWN, size}).index(GUESSED)]
    guess.cases(cases, kit.Axis(0, 1, words.largest_share), veiled=veiled, picture=KEY)


@kit.cached(64)
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


@kit.cached(64)
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


def question(plain: ScaleStudy) -> kit.Question | None:
    """Return the question how much the largest weight has at another size; None where answers meet.

    The wrong answers are of somebody to whom more numbers even out, to whom the size does not
    matter, and to whom four times the size is four times the share.
    """
    first, before, right = (
        float(plain.largest[SIZES.index(d)]) for d in (1, GUESSED // 4, GUESSED)
    )
    reasons = {
        first: words.ask_size_even,
        before: words.ask_size_same,
        min(1.0, 4 * before): words.ask_size_times,
        right: words.ask_size_right,
    }
    shares = sorted(reasons)
    if any(b - a < APART for a, b in itertools.pairwise(shares)):
        return None
    return kit.Question.among(
        words.ask_size,
        reasons,
        right,
        kit.percent,
        asked=GUESSED,
        before=GUESSED // 4,
        times=4,
    )
