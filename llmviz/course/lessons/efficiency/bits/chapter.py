"""Chapter "Numbers as bits": a sum that stands still, a number's bits, and training with few."""

from collections.abc import Mapping
from itertools import pairwise

import streamlit as st

from llmviz.course.components.bit_rows.view import bit_film
from llmviz.course.lessons.efficiency.bits import (
    MOST,
    gradients,
    lost_updates,
    one_number,
    race,
    words,
)
from llmviz.course.lessons.efficiency.bits.one_number import written
from llmviz.course.lessons.efficiency.bits.small_sums import ADDED_IN, RunningSums, running_sums
from llmviz.course.ui import kit
from llmviz.quantization.formats import FLOAT16, FORMATS

STAGED = True
KEY, GUESS = "efficiency.bits.sums", "efficiency.bits.far"
ASKED = "float16"  # the format whose sums are veiled
APART = 0.1  # of the exact sum, between the answers of the question
TRAINING = {"gradient": gradients.draw, "update": lost_updates.draw, "race": race.draw}


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the sums as they grow, bit by bit, and the guess; then a number and a training."""
    kit.prose(words.hook)
    large, small = state["sumlarge"], state["sumsmall"]
    sums = sums_of(large, small)
    asked = question(large, small)
    shown = asked is None or kit.answered(asked, GUESS)
    with kit.stage("bits", stays=False):
        _film(state, sums, float(large) + float(small) * MOST, shown=shown)
        with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
            for key, label, options in (
                ("sumlarge", words.sum_large, words.large),
                ("sumsmall", words.sum_small, words.small),
            ):
                kit.choose(state, key, label, {option: option for option in options})
        if asked is not None:
            _guess(asked, sums, float(large) + float(small) * MOST)
    if asked is not None:
        kit.predict(asked, GUESS, covers=True, hand=True)
    if shown:
        kit.looks(state, words.looks, f"{KEY}.looks")
    number = one_number.draw(state)
    kit.section(words.training)
    kit.choose(state, "bittraining", words.part, words.parts, parts=True)
    TRAINING[state["bittraining"]](state)
    if shown:
        kit.show_code(
            [running_sums],
            words.snippet_sums.format(large=large, small=small, n=MOST),
            lambda: "\n".join(f"{name} {sums[name].running[-1]}" for name in sums),
        )
        kit.seen(words.end, **one_number.held_as(number))


@kit.kept(16)
def sums_of(large: str, small: str) -> Mapping[str, RunningSums]:
    """Return the sums of the chapter's additions in each format."""
    return running_sums(float(large), float(small), MOST)


def stops_of(added: int) -> list[int]:
    """Return the additions that the film stops at: each of the first, then some, and `added`."""
    return sorted({*range(17), *range(0, MOST + 1, 32), added})


def _film(
    state: kit.PageState, sums: Mapping[str, RunningSums], exact: float, *, shown: bool
) -> None:
    """Draw the bits of each sum; shown: of all of them, else without the one that is asked for."""
    stops = stops_of(state["added"])
    first = float(state["sumlarge"])
    labels, notes = zip(*(words.labels[name] for name in ADDED_IN), strict=True)

    def take() -> None:
        at = st.session_state[f"{KEY}.film"].get("step")
        if isinstance(at, int) and 0 <= at < len(stops):
            state["added"] = stops[at]

    bit_film(
        [FORMATS[name] for name in ADDED_IN],
        {n: s.running[stops] if shown or n != ASKED else None for n, s in sums.items()},
        [first + (exact - first) * stop / MOST for stop in stops],
        stops,
        key=f"{KEY}.film",
        labels=labels,
        notes=notes,
        words={**words.board, "film": words.film["told" if shown else "veiled"]},
        step=stops.index(state["added"]),
        on_change=take,
    )


def _guess(asked: kit.Question, sums: Mapping[str, RunningSums], exact: float) -> None:
    kit.guess_cases(
        [kit.Case(words.labels[name][0], float(sums[name].running[-1])) for name in ADDED_IN],
        kit.Axis(0, 1.05 * exact, words.axis),
        asked,
        GUESS,
        veiled=[ADDED_IN.index(ASKED)],
        picture=f"{KEY}.guess",
        form="figure",
        levels=[(exact, words.exact)],
    )


def question(large: str, small: str) -> kit.Question | None:
    """Ask how far float16 gets. None where it gets as far as bfloat16, or as the exact sum.

    The wrong answers: it adds all that it hears at first, or 16 bits are 16 bits.
    """
    sums = sums_of(large, small)
    right, other, most = (float(sums[n].running[-1]) for n in (ASKED, "bfloat16", "float32"))
    adds = float(FLOAT16.round(float(large) + float(small) * MOST))
    values = sorted((right, other, adds))
    if min(b - a for a, b in pairwise(values)) < APART * adds:
        return None
    return kit.Question.among(
        words.ask,
        {right: words.ask_right, adds: words.ask_adds, other: words.ask_other},
        right,
        written,
        float32=written(most),
        bfloat16=written(other),
        right=written(right),
        held=written(sums[ASKED].small),
        gap=written(float(FLOAT16.spacing(right))),
        n=f"{MOST:,}",
    )
