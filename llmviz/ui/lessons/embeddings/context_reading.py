"""Part of the chapter "In context": two sentences, and where the word stands in each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import streamlit as st

from llmviz.models.residual import Stream, read_stream
from llmviz.similarity import VectorTable
from llmviz.tokenizers import ENDOFTEXT, Token
from llmviz.ui import engine
from llmviz.ui.components.tokens import TokenRow, TokenSelection, token_strip
from llmviz.ui.kept import kept
from llmviz.ui.lessons.common import count
from llmviz.ui.lessons.embeddings.words import context as words
from llmviz.ui.lessons.offered import label as menu_label
from llmviz.ui.prose import prose, quote
from llmviz.ui.state import PageState

KEY = "embeddings.context"
SENTENCES = (("ctx1", "at1"), ("ctx2", "at2"))  # the controls of each: its text, the token clicked
LONGEST = 1_000  # characters of a sentence


@dataclass(frozen=True)
class Place:
    """A token in a text that a model has read: where it stands, what it is, and the stream.

    `ids` begin with the start token, where the model knows one; `at` counts it too.
    """

    ids: tuple[int, ...]
    at: int
    stream: Stream

    @property
    def states(self) -> np.ndarray:
        """The token's vectors (S, C) in float64."""
        return self.stream.states[:, self.at].double().numpy()


def sentence(
    state: PageState, table: VectorTable, bundled: engine.Bundled, number: int
) -> Place | None:
    """Show one sentence as tokens and return the word in it; None where it is not there.

    Raises ValueError: there is no text, or more of it than the model reads.
    """
    (key, at), which = SENTENCES[number], words.ROW[number]

    def forget() -> None:
        state[at] = -1

    st.text_input(words.SENTENCES[number], max_chars=LONGEST, **state.bind(key, then=forget))
    if not state[key].strip():
        raise ValueError(words.EMPTY.format(which=which))
    tokens = bundled.tokenizer.tokens(state[key])
    start = bundled.tokenizer.special_tokens.get(ENDOFTEXT)
    before = [] if start is None else [start]
    ids = (*before, *(token.id for token in tokens))
    if len(ids) > bundled.model.context_length:
        raise ValueError(
            words.TOO_LONG.format(
                which=which,
                count=len(ids),
                name=menu_label(table.name),
                most=bundled.model.context_length,
            )
        )
    found = state[at] if 0 <= state[at] < len(tokens) else occurrence(table, tokens, state)
    selected = None if found is None else TokenSelection(0, found, tokens[found].id)

    def take() -> None:
        clicked = st.session_state[f"{KEY}.{key}"].get("selected")
        state[at] = clicked[1] if clicked else -1

    token_strip([TokenRow("", tokens)], key=f"{KEY}.{key}", selected=selected, on_change=take)
    if found is None:
        prose(words.NOT_THERE.format(word=quote(state["ctxword"]), which=which))
        return None
    stream = _read(bundled.name, bundled.version, ids)
    return Place(ids, found + len(before), stream)


def occurrence(table: VectorTable, tokens: Sequence[Token], state: PageState) -> int | None:
    """Return where the word stands in a text: its first occurrence, the last of its pieces."""
    word = state["ctxword"].strip()
    if not word:
        return None
    own = [token.id for token in tokens]
    for text in (f" {word}", word):
        pieces = table.tokenizer.encode(text)
        for start in range(len(own) - len(pieces) + 1):
            if own[start : start + len(pieces)] == pieces:
                if len(pieces) > 1:
                    pieces_text = count(len(pieces), "token")
                    st.caption(words.PIECES.format(word=word, count=pieces_text))
                return start + len(pieces) - 1
    return None


@kept(64)
def _read(name: str, version: str, ids: tuple[int, ...]) -> Stream:
    return read_stream(engine.load(name).model, ids)
