"""The ways from this lesson into others, with the learner's name."""

import streamlit as st

from llmviz.course.lessons.history import words
from llmviz.course.ui import kit


def places(name: str) -> dict[str, dict[str, str]]:
    """Return where other lessons go on: what the link to each page holds."""
    return {
        "attention": {"part": "why", "letters": name},
        "transformer": {"part": "block", "of": "model", "text": name},
        "training": {"part": "race"},
    }


def link_onward(name: str) -> None:
    """Show links into the lessons on attention, the transformer and training."""
    kit.prose(words.elsewhere, name=kit.quote(name))
    with st.container(horizontal=True):
        for page, link in places(name).items():
            kit.chapter_link(page, label=words.links[page], **link)
