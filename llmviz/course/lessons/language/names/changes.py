"""The tags that the learner gives words by hand, as a link carries them."""

from collections.abc import Sequence

import streamlit as st

from llmviz.corpus.roles import ENTITY_TAGS
from llmviz.course.lessons.language.names import words
from llmviz.course.lessons.language.word_roles import ReadWord
from llmviz.course.ui import kit
from llmviz.textfile import whole_number

LONG = 24  # letters of a word that the control's name holds


def read_changes(written: str, count: int) -> dict[int, str]:
    """Return the changes of a link for a text of `count` words; what makes no sense is left out.

    >>> read_changes("3.O,1.B-DAY,9.O,x.O,2.Z", 5)
    {3: 'O', 1: 'B-DAY'}
    """
    changes = {}
    for part in written.split(","):
        place, _, tag = part.partition(".")
        at = whole_number(place)
        if at is not None and at < count and tag in ENTITY_TAGS:
            changes[at] = tag
    return changes


def applied(written: str, given: Sequence[str]) -> list[str]:
    """Return tags with the changes of a link made."""
    tags = list(given)
    for at, tag in read_changes(written, len(tags)).items():
        tags[at] = tag
    return tags


def control(
    state: kit.PageState, read_words: Sequence[ReadWord], tags: Sequence[str], *, scored: bool
) -> None:
    """Show the choice of a tag for the open word; scored: whether true tags are known."""
    at = state["nword"]
    is_open = 0 <= at < len(read_words)

    def take(tag: str | None) -> None:
        changes = read_changes(state["changed"], len(read_words))
        changes.pop(at, None)
        if tag is not None and tag != read_words[at].entity:
            changes[at] = tag
        state["changed"] = ",".join(f"{place}.{label}" for place, label in sorted(changes.items()))

    if not is_open:
        kit.prose(words.change_text if scored else words.change_unscored)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        if is_open:
            word = read_words[at].text
            word = word if len(word) <= LONG else f"{word[: LONG - 1]}…"
            st.pills(
                words.change.format(word=kit.escape_markdown(word)),
                ENTITY_TAGS,
                **kit.tied(f"_language.names.tag.{at}", tags[at], take),
            )
        if read_changes(state["changed"], len(read_words)):
            st.button(words.undo, icon=":material/undo:", on_click=state.setter(changed=""))
