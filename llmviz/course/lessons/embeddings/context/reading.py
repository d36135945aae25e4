"""Part of the chapter "In context": two sentences, and where the word stands in each."""

from collections.abc import Sequence

import streamlit as st

from llmviz.course.components.token_strip.view import TokenRow, TokenSelection, token_strip
from llmviz.course.lessons.embeddings.context import words
from llmviz.course.lessons.embeddings.context.model import Place, last_piece
from llmviz.course.ui import engine, kit
from llmviz.models.residual import read_stream
from llmviz.similarity import VectorTable
from llmviz.tokenizers import Token

KEY = "embeddings.context"
SENTENCES = (("ctx1", "at1"), ("ctx2", "at2"))  # the controls of each: its text, the token clicked
LONGEST = 1_000  # characters of a sentence


def sentence(
    state: kit.PageState, table: VectorTable, bundled: engine.Bundled, number: int
) -> Place | None:
    """Show one sentence as tokens and return the word in it; None where it is not there.

    Raises ValueError: there is no text, or more of it than the model reads.
    """
    (key, at), which = SENTENCES[number], words.row[number]
    kit.text_input(state, key, words.sentences[number], then=state.setter(**{at: -1}))
    if not state[key].strip():
        raise ValueError(words.empty.format(which=which))
    tokens = bundled.tokenizer.tokens(state[key])
    before = bundled.tokenizer.start
    ids = (*before, *(token.id for token in tokens))
    if len(ids) > bundled.model.context_length:
        raise ValueError(
            words.too_long.format(
                which=which,
                count=len(ids),
                name=kit.label(table.name),
                most=bundled.model.context_length,
            )
        )
    place = state[at] if 0 <= state[at] < len(tokens) else first_place(table, tokens, state)
    selected = None if place is None else TokenSelection(0, place, tokens[place].id)

    token_strip(
        [TokenRow("", tokens)],
        key=f"{KEY}.{key}",
        selected=selected,
        on_change=kit.bound(state, f"{KEY}.{key}", selected=(at, kit.second_of)),
    )
    if place is None:
        kit.prose(words.not_there, word=kit.quote(state["ctxword"]), which=which)
        return None
    stream = _read(bundled, ids)
    return Place(ids, place + len(before), stream, len(before))


def first_place(table: VectorTable, tokens: Sequence[Token], state: kit.PageState) -> int | None:
    """Return where the word stands first in a text, the last of its pieces; say if there are."""
    where = last_piece(table.tokenizer, tokens, state["ctxword"])
    if where is None:
        return None
    place, pieces = where
    if pieces > 1:
        word = kit.escape_markdown(state["ctxword"].strip())
        st.caption(words.pieces.format(word=word, count=kit.count(pieces, "token")))
    return place


_read = kit.kept(64)(kit.on_model(read_stream))
