"""The tags that the learner gives words by hand, as a link carries them."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from llmviz.corpus.roles import ENTITY_TAGS
from llmviz.lessons.language.names import words
from llmviz.study.word_roles import ReadWord
from llmviz.textfile import whole_number
from llmviz.ui.prose import prose
from llmviz.ui.state import PageState, tied
from llmviz.ui.text import escape_markdown

LONG = 24  # letters of a word that the control's name holds


def read_changes(written: str, count: int) -> dict[int, str]:
    """Return the changes of a link for a text of `count` words; what makes no sense is left out.

    >>> read_changes("3.O,1.B-DAY,9.O,x.O,2.Z", 5)
    {3: 'O', 1: 'B-DAY'}
    """
    found = {}
    for part in written.split(","):
        place, _, tag = part.partition(".")
        at = whole_number(place)
        if at is not None and at < count and tag in ENTITY_TAGS:
            found[at] = tag
    return found


def applied(written: str, given: Sequence[str]) -> list[str]:
    """Return tags with the changes of a link made."""
    tags = list(given)
    for at, tag in read_changes(written, len(tags)).items():
        tags[at] = tag
    return tags


def forget(state: PageState) -> None:
    """Take all changes back, and let go of the open word."""
    state["changed"], state["nword"] = "", -1


def undo(state: PageState) -> None:
    """Take all changes back; the word stays open."""
    state["changed"] = ""


def control(state: PageState, found: Sequence[ReadWord], tags: Sequence[str], scored: bool) -> None:
    """Show the choice of a tag for the open word; scored: whether true tags are known."""
    at = state["nword"]
    is_open = 0 <= at < len(found)

    def take(tag: str | None) -> None:
        made = read_changes(state["changed"], len(found))
        made.pop(at, None)
        if tag is not None and tag != found[at].entity:
            made[at] = tag
        state["changed"] = ",".join(f"{place}.{one}" for place, one in sorted(made.items()))

    if not is_open:
        prose(words.CHANGE_TEXT if scored else words.CHANGE_UNSCORED)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        if is_open:
            word = found[at].text
            word = word if len(word) <= LONG else f"{word[: LONG - 1]}…"
            st.pills(
                words.CHANGE.format(word=escape_markdown(word)),
                ENTITY_TAGS,
                **tied(f"_language.names.tag.{at}", tags[at], take),
            )
        if read_changes(state["changed"], len(found)):
            st.button(words.UNDO, icon=":material/undo:", on_click=undo, args=(state,))
