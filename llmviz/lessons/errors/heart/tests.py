"""A test whose questions stand in the training text, beside another test of the same kind."""

from __future__ import annotations

import plotly.graph_objects as go
import streamlit as st

from llmviz.figures.ranges import Ranged, ranged_lines
from llmviz.figures.theme import Mode
from llmviz.lessons.errors.heart import words
from llmviz.study.tested_in_training import COPIES, bundled
from llmviz.ui.common import percent, theme
from llmviz.ui.kept import kept
from llmviz.ui.lesson import section
from llmviz.ui.prose import prose
from llmviz.ui.question import Question, predict, share_question, whole_percent

KEY = "errors.heart"
MOST = COPIES[-1]


def mean(copies: int, which: str) -> float:
    """Return the mean share of right answers of three models; which: read or other."""
    scores = bundled()[copies]
    return sum(getattr(score, which) for score in scores) / len(scores)


def draw() -> bool:
    """Show the question and the scores; return whether what it covers is shown."""
    section(words.tests, questions=bundled()[0][0].questions)
    if not predict(question(), f"{KEY}.test", covers=True):
        return False
    st.plotly_chart(figure(theme()), key=f"{KEY}.tests", theme=None)
    prose(
        words.test_read.format(
            most=MOST,
            a=percent(mean(MOST, "read")),
            b=percent(mean(MOST, "other")),
            before=percent(mean(0, "read")),
            other_before=percent(mean(0, "other")),
        )
    )
    return True


def question() -> Question:
    """Return the question how much of a test is right that stood in the training text."""
    numbers = {
        "a": percent(mean(0, "read")),
        "b": percent(mean(0, "other")),
        "other": percent(mean(MOST, "other")),
        "most": MOST,
    }
    reasons = [reason.format(**numbers) for reason in words.ask_test_reasons]
    text = words.ask_test.format(**numbers)
    return share_question(text, mean(MOST, "read"), reasons, whole_percent)


@kept(2)
def figure(mode: Mode) -> go.Figure:
    """Return both scores by how often the test stands in the text."""
    drawn = [
        Ranged(
            name,
            role,
            list(
                zip(
                    *[[getattr(one, which) for one in bundled()[copies]] for copies in COPIES],
                    strict=True,
                )
            ),
        )
        for name, role, which in (
            (words.test_a, "weights", "read"),
            (words.test_b, "residual", "other"),
        )
    ]
    return ranged_lines(COPIES, drawn, (words.copies_axis, words.right_axis), mode, shares=True)


def ends() -> dict[str, str]:
    """Return the numbers of this section that the chapter's end names."""
    return {
        "before": percent(mean(0, "read")),
        "after": percent(mean(MOST, "read")),
        "other": percent(mean(MOST, "other")),
    }
