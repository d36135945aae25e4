"""The real model in other lessons: a look at it there, or what is recorded of it and where."""

from __future__ import annotations

import importlib
from typing import Any

import streamlit as st

from llmviz.course.document.marks import unmarked
from llmviz.course.ui import engine, hour, stage
from llmviz.course.ui.common import chapter_link
from llmviz.course.ui.contents import package_of
from llmviz.course.ui.get_model import REAL, offer_real_model
from llmviz.course.ui.prose import prose
from llmviz.course.ui.state import PageState

LESSON = "real"  # the lesson that has the records


def real_look(state: PageState, passage: str, key: str, part: str = "") -> None:
    """Show the look at the same thing in the real model; where that is not here, offer it.

    part: a chapter inside the real model, whose facts the passage has slots for. A folded stop of
    the hour goes without the look, and so does everybody where that chapter's record is missing.
    """
    facts = _facts(part) if part else {}
    if hour.folded() or facts is None:
        return
    if REAL in engine.obtained():
        stage.looks(state, [passage], key, **facts)
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(unmarked(passage.format(**facts)))
        offer_real_model(key)


def real_case(part: str, passage: str, **link: str) -> None:
    """Show what a chapter inside the real model found, and the way there; `link`: in which state.

    passage: a sentence with slots for the chapter's facts. It is shown where a look would be.
    """
    facts = _facts(part)
    if hour.folded() or facts is None:
        return
    lesson = importlib.import_module(package_of(LESSON))
    title = next(chapter.title for chapter in lesson.LESSON.chapters if chapter.key == part)
    prose(passage, **facts)
    chapter_link(LESSON, part, lesson.words.elsewhere.format(title=title), **link)


def _facts(part: str) -> dict[str, Any] | None:
    """What is recorded of a chapter; None where the record is missing, which that chapter says."""
    try:
        return importlib.import_module(f"{package_of(LESSON)}.{part}.chapter").facts()
    except ValueError:
        return None
