"""Chapter "Looking things up": documents cut, ranked and put before a question."""

from __future__ import annotations

import streamlit as st

from llmviz.course.lessons.reasoning.retrieval import (
    measured,
    passage_recall,
    passage_record,
    ranking,
    reading,
    words,
)
from llmviz.course.lessons.reasoning.retrieval.params import MOST_OF_DOCUMENTS
from llmviz.course.lessons.reasoning.retrieval.passage_record import RIGHT, TOLD, recorded
from llmviz.course.ui import kit

KEY = "reasoning.retrieval"


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    kit.section(words.intro)
    commands = f"{passage_record.COMMAND}\n{passage_recall.COMMAND}"
    reads = recorded, passage_record.bundled, passage_recall.recorded
    if not kit.is_here(words.missing, commands, *reads):
        return
    kit.section(words.cut)
    label = words.documents.format(most=MOST_OF_DOCUMENTS)
    kit.text_area(state, "lookdocs", label, height=220)
    ranked = ranking.draw(state)
    if ranked is not None:
        reading.draw(state, ranked)
    kit.section(words.measured, tests=passage_record.TESTS)
    measured.right_and_wrong()
    if kit.predict(measured.two_question(), f"{KEY}.two", covers=True):
        measured.disagreeing()
        measured.ordered()
        measured.recall()
        kit.seen(words.end, **end())


def end() -> dict[str, str]:
    """Return the numbers of the chapter's end: a share for each of the three models."""
    return {
        "right": measured.shares("right", RIGHT),
        "none": measured.shares("none", RIGHT),
        "sourced": measured.sourced(),
        "told": measured.shares("told_alone", TOLD),
        "lucky": ", ".join(map(kit.percent, measured.lucky())),
    }
