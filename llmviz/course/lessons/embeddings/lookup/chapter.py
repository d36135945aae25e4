"""Chapter "The table": the embedding matrix, a row of it, and one-hot times matrix.

V rows, one a token; C columns.
"""

from collections.abc import Sequence

import numpy as np
import streamlit as st

from llmviz.course import components as lv
from llmviz.course.components.token_strip.view import TokenRow, TokenSelection, token_strip
from llmviz.course.components.vector_table.view import clicked
from llmviz.course.lessons.embeddings import sources
from llmviz.course.lessons.embeddings.lookup import ids, words
from llmviz.course.ui import kit
from llmviz.course.ui import pinned_cells as cells
from llmviz.interpretability.vector_tables import likest, measured
from llmviz.similarity import (
    VectorTable,
    measure_all,
    nearest,
    one_hot,
    projector_labels,
    renumbered,
)
from llmviz.tokenizers import Token

KEY = "embeddings.lookup"
AROUND = 3  # rows drawn on either side of the chosen one
DRAWN = 8  # columns drawn
READ = 2_000  # characters of the learner's text
MOST_CHIPS = 300


STAGED = True


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the row of a token in its table and the guess which row is like it, then the rest."""
    kit.prose(words.hook)
    stage = kit.stage("lookup", stays=False)
    guess, looks = st.container(), st.container()
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        table = sources.choose(state)
        if table is None:
            return
        kit.text_input(state, "word", words.word, width=180)
    row = sources.find(state, "word", table)
    kit.text_box(state, height=68)
    text = kit.learner_text(state, READ)
    tokens = table.tokenizer.tokens(text) if text is not None else []
    with stage:
        _text(state, table, row, tokens)
        _whole(state, table, row, [token.id for token in tokens])
    with looks:
        kit.looks(state, words.looks, f"{KEY}.looks")
    shown = False
    if row is not None:
        try:
            with guess:
                shown = ids.ask(table, row)
            if shown:
                ids.draw(state, table, row)
            _product(state, table, row)
            _code(state, table, row)
        except ValueError as error:  # a row of zeros has no cosine
            kit.refuse(error)
    _downloads(table)
    if shown:
        _end(table, row)


def _end(table: VectorTable, row: int) -> None:
    alike = measured(table, row)
    for best in likest(alike, row, 1):
        kit.seen(
            words.end,
            name=sources.named(table),
            rows=table.size,
            columns=table.width,
            word=sources.label(table, row),
            row=row,
            best=sources.label(table, best),
            cosine=kit.signed(alike[best]),
            gap=abs(best - row),
        )


def _text(
    state: kit.PageState, table: VectorTable, row: int | None, tokens: Sequence[Token]
) -> None:
    """Show the learner's text as tokens to choose from."""
    if not tokens:
        return
    token_ids = [token.id for token in tokens]
    at = token_ids.index(row) if row in token_ids else None

    def take() -> None:
        chosen = st.session_state[f"{KEY}.text"].get("selected")
        if chosen:
            state["word"] = table.name_of(token_ids[chosen[1]])

    token_strip(
        [TokenRow(words.text_row, tokens)],
        key=f"{KEY}.text",
        selected=None if at is None else TokenSelection(0, at, token_ids[at]),
        limit=MOST_CHIPS,
        on_change=take,
    )


def _whole(state: kit.PageState, table: VectorTable, row: int | None, tokens: list[int]) -> None:
    """Draw the whole table with the chosen row lit, and say between which others it lies."""

    def take() -> None:
        chosen = clicked(st.session_state[f"{KEY}.table"].get("chosen"), table.size)
        if chosen is not None:
            state["word"] = table.name_of(chosen)

    lv.vector_table(
        sources.picture(table),
        key=f"{KEY}.table",
        words=words.picture,
        chosen=row,
        marks=sorted(set(tokens)),
        on_change=take,
    )
    about = {"rows": table.size, "columns": table.width, "numbers": table.size * table.width}
    line = words.whole.format(name=kit.label(table.name), **about)
    if row is not None:
        line = f"{words.whole_row.format(label=sources.label(table, row), row=row)} {line}"
    kit.prose(line)


@st.fragment
def _product(state: kit.PageState, table: VectorTable, row: int) -> None:
    """Show looking up as one-hot times matrix."""
    first = max(0, min(row - AROUND, table.size - 2 * AROUND - 1))
    last = min(table.size, first + 2 * AROUND + 1)
    left = min(state["column"], max(0, table.width - DRAWN))
    right = min(table.width, left + DRAWN)
    hot = one_hot(row, table.size)
    product = hot @ table.matrix
    text, left_out = words.one_text.format(rows=table.size, row=row), table.size - (last - first)
    if left_out:
        text += " " + words.one_left.format(left=left_out)
    kit.section(words.one.title, text)
    if table.width > DRAWN:
        st.number_input(words.column, width=190, **state.ranged("column", most=table.width - DRAWN))
    labels = sources.labels(table)
    columns = [str(j) for j in range(left, right)]
    cells.show(
        state,
        [
            lv.Matrix(
                words.hot,
                hot[None, first:last],
                formula=words.hot_formula.format(first=first, last=last - 1, rows=table.size),
                role="accent",
                scale="sequential",
                limit=1.0,
                col_labels=[str(i) for i in range(first, last)],
            ),
            lv.Matrix(
                words.table,
                table.matrix[first:last, left:right],
                formula=words.table_formula.format(
                    first=first, last=last - 1, left=left, right=right - 1
                ),
                role="residual",
                row_labels=labels[first:last],
                col_labels=columns,
            ),
            lv.Matrix(
                words.row,
                product[None, left:right],
                formula=words.row_formula.format(row=row),
                role="residual",
                row_labels=[labels[row]],
                col_labels=columns,
                op=lv.matmul(words.hot, words.table),
            ),
        ],
        [[words.hot], ["×"], [words.table], ["="], [words.row]],
        key=f"{KEY}.product",
        control="cell",
        first=f"{words.row}.0.0",
        stacked=True,
        numbers=True,
    )
    kit.prose(
        words.one_cost,
        all=table.size * table.width,
        zero=(table.size - 1) * table.width,
        difference=float(np.abs(product - table.matrix[row]).max()),
    )


def _code(state: kit.PageState, table: VectorTable, row: int) -> None:
    best = likest(measured(table, row), row, 5)
    kit.show_code(
        [one_hot, renumbered, measure_all, nearest],
        words.snippet.format(name=table.name, word=state["word"], count_best=len(best)),
        f"{row} True\n{best}",
    )


def _downloads(table: VectorTable) -> None:
    kit.section(words.download, rows=table.size, columns=table.width)
    labels = sources.labels(table)
    stem = table.name.replace(":", "-")
    with st.container(horizontal=True):
        for title, ending, make in (
            (words.csv, "vectors.csv", lambda: table.csv(labels)),
            (words.tsv, "vectors.tsv", table.tsv),
            (words.labels, "labels.tsv", lambda: projector_labels(labels)),
        ):
            st.download_button(
                title,
                make,  # written when it is asked for
                f"{stem}-{ending}",
                "text/csv" if ending.endswith("csv") else "text/tab-separated-values",
                key=f"{KEY}.{ending}",
                on_click="ignore",
                icon=":material/download:",
            )
