"""Where the chapters get vectors from: the tables of bundled models and of the learner's own runs.

V rows, one a token; C columns.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import streamlit as st
from torch import nn

from llmviz.models.word2vec import SkipGram
from llmviz.similarity import VectorTable
from llmviz.tokenizers import Tokenizer
from llmviz.ui import engine
from llmviz.ui.components.tokens import visible_text
from llmviz.ui.lessons.common import keep
from llmviz.ui.lessons.embeddings import words
from llmviz.ui.lessons.embeddings.params import DEFAULT_MODEL
from llmviz.ui.state import PageState

# Models that read a token by taking its row; the large and the telling ones stand first.
WITH_TABLE = ("gpt", "word2vec", "skipgram", "mlp", "wavenet", "rnn", "gru", "lstm")
MISTAKEN = ("no-mask", "no-shift")


def names() -> list[str]:
    """Return the models that have a table: the bundled ones, then the learner's own runs."""
    own = getattr(engine, "own", list)()
    known = []
    for name in [*engine.names(), *own]:
        try:
            model = str(engine.card(name).get("model"))
        except ValueError:  # a damaged one is not offered
            continue
        if model in WITH_TABLE and not name.endswith(MISTAKEN):
            known.append((name != DEFAULT_MODEL, name in own, not name.startswith("tiny"), name))
    return [name for *_, name in sorted(known)]


def choose(state: PageState) -> VectorTable | None:
    """Show whose vectors are looked at, and return them; None, saying so, without any."""
    known = names()
    if not known:
        st.info(words.NO_TABLE, icon=":material/download:")
        st.code(words.NO_TABLE_COMMAND.format(name=DEFAULT_MODEL), language=None)
        return None
    keep(state, "model", known)
    if len(known) > 1:
        st.selectbox(words.VECTORS, known, width=240, **state.bind("model"))
    return table(state["model"])


def table(name: str) -> VectorTable:
    """Return the table of a model, the same object for all sessions.

    Raises ValueError: there is no such model, it is damaged, or has no table.
    """
    bundled = engine.load(name)
    return _table(name, bundled.model, bundled.tokenizer)


@lru_cache(maxsize=8)  # by the model itself: another file of the same name is another model
def _table(name: str, model: nn.Module, tokenizer: Tokenizer) -> VectorTable:
    if isinstance(model, SkipGram):
        rows = model.vectors()
    elif isinstance(getattr(model, "token", None), nn.Embedding):
        rows = model.token.weight.detach().float().cpu().numpy()
    else:
        raise ValueError(f"{name} has no table of vectors")
    # What pads a window of letters has a row behind those of the tokens.
    rows = np.ascontiguousarray(rows[: tokenizer.vocab_size])
    return VectorTable(name, rows, tokenizer)


@lru_cache(maxsize=8)
def labels(vectors: VectorTable) -> list[str]:
    """Return every token as text that one can see: spaces as dots, broken bytes in hex."""
    return [visible_text(data)[0] for data in vectors.bytes_of]
