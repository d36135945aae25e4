"""The address names the chapter that is shown, so that F5 and a copied link open it again."""

from __future__ import annotations

import pytest
import streamlit as st

from llmviz.course.lessons import LESSONS
from llmviz.course.ui import lesson as page
from tests.pages.harness import open_page


@pytest.mark.parametrize(
    "lesson", [one for one in LESSONS if one.names], ids=lambda lesson: lesson.key
)
def test_what_stands_in_the_address_opens_the_chapter_that_is_shown(lesson, monkeypatch):
    def draw(_lesson, state):
        st.session_state["drawn"] = state["part"]

    monkeypatch.setattr(page, "body", draw)
    for link in ({}, *({"part": key} for key in lesson.keys)):
        app = open_page(lesson.key, **link)
        drawn = app.session_state["drawn"]
        assert drawn == link.get("part", lesson.names[0])
        address = {key: "".join(value) for key, value in app.query_params.items()}
        assert address["part"] == drawn
        assert open_page(lesson.key, **address).session_state["drawn"] == drawn
