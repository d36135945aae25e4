"""Part of the chapter "How alike": where the two vectors come from.

C width of a vector.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import streamlit as st

from llmviz.course.lessons.embeddings import sources
from llmviz.course.lessons.embeddings.similarity import TYPED, parse_vector, words
from llmviz.course.ui import kit
from llmviz.similarity import NotOneRow, VectorTable


@dataclass(frozen=True)
class Side:
    """One of the two vectors: its name, what it is, and its numbers (C,) in float64."""

    name: str
    what: str
    values: np.ndarray
    ids: tuple[int, ...] = ()
    short: str = ""  # the name, where it is no longer than a word


def _word_boxes(state: kit.PageState) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kit.text_input(state, "word", words.first, width=200)
        kit.text_input(state, "other", words.second, width=200)


def _words(state: kit.PageState, table: VectorTable) -> tuple[Side, ...] | None:
    typed = {key: state[key].strip() for key in ("word", "other")}
    if missing := [key for key, word in typed.items() if not word]:
        quoted = {key: kit.quote(word) for key, word in typed.items()}
        case = missing[0] if len(missing) == 1 else "both"
        kit.inform(words.missing[case].format(**quoted), ":material/edit:")
        return None
    sides = [_word(state, table, key) for key in typed]
    found = tuple(side for side in sides if side is not None)
    return found if len(found) == len(sides) else None


def _word(state: kit.PageState, table: VectorTable, key: str) -> Side | None:
    try:
        ids = table.read(state[key])
    except NotOneRow as problem:
        sources.offer(state, key, table, problem)
        return None
    if len(ids) == 1:
        label = sources.labels(table)[ids[0]]
        return Side(label, words.row_of.format(row=ids[0]), table.mean(ids), ids, label)
    pieces = ", ".join(sources.label(table, row) for row in ids)
    about = {"word": kit.quote(state[key]), "name": sources.named(table), "pieces": pieces}
    kit.prose(words.mean, count=kit.count(len(ids), "token"), **about)
    sources.likes(state, key, table, table.spelled_like(state[key].strip()))
    name = state[key].strip()[:24]
    return Side(name, _mean_of(ids), table.mean(ids), ids, name)


def _mean_of(ids: Sequence[int]) -> str:
    return words.mean_of.format(count=kit.count(len(ids), "row"))


def _sentence_boxes(state: kit.PageState) -> None:
    for key, name in zip(("s1", "s2"), words.sentences, strict=True):
        kit.text_input(state, key, name)


def _sentences(state: kit.PageState, table: VectorTable) -> tuple[Side, ...] | None:
    sides = []
    for key, name in zip(("s1", "s2"), words.sentences, strict=True):
        try:
            ids = table.read(state[key])
        except NotOneRow as problem:
            sources.say_unknown(table, problem)
            return None
        sides.append(Side(name, _mean_of(ids), table.mean(ids), ids))
    first, second = (kit.count(len(side.ids), "token") for side in sides)
    kit.prose(words.sentence_mean, first=first, second=second)
    if sides[0].ids != sides[1].ids and sorted(sides[0].ids) == sorted(sides[1].ids):
        kit.prose(words.sentence_same)
    return tuple(sides)


def _number_boxes(state: kit.PageState) -> None:
    kit.prose(words.numbers_text)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for key in TYPED:
            kit.text_input(state, key, key, width=190)
        st.button(words.example, icon=":material/undo:", on_click=state.setter(**TYPED))
    kit.choose(state, "pair", words.pair, words.pairs)


def _numbers(state: kit.PageState, table: VectorTable) -> tuple[Side, ...]:
    names = [f"v{number}" for number in state["pair"]]
    sides = []
    for name in names:
        try:
            values = np.array(parse_vector(state[name]))
        except ValueError as rule:
            raise ValueError(f"{name}: {rule}") from None
        sides.append(Side(name, words.typed_formula, values, (), name))
    return tuple(sides)


BOXES = {"words": _word_boxes, "sentences": _sentence_boxes, "numbers": _number_boxes}
READ = {"words": _words, "sentences": _sentences, "numbers": _numbers}
