"""The settings of the pipeline for every chapter: checked, in words, as Python, refused."""

from typing import Any

import streamlit as st

from llmviz.course.lessons.sampling import params, words
from llmviz.course.lessons.sampling.pipeline import words as pipeline_words
from llmviz.course.lessons.sampling.source import Prompted
from llmviz.course.ui import kit
from llmviz.sampling import STEPS, SamplingSteps, kind_of, sampling_steps, usual_order

# What changes nothing.
NEUTRAL = {kind.name: kind.neutral for kind in STEPS}


def usable(state: kit.PageState, prompt: Prompted) -> dict[str, Any]:
    """Return the settings of the page, less what this model has no tokens for, saying so."""
    settings = params.settings(state)
    vocabulary = prompt.logits.size
    if settings["top_k"] is not None and settings["top_k"] > vocabulary:
        st.info(pipeline_words.top_k_large.format(k=settings["top_k"], vocabulary=vocabulary))
        settings["top_k"] = None
    beyond = [token for token in settings["banned"] if token >= vocabulary]
    if beyond:
        st.info(
            pipeline_words.ban_gone.format(ids=", ".join(map(str, beyond)), vocabulary=vocabulary)
        )
    settings["banned"] = tuple(token for token in settings["banned"] if token < vocabulary)
    return settings


def steps_of(
    state: kit.PageState, prompt: Prompted, settings: dict[str, Any]
) -> SamplingSteps | None:
    """Return the pipeline's steps after a prompt, or None after saying why there are none."""
    try:
        return sampling_steps(prompt.logits, previous=prompt.ids, **settings)
    except ValueError as error:
        refused(state, error)
        return None


def strip_box(state: kit.PageState) -> None:
    """Show the choice in which order tokens lie on the strip from 0 to 1."""
    st.selectbox(words.strip, width=210, **state.named("strip", words.strips))


def refused(state: kit.PageState, error: ValueError) -> None:
    """Say why nothing can be drawn with these settings, and offer the way back."""
    kit.refuse(error)
    st.button(words.reset, icon=":material/restart_alt:", on_click=params.reset, args=(state,))


def described(settings: dict[str, Any]) -> str:
    """Return the settings that change something, in their order, in words."""
    parts = [
        f"{len(settings[name])} forbidden"
        if name == "banned"
        else f"{kind_of(name).title} {kind_of(name).text_of(settings[name])}"
        for name in settings["order"]
        if settings[name] != NEUTRAL[name]
    ]
    return ", ".join(parts) or words.plain


def arguments(settings: dict[str, Any]) -> str:
    """Return the settings that change something as Python arguments."""
    defaults = NEUTRAL | {"order": usual_order(), "strip": "id"}
    return "".join(
        f", {name}={value!r}" for name, value in settings.items() if value != defaults[name]
    )
