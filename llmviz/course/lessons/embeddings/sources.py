"""Where the chapters get vectors from: the tables of bundled models and of the learner's own runs.

V rows, one a token; C columns.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import streamlit as st

from llmviz.course.components.token_strip.view import visible_text
from llmviz.course.components.vector_table.view import TablePicture, table_picture
from llmviz.course.lessons.embeddings import DEFAULT_MODEL, words
from llmviz.course.ui import engine, kit
from llmviz.course.ui.rerun import once
from llmviz.interpretability.vector_tables import likest, measured, table_of, untrained_table
from llmviz.models.catalogue import able
from llmviz.similarity import NotOneRow, VectorTable

MISTAKEN = ("no-mask", "no-shift", "off-by-one", "two-softmaxes", "no-scale")
FIRST = (DEFAULT_MODEL, "tiny-world-word2vec")  # in this order at the head of the list


@once
def names(wanted: str = "") -> list[str]:
    """Return the models that have a table: the bundled ones, then the learner's own runs.

    wanted: the model in force; a run that only a link names is offered, too.
    """
    known = []
    for name, _ in kit.bundled_fitting(_has_table):
        if not name.endswith(MISTAKEN):
            place = FIRST.index(name) if name in FIRST else len(FIRST)
            known.append((place, not name.startswith("tiny"), name))
    return [name for *_, name in sorted(known)] + kit.offered(_has_table, wanted)


def _has_table(card: dict[str, Any]) -> bool:
    return able(card.get("model"), "token_table") or kit.tells_classes(card)


def choose(state: kit.PageState) -> VectorTable | None:
    """Show whose vectors are looked at, and return them; None, after one clear line, without."""
    known = names(state["model"])
    if not known:
        st.info(words.no_table, icon=":material/download:")
        st.code(words.no_table_command.format(name=DEFAULT_MODEL), language=None)
        return None
    kit.keep(state, "model", known)
    if len(known) > 1:
        st.selectbox(words.vectors, known, format_func=kit.label, width=260, **state.bind("model"))
    if kit.load(state["model"]) is None:
        return None
    return kit.or_refused(table, state["model"])


def table(name: str) -> VectorTable:
    """Return the table of a model, the same object for all sessions.

    Raises ValueError: there is no such model, it is damaged, or has no table.
    """
    bundled = engine.load(name)
    return table_of(name, bundled.model, bundled.tokenizer)


def can_begin(name: str) -> bool:
    """Whether the table that a model began with can be computed again: that of a GPT."""
    card = kit.card_of(name)
    return card is not None and able(card.get("model"), "attention")


def untrained(name: str) -> VectorTable:
    """Return the random table that a model began its training with, from its seed.

    Raises ValueError: there is no such model, or it is damaged.
    """
    bundled = engine.load(name)
    seed = bundled.card.get("seed") or 0
    return untrained_table(name, bundled.model, bundled.tokenizer, seed)


def beside(vectors: VectorTable) -> VectorTable | None:
    """Return the other one of the two tables of tiny-world, to compare with a first one."""
    other = next((name for name in FIRST if name != vectors.name), "")
    return table(other) if vectors.name in FIRST and other in engine.names() else None


@lru_cache(maxsize=8)
def labels(vectors: VectorTable) -> list[str]:
    """Return every token as text that one can see: spaces as dots, broken bytes in hex."""
    return [visible_text(data)[0] for data in vectors.bytes_of]


@lru_cache(maxsize=8)
def picture(vectors: VectorTable) -> TablePicture:
    """Return the whole table as its picture needs it."""
    return table_picture(vectors.matrix, labels(vectors))


def named(vectors: VectorTable) -> str:
    """Return whose vectors these are, as the menu calls it, for use inside a sentence."""
    return kit.quote(kit.label(vectors.name))


def label(vectors: VectorTable, row: int) -> str:
    """Return one token for use inside a sentence."""
    return kit.quote(labels(vectors)[row])


def word(vectors: VectorTable, row: int) -> str:
    """Return one word for use inside a sentence, without the space that its token begins with."""
    name = vectors.name_of(row)
    return label(vectors, row) if name.startswith("#") else kit.quote(name)


SPELLINGS = 20  # of one word, in a vocabulary


def likest_of(vectors: VectorTable, row: int) -> tuple[str, float]:
    """Return the word whose row has the largest cosine with a row, and that cosine.

    A token that is the same word with other capitals, or without its space, is no other word.
    """
    alike = measured(vectors, row)
    near = likest(alike, row, SPELLINGS)
    best = next((i for i in near if not same_word(vectors, i, row)), near[0])
    return labels(vectors)[best], float(alike[best])


def same_word(vectors: VectorTable, one: int, other: int) -> bool:
    """Return whether two tokens are spellings of one word."""
    a, b = (labels(vectors)[row].strip("·").casefold() for row in (one, other))
    return a == b


# ---- words that the learner typed


def find(state: kit.PageState, key: str, vectors: VectorTable) -> int | None:
    """Return the row of the word in a control; None, saying why and what to try, without one."""
    try:
        return vectors.find(state[key])
    except NotOneRow as problem:
        offer(state, key, vectors, problem)
    except ValueError as error:
        kit.refuse(error)
    return None


def offer(state: kit.PageState, key: str, vectors: VectorTable, problem: NotOneRow) -> None:
    """Say that a word has no row of its own, and offer its pieces and what is spelled like it."""
    if problem.ids:
        pieces(state, key, vectors, problem)
    else:
        about = {"word": kit.quote(problem.word), "name": named(vectors)}
        kit.prose(words.unknown, count=len(vectors.whole_words), **about)
    if not problem.spellings:
        st.caption(words.nothing_like)
    likes(state, key, vectors, problem.spellings)


def pieces(state: kit.PageState, key: str, vectors: VectorTable, problem: NotOneRow) -> None:
    """Say that a word is cut, and offer its pieces."""
    about = {"word": kit.quote(problem.word), "name": named(vectors)}
    kit.prose(words.pieces, count=kit.count(len(problem.ids), "token"), **about)
    _suggest(state, key, vectors, "pieces", [vectors.name_of(row) for row in problem.ids])


def likes(state: kit.PageState, key: str, vectors: VectorTable, spellings: Sequence[str]) -> None:
    """Offer words that are spelled like the one in a control, if there are any."""
    if spellings:
        st.caption(words.spelled_like)
        _suggest(state, key, vectors, "spellings", spellings)


def say_unknown(vectors: VectorTable, problem: NotOneRow) -> None:
    """Say which word of a text is unknown, and what is spelled like it."""
    kit.refuse(problem)
    if problem.spellings:
        st.caption(words.spelled_like)
        kit.prose(", ".join(word(vectors, vectors.find(known)) for known in problem.spellings))


def _suggest(
    state: kit.PageState, key: str, vectors: VectorTable, what: str, known: Sequence[str]
) -> None:
    def take(word: str) -> None:
        state[key] = word

    kit.suggest(
        what,
        list(dict.fromkeys(known)),
        take,
        key=f"_embeddings.{key}.{what}",
        format_func=lambda word: labels(vectors)[vectors.find(word)],
        label_visibility="collapsed",
        wrap=True,
    )
