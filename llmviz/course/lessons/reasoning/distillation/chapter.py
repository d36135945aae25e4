"""Chapter "Distilling": small students of the story model, taught by text or by distributions."""

import streamlit as st

from llmviz.course.lessons.reasoning.distillation import learning, place, record, words
from llmviz.course.lessons.reasoning.distillation.distil_record import (
    BUNDLED,
    COMMAND,
    FEW,
    bundled,
    recorded,
)
from llmviz.course.lessons.reasoning.distillation.distilling import SOFT_1, TEACHER, TEXT
from llmviz.course.ui import engine, kit


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    if not kit.is_here(words.missing, COMMAND, lambda: (recorded(), *map(bundled, BUNDLED))):
        return
    kit.section(words.intro, teacher=engine.card(TEACHER)["parameters"], student=parameters())
    place.draw(state)
    opened = record.draw(state)
    if opened:
        learning.draw(state)
        kit.seen(words.end, **end())


@kit.kept(1)
def parameters() -> int:
    """Return how many parameters a student has."""
    return sum(parameter.numel() for parameter in bundled(TEXT).parameters())


def end() -> dict[str, object]:
    """Return the numbers of the chapter's end."""
    noise = recorded().noise
    return {
        "tokens": record.tokens(),
        "few": FEW,
        "text": record.mean(TEXT, FEW),
        "soft": record.mean(SOFT_1, FEW),
        "noise_text": noise.text,
        "noise_soft": noise.soft,
    }
