"""Small numbers added one by one to a large one, in each format."""

from collections.abc import Mapping

import numpy as np
import streamlit as st

from llmviz.course.figures.lines import Line, lines
from llmviz.course.lessons.efficiency.bits import words
from llmviz.course.lessons.efficiency.bits.small_sums import RunningSums, running_sums
from llmviz.course.lessons.efficiency.bits.written import written
from llmviz.course.ui import kit
from llmviz.quantization.formats import BFLOAT16

KEY = "efficiency.bits.sums"
POINTS = 129  # drawn of each sum


@kit.kept(32)
def sums_of(large: str, small: str, n: int) -> Mapping[str, RunningSums]:
    """Return the sums of n additions in each format."""
    return running_sums(float(large), float(small), n)


def draw(state: kit.PageState) -> None:
    """Show the section."""
    kit.section(words.sum)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        names = ({option: option for option in options} for options in (words.large, words.small))
        kit.choose(state, "sumlarge", words.sum_large, next(names))
        kit.choose(state, "sumsmall", words.sum_small, next(names))
        st.slider(words.sum_added, width=300, **state.ranged("added"))
    large, small, n = state["sumlarge"], state["sumsmall"], state["added"]
    if kit.predict(question(large, small), f"{KEY}.ask", covers=True):
        kit.chart(figure_of(large, small, n, kit.theme()), f"{KEY}.curves")
        kit.rows_table(rows_of(large, small, n), words.sum_columns)
    kit.prose(words.sum_note)
    kit.show_code(
        [running_sums],
        words.snippet_sums.format(large=large, small=small, n=n),
        lambda: "\n".join(
            f"{name} {float(sums.running[-1])} {sums.pairwise}"
            for name, sums in sums_of(large, small, n).items()
        ),
    )


@kit.kept(32)
def figure_of(large: str, small: str, n: int, mode: kit.Mode) -> kit.Figure:
    """Return the sums so far in each format, and the exact one."""
    at = np.unique(np.linspace(0, n, POINTS).round().astype(int))
    drawn = [
        Line(words.labels[name][0], at, sums.running[at], number, marked=False)
        for number, (name, sums) in enumerate(sums_of(large, small, n).items())
    ]
    exact = float(large) + float(small) * at
    drawn.append(Line(words.sum_exact, at, exact, len(drawn), dashed=True, marked=False))
    return lines(drawn, words.sum_axes, mode, hover="%{y:.6g}")


@kit.kept(32)
def rows_of(large: str, small: str, n: int) -> list[tuple[str, ...]]:
    """Return a row for each format: what it holds, its sums, and when it stands still."""
    rows = []
    for name, sums in sums_of(large, small, n).items():
        still = sums.stands_from
        rows.append(
            (
                words.labels[name][0],
                written(sums.large, 7),
                written(sums.small),
                written(float(sums.running[-1]), 7),
                written(sums.pairwise, 7),
                written(float(sums.exact[-1]), 7),
                words.never if still is None else f"{still:,}",
            )
        )
    return rows


def question(large: str, small: str) -> kit.Question:
    """Ask what bfloat16 makes of one addition."""
    first, held = float(BFLOAT16.round(float(large))), float(BFLOAT16.round(float(small)))
    spacing = float(BFLOAT16.spacing(first))
    right = float(BFLOAT16.round(first + held))
    names = {first + held: "exact", first + spacing: "next", first: "stays", right: "right"}
    line = {
        "large": large,
        "small": small,
        "held": written(held),
        "spacing": written(spacing),
        "right": written(right, 9),
    }
    reasons = {value: words.sum_reasons[name] for value, name in names.items()}
    return kit.Question.among(words.sum_ask, reasons, right, lambda v: written(v, 9), **line)
