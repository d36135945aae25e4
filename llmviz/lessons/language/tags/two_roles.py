"""Words with two roles, each in two of the counted sentences, with both taggers' answers."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from llmviz.lessons.language import counted_stories as counted
from llmviz.lessons.language.sentence import base_model, tagged
from llmviz.lessons.language.tags import words
from llmviz.study.word_roles import TwoRoles
from llmviz.ui import engine
from llmviz.ui.common import keep
from llmviz.ui.kept import kept
from llmviz.ui.lesson import section
from llmviz.ui.notices import or_refused
from llmviz.ui.prose import prose, quote
from llmviz.ui.state import PageState
from llmviz.ui.text import escape_markdown


def draw(state: PageState) -> None:
    """Show the section."""
    section(words.twice)
    pairs = {one.word: one for one in counted.two_roles()}
    names = list(pairs)
    word = keep(state, "role", names) if state["role"] else names[0]

    def take() -> None:
        state["role"] = st.session_state[slot] or ""

    slot = f"_role@{state.page}"
    st.session_state[slot] = word
    st.pills(words.twice_word, names, key=slot, on_change=take, required=True)
    bundled = base_model()
    if bundled is None:
        return
    rows = or_refused(answers, bundled, pairs[word], state["smooth"])
    if rows is None:
        return
    st.table(table_of(rows), border="horizontal", hide_index=True)  # its sentences break into lines
    right = [sum(row[1] == row[column] for row in rows) for column in (2, 3)]
    prose(words.twice_read, word=quote(word), hmm=right[0], transformer=right[1])


@kept(32)
def table_of(rows: tuple[tuple[str, str, str, str], ...]) -> pd.DataFrame:
    """Return what `answers` returned as a table with titles."""
    safe = [(escape_markdown(text), *tags) for text, *tags in rows]
    return pd.DataFrame(safe, columns=list(words.twice_columns))


@kept(32)
def answers(
    bundled: engine.Bundled, pair: TwoRoles, smoothing: str
) -> tuple[tuple[str, str, str, str], ...]:
    """Return (sentence, true tag, tag by the tables, by the transformer) of both sentences."""
    rows = []
    for tag, text, at in pair.sentences:
        read_words = tagged(bundled, text)
        by_tables = counted.tags_of(smoothing, tuple(word.text for word in read_words))
        rows.append((text, tag, by_tables[at], read_words[at].tag))
    return tuple(rows)
