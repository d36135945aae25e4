"""Words with two roles, each in two of the counted sentences, with both taggers' answers."""

import pandas as pd
import streamlit as st

from llmviz.course.lessons.language import counted_stories as counted
from llmviz.course.lessons.language.sentence import base_model, tagged
from llmviz.course.lessons.language.tags import words
from llmviz.course.lessons.language.word_roles import TwoRoles
from llmviz.course.ui import engine, kit


def draw(state: kit.PageState) -> None:
    """Show the section."""
    kit.section(words.twice)
    pairs = {pair.word: pair for pair in counted.two_roles()}
    names = list(pairs)
    word = kit.keep(state, "role", names) if state["role"] else names[0]
    slot = kit.tied(f"_role@{state.page}", word, state.taker("role"))
    st.pills(words.twice_word, names, required=True, **slot)
    bundled = base_model()
    if bundled is None:
        return
    rows = kit.or_refused(answers, bundled, pairs[word], state["smooth"])
    if rows is None:
        return
    st.table(table_of(rows), border="horizontal", hide_index=True)  # its sentences break into lines
    right = [sum(row[1] == row[column] for row in rows) for column in (2, 3)]
    kit.prose(words.twice_read, word=kit.quote(word), hmm=right[0], transformer=right[1])


@kit.kept(32)
def table_of(rows: tuple[tuple[str, str, str, str], ...]) -> pd.DataFrame:
    """Return what `answers` returned as a table with titles."""
    safe = [(kit.escape_markdown(text), *tags) for text, *tags in rows]
    return pd.DataFrame(safe, columns=list(words.twice_columns))


@kit.kept(32)
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
