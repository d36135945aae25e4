"""A line through points: learned from data, and without a hidden layer."""

import streamlit as st

from llmviz.course.figures.history import points_and_line
from llmviz.course.lessons.history.where import programs, words
from llmviz.course.lessons.history.where.next_letters import VOWELS, fit_line, vowels_by_length
from llmviz.course.ui import kit


def draw(state: kit.PageState, name: str) -> None:
    """Show the points, the line, and where the learner's name lies."""
    kit.prose(words.line, names=len(programs.split()[0]))
    a, b = _line()
    vowels = sum(letter in VOWELS for letter in name)
    st.plotly_chart(_figure(len(name), vowels, kit.theme()), key="history.where.line")
    if name:
        kit.prose(
            words.line_done,
            a=kit.signed(a, 3),
            b=b,
            name=kit.quote(name),
            letters=kit.count(len(name), "letter"),
            guess=a + b * len(name),
            vowels=vowels,
        )
    kit.show_code(
        [fit_line],
        words.snippet_vowels.format(),
        f"{a:.4f} {b:.4f}",
    )


@kit.kept(1)
def _points():
    return vowels_by_length(programs.split()[0])


@kit.kept(1)
def _line() -> tuple[float, float]:
    return fit_line(*_points())


@kit.kept(64)
def _figure(letters: int, vowels: int, mode: kit.Mode) -> kit.Figure:
    lengths, means, _ = _points()
    own = (letters, vowels) if letters else None
    return points_and_line(lengths, means, _line(), own, words.line_names, words.line_axes, mode)
