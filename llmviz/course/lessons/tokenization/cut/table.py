"""The vocabulary of a tokenizer as a table, and both as files."""

from collections import Counter

import pandas as pd
import streamlit as st

from llmviz.course.components.token_strip.view import visible_text
from llmviz.course.lessons.tokenization import sources
from llmviz.course.lessons.tokenization.cut import words
from llmviz.course.ui import kit
from llmviz.textfile import table_cell
from llmviz.tokenizers import Token, Tokenizer

ROWS_SHOWN = 200


def draw(state: kit.PageState, name: str, tokenizer: Tokenizer, tokens: list[Token]) -> None:
    """Show the tokens of the text, or a stretch of the whole vocabulary, and the two files."""
    kit.section(words.table)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.segmented_control(
            words.table.title,
            required=True,
            label_visibility="collapsed",
            **state.named("table", words.table_views),
        )
        whole = state["table"] == "all"
        if whole:
            st.number_input(words.table_from, width=160, **state.ranged("from"))
    counts = Counter(token.id for token in tokens)
    first = min(state["from"], tokenizer.vocab_size - 1)
    ids = range(first, min(first + ROWS_SHOWN, tokenizer.vocab_size)) if whole else sorted(counts)
    st.dataframe(vocabulary(tokenizer, ids, counts), hide_index=True, height=280, width=640)
    with st.container(horizontal=True):
        st.download_button(
            words.save_table,
            # Made when it is asked for: the largest vocabulary has 200,000 lines.
            lambda: as_csv(tokenizer, range(tokenizer.vocab_size) if whole else ids, counts),
            f"{name}-tokens.csv",
            "text/csv",
            icon=":material/download:",
            on_click="ignore",
        )
        st.download_button(
            words.save_tokenizer,
            lambda: sources.file_of(tokenizer),
            f"{name}-tokenizer.json",
            "application/json",
            icon=":material/download:",
            on_click="ignore",
        )


def vocabulary(tokenizer: Tokenizer, ids: range | list[int], counts: Counter) -> pd.DataFrame:
    """Return the lines of the vocabulary that `ids` name, with how often each stands in the text.

    Ids that a tokenizer leaves unused are left out.
    """
    unused = getattr(tokenizer, "unused_ids", frozenset()) if isinstance(ids, range) else ()
    listed = [(i, tokenizer.token_bytes(i)) for i in ids if i not in unused]
    columns = {
        "id": [i for i, _ in listed],
        "bytes": [data.hex(" ").upper() for _, data in listed],
        "text": [visible_text(data)[0] for _, data in listed],
        "count": [counts[i] for i, _ in listed],
    }
    return pd.DataFrame(columns).rename(columns=words.columns)


def as_csv(tokenizer: Tokenizer, ids: range | list[int], counts: Counter) -> bytes:
    """Return the table as a CSV file, in UTF-8."""
    table = vocabulary(tokenizer, ids, counts)
    text = words.columns["text"]
    return table.assign(**{text: table[text].map(table_cell)}).to_csv(index=False).encode("utf-8")
