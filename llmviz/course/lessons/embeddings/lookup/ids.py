"""Part of the chapter "The table": ids mean nothing, rows do."""

import numpy as np
import streamlit as st

from llmviz.course import components as lv
from llmviz.course.components.vector_table.view import clicked
from llmviz.course.lessons.embeddings import sources
from llmviz.course.lessons.embeddings.clear import stands_out
from llmviz.course.lessons.embeddings.lookup import words
from llmviz.course.ui import kit
from llmviz.interpretability.vector_tables import (
    likest,
    measured,
    next_id,
    spelled_like,
)
from llmviz.similarity import VectorTable, euclidean, renumbered

NAMED = 4  # neighbours that are named in the figure
CROWD = 0.2  # share of the tokens with rows that point one way, from which on it is said


def ask(table: VectorTable, row: int) -> bool:
    """Ask which row is most like the chosen one, where that has one answer.

    Returns whether what shows it may be seen.
    """
    question = _asked(table, row)
    return question is None or kit.predict(question, "embeddings.likest", covers=True)


@kit.kept(64)
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
            token=sources.label(table, i), id=i, gap=abs(i - row), cosine=kit.signed(alike[i])
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
def draw(state: kit.PageState, table: VectorTable, row: int) -> None:
    """Show distances of ids beside likeness of rows, for the model's ids or for dealt ones."""
    kit.section(words.ids, word=sources.label(table, row))
    alike = measured(table, row)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kit.text_input(state, "other", words.other, width=180)
        st.button(words.deal, icon=":material/shuffle:", on_click=_deal, args=(state, 1))
        st.button(words.undeal, on_click=_deal, args=(state, 0), disabled=not state["deal"])
    other = sources.find(state, "other", table)
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


@kit.kept(64)
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
            state["other"] = table.name_of(chosen)

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
        gap=int(abs(new[row] - new[other])),
        cosine=kit.signed(alike[other]),
        distance=euclidean(here, table.matrix[other]),
        k=int(new[beside]),
        next=sources.label(table, beside),
        next_cosine=kit.signed(alike[beside]),
        next_distance=euclidean(here, table.matrix[beside]),
    )
