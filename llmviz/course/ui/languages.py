"""The choice of a language: beside every page, and offered once to a browser that speaks one."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import streamlit as st

from llmviz.course.document import ENGLISH, Document, language, texts_of
from llmviz.course.document.languages import LANGUAGES, speaking
from llmviz.course.document.texts import in_english
from llmviz.course.ui.contents import LANGUAGE
from llmviz.course.ui.furniture import words

_SLOT = f"shared.{LANGUAGE.key}"
_OFFERED = "_language_offered"  # in the session: which page made the offer, or "" after an answer


def switch() -> None:
    """Show the languages, each by its own name."""
    now, key = language(), "_language"
    st.session_state[key] = now
    st.segmented_control(
        words.language,
        list(LANGUAGES),
        format_func=LANGUAGES.__getitem__,
        required=True,
        label_visibility="collapsed",
        key=key,
        on_change=lambda: speak(st.session_state[key]),
    )


def offer(page: str) -> None:
    """Offer the language of the browser, on the first page of a visit that asks for none."""
    made = st.session_state.setdefault(_OFFERED, page)
    if made != page or language() != ENGLISH or _SLOT in st.session_state:
        return
    theirs = (st.context.locale or "").partition("-")[0]
    if theirs == ENGLISH or theirs not in LANGUAGES:
        return
    said = texts_of(words, theirs)
    with st.container(horizontal=True, vertical_alignment="center", key="lv-language"):
        st.caption(said["offer"])
        st.button(said["take_offer"], key="_language_take", on_click=speak, args=(theirs,))
        kept = said["keep_english"]
        st.button(kept, key="_language_keep", type="tertiary", on_click=speak, args=(ENGLISH,))


def as_translated(document: Document) -> AbstractContextManager[None]:
    """Say in one line what of a document is in English only; a block in which it is drawn.

    What is not translated, or hardly, is in English throughout: its numbers and buttons, too.
    """
    gap = in_english(document)
    if gap:
        st.caption(words.in_english if gap == "all" else words.partly)
    return speaking(ENGLISH) if gap == "all" else nullcontext()


def speak(wanted: str) -> None:
    """Let this visitor's pages be in a language from the next rerun on."""
    st.session_state[_SLOT] = wanted
    st.session_state[_OFFERED] = ""
    if wanted == ENGLISH:
        st.query_params.pop(LANGUAGE.key, None)
    else:
        st.query_params[LANGUAGE.key] = wanted
