"""Stacks of untrained layers that two chapters draw."""

from collections.abc import Callable
from typing import TypeVar

import streamlit as st

from llmviz.course.lessons.transformer.depth import DepthStudy, depth_study
from llmviz.course.ui import kit

About = TypeVar("About")


@kit.kept(256)
def stack(
    layers: int, norm: str, shortcuts: bool = True, kind: str = "layer", seed: int = 0
) -> DepthStudy:
    """Return one stack's pass forward and back."""
    return depth_study(layers, norm, shortcuts=shortcuts, norm_kind=kind, seed=seed)


def ask_once(key: str, about: About, question: Callable[[About], kit.Question]) -> bool:
    """Ask about a stack; once answered, the question stays with the stack that it was about.

    A slider that is moved to compare stacks so covers nothing anew. Returns what `predict` does.
    """
    slot = f"_{key}.about"
    before = st.session_state.get(slot, about)
    if kit.answered(question(before), key):
        about = before
    shown = kit.predict(question(about), key, covers=True)
    if shown:
        st.session_state[slot] = about
    return shown
