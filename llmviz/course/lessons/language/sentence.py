"""The sentence that chapters on roles share, as its words with what the tagger says of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from llmviz.corpus.roles import split_words
from llmviz.course.components.text_guard.view import text_guard
from llmviz.course.lessons.language import LIMIT
from llmviz.course.lessons.language import words as words
from llmviz.course.lessons.language.word_roles import ReadWord, read_words
from llmviz.course.ui import engine, kit
from llmviz.course.ui.engine_ready import engine_ready
from llmviz.language.role_scores import load_scores

if TYPE_CHECKING:
    from llmviz.language.tagger import Tagger

BASE = "tiny-world-gpt"  # the model that the bundled tagger was fitted to
KEY = "sentence"


def sentence_box(state: kit.PageState, *, guarded: bool = False) -> None:
    """Show the box of the sentence and its examples; guarded: another box has the page's guard."""

    def take(name: str) -> None:
        state[KEY] = words.sentence_examples[name]
        _let_go(state)

    key = f"_examples.sentence@{state.page}"
    kit.suggest(
        words.sentence_label,
        list(words.sentence_examples),
        take,
        key=key,
        label_visibility="collapsed",
    )
    with st.container(gap=None):
        kit.text_area(state, KEY, words.sentence_label, height=80, then=lambda: _let_go(state))
        if not guarded:
            text_guard(kit.furniture.half_character)


def _let_go(state: kit.PageState) -> None:
    """Take back the tags that were given by hand, in the chapter "Names", to another sentence."""
    if state["read"] == "text":
        state["changed"], state["nword"] = "", -1


def sentence_of(state: kit.PageState) -> str | None:
    """Return the text as far as it is read; None, after one clear line, without a word."""
    text = kit.readable(state[KEY], LIMIT, words.sentence_empty, words.sentence_too_long)
    if text is None:
        return None
    if not split_words(text):
        kit.inform(words.sentence_no_word, ":material/edit:")
        return None
    return text


def named(tag: str) -> str:
    return f"{tag} ({words.sentence_tag_names[tag]})"


def base_model() -> engine.Bundled | None:
    """Return the model that the tagger reads; None, after one clear line, without it."""
    if not engine_ready():
        return None
    if not kit.models_here(BASE):
        return None
    return kit.load(BASE)


card = kit.cached(1)(load_scores)  # the bundled measurements of tags, names and probes


@kit.cached(1)
def bundled_tagger() -> tuple[Tagger, dict[str, Any]]:
    """Return the bundled tagger and its card; ValueError where it is absent or damaged."""
    from llmviz.language.bundle import load_tagger

    return load_tagger()


@kit.cached(128)
def tagged(bundled: engine.Bundled, text: str) -> tuple[ReadWord, ...]:
    """Return a text's words as the tagger of a model reads them."""
    return tuple(read_words(bundled.model, bundled.tokenizer, bundled_tagger()[0], text))


def read(text: str) -> tuple[ReadWord, ...] | None:
    """Return a text's words with their roles; None, after one clear line, where that fails."""
    bundled = base_model()
    if bundled is None:
        return None
    try:
        return tagged(bundled, text)
    except ValueError as error:  # the model of that name is another one
        kit.refuse(error)
        return None
