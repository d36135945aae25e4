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
from llmviz.course.lessons.embeddings.clear import stands_out
from llmviz.course.lessons.embeddings.lookup import words
from llmviz.course.ui import kit
from llmviz.course.ui import pinned_cells as cells
from llmviz.interpretability.vector_tables import likest, measured, next_id, spelled_like
from llmviz.similarity import (
    VectorTable,
    euclidean,
    measure_all,
    nearest,
    one_hot,
    projector_labels,
    renumbered,
)
from llmviz.tokenizers import Token

NAMED = 4  # neighbours that are named in the figure
CROWD = 0.2  # share of the tokens with rows that point one way, from which on it is said


def ask(table: VectorTable, row: int) -> bool:
    """Ask which row is most like the chosen one, where that has one answer.

    Returns whether what shows it may be seen.
    """
    return kit.Guess("embeddings.likest", _asked(table, row)).ask()


@kit.cached(64)
def _asked(table: VectorTable, row: int) -> kit.Question | None:
    return likest_question(table, row, measured(table, row))


def likest_question(table: VectorTable, row: int, alike: np.ndarray) -> kit.Question | None:
    """Return the question: the nearest row, the next id's, the likest spelling's, or another.

    alike: (V,) cosines of all rows with that of `row`, NaN for a row of zeros. None where two
    answers could be called right, or look the same.
    """
    if table.size < 2:
        return None
    best = likest(alike, row, 1)[0]
    beside = [i for i in (row + 1, row - 1) if 0 <= i < table.size and i != best][:1]
    spelled = [i for i in spelled_like(table, row) if i != best][:1]
    far = [(row + table.size // 2) % table.size]
    offered = dict.fromkeys([best, *beside, *spelled, *far])
    answers = [i for i in offered if i != row and np.isfinite(alike[i])][:4]
    if len(answers) < 3 or len({sources.labels(table)[i] for i in answers}) < len(answers):
        return None
    if not stands_out([float(alike[i]) for i in answers], 0):
        return None
    reasons = {
        i: words.ask_why.format(
            token=sources.label(table, i),
            gap=kit.count(abs(i - row), "line"),
            cosine=kit.signed(alike[i]),
        )
        for i in answers
    }
    reasons[best] += f" {words.ask_right}"
    return kit.Question.among(
        words.ask,
        reasons,
        best,
        lambda i: words.ask_answer.format(token=sources.labels(table)[i], id=i),
        word=sources.label(table, row),
    )


@st.fragment
def draw_ids(state: kit.PageState, table: VectorTable, row: int) -> None:
    """Show distances of ids beside likeness of rows, for the model's ids or for dealt ones."""
    kit.section(words.ids, word=sources.label(table, row))
    alike = measured(table, row)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kit.text_input(state, "beside", words.other, width=180)
        st.button(words.deal, icon=":material/shuffle:", on_click=_deal, args=(state, 1))
        st.button(words.undeal, on_click=_deal, args=(state, 0), disabled=not state["deal"])
    other = sources.find(state, "beside", table)
    new = _new_ids(table.size, state["deal"])
    _figure(state, table, row, other, new, alike)
    if other is not None:
        _pair(table, row, other, new, alike)
    kit.prose(said_of_ids(table, row, new, alike, state["deal"]))


def said_of_ids(table: VectorTable, row: int, new: np.ndarray, alike: np.ndarray, deal: int) -> str:
    """Say how near in truth the token of the next id is; new, alike (V,): ids, and cosines."""
    beside = next_id(new, row)
    others = np.delete(alike, row)
    if not np.isfinite(alike[beside]):  # a row of zeros
        return words.ids_dealt if deal else ""
    line = words.ids_next.format(
        next=sources.label(table, beside),
        place=1 + int((others > alike[beside]).sum()),
        count=int(np.isfinite(others).sum()),
    )
    more = words.ids_dealt if deal else words.ids_order.get(table.tokenizer.kind, "")
    return f"{line} {more}".strip()


@kit.cached(64)
def _new_ids(size: int, deal: int) -> np.ndarray:
    """The ids of a table's rows (V,), dealt out anew unless `deal` is 0."""
    return renumbered(size, deal) if deal else np.arange(size)


def middle(alike: np.ndarray, rows: np.ndarray) -> tuple[str, str]:
    """Return, as they are written, the two numbers between which nine in ten of some rows lie."""
    low, high = np.nanquantile(alike[rows], (0.05, 0.95))
    return kit.signed(float(low)), kit.signed(float(high))


def _deal(state: kit.PageState, by: int) -> None:
    state["deal"] = state["deal"] % 999_999 + 1 if by else 0


def _figure(
    state: kit.PageState,
    table: VectorTable,
    row: int,
    other: int | None,
    new: np.ndarray,
    alike: np.ndarray,
) -> None:
    """Draw every token: how far its id is, how alike its row."""
    roles = dict.fromkeys(likest(alike, row, NAMED), "value") | {next_id(new, row): "key"}
    if other is not None and other != row:
        roles[other] = "accent"
    labels, key = sources.labels(table), "embeddings.ids"
    own = labels[row]

    def take() -> None:
        chosen = clicked(st.session_state[key].get("chosen"), table.size)
        if chosen is not None:
            state["beside"] = table.name_of(chosen)

    lv.dots(
        np.abs(new - new[row]),
        alike,
        labels,
        [lv.Dot(i, role) for i, role in roles.items()],
        axes=(words.gap_axis.format(word=own), words.cosine_axis.format(word=own)),
        key=key,
        words=words.dots,
        on_change=take,
    )


def _pair(table: VectorTable, row: int, other: int, new: np.ndarray, alike: np.ndarray) -> None:
    here = table.matrix[row]
    beside = next_id(new, row)
    kit.prose(
        words.ids_pair,
        word=sources.label(table, row),
        other=sources.label(table, other),
        i=int(new[row]),
        j=int(new[other]),
        gap=kit.count(int(abs(new[row] - new[other])), "line"),
        cosine=kit.signed(alike[other]),
        distance=euclidean(here, table.matrix[other]),
        k=int(new[beside]),
        next=sources.label(table, beside),
        next_cosine=kit.signed(alike[beside]),
        next_distance=euclidean(here, table.matrix[beside]),
    )


KEY = "embeddings.lookup"
AROUND = 3  # rows drawn on either side of the chosen one
DRAWN = 8  # columns drawn
READ = 2_000  # characters of the learner's text
MOST_CHIPS = 300


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the row of a token in its table and the guess which row is like it, then the rest."""
    kit.prose(words.hook)
    stage = kit.stage("lookup")
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
    shown = False
    if row is not None:
        try:
            with guess:
                shown = ask(table, row)
            if shown:
                with looks:
                    kit.looks(state, words.looks, f"{KEY}.looks")
                    kit.real_look(state, words.real, f"{KEY}.real")
                draw_ids(state, table, row)
            _product(state, table, row)
            _code(state, table, row)
        except ValueError as error:  # a row of zeros has no cosine
            kit.refuse(error)
    _downloads(table)
    if shown and row is not None:
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
            gap=kit.count(abs(best - row), "line"),
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
