"""Which model reads a text in this lesson, and how it reads it: ids, names of tokens, logits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import streamlit as st

from llmviz.components.token_strip.view import visible_text
from llmviz.document.marks import as_markdown
from llmviz.lessons.training import words as words
from llmviz.models.catalogue import able
from llmviz.study.text_loss import target_logits
from llmviz.textfile import check_text
from llmviz.tokenizers import UNKNOWN, Tokenizer
from llmviz.ui import engine
from llmviz.ui.common import count, keep, refuse
from llmviz.ui.engine_ready import engine_ready
from llmviz.ui.kept import kept
from llmviz.ui.prose import quote
from llmviz.ui.selectable_models import card_of, label, load, offered
from llmviz.ui.state import PageState

LOOKED_AT = 2_000  # characters of a sentence that are read
READS = ("next_token",)  # what a model must be able to do; see `llmviz.models.catalogue`


@dataclass(frozen=True)
class Read:
    """A text as a model gets it: ids (T + 1,), and how each is shown.

    The first one, which nothing stands before, is no target. It is the start token where the model
    has one.
    """

    bundled: engine.Bundled
    ids: tuple[int, ...]
    names: tuple[str, ...]

    @property
    def targets(self) -> tuple[int, ...]:
        """What is to be predicted: every token but the first."""
        return self.ids[1:]

    @property
    def target_names(self) -> tuple[str, ...]:
        """The targets as text that one can see."""
        return self.names[1:]

    @property
    def text(self) -> str:
        """The text without what stands in front of it."""
        tokenizer = self.bundled.tokenizer
        return tokenizer.decode(self.ids[len(tokenizer.start) :])


def models(default: str, needs: Sequence[str] = READS, asked: str = "") -> list[str]:
    """Return the models that can do what is needed, `default` first, then the learner's runs."""

    def fits(card: dict) -> bool:
        return able(card.get("model"), *needs)

    known = [name for name in engine.names() if (card := card_of(name)) and fits(card)]
    known.sort(key=lambda name: (name != default, name.startswith("names"), name))
    return known + offered(fits, asked)


def choose(
    state: PageState, key: str, needs: Sequence[str] = READS, text: str = ""
) -> engine.Bundled | None:
    """Show the choice of a model and return it; None after one clear line.

    `text` is the control of what it reads: an example there gives way to one that fits the model.
    """
    default = state.params[key].default
    names = models(default, needs, state[key])
    if not names:
        st.info(words.model_no_model.format(name=default), icon=":material/download:")
        st.code(words.model_no_model_command.format(name=default), language=None)
        return None
    if state[key] == default and default not in names:
        state[key] = names[0]
    name = keep(state, key, names)
    if len(names) > 1:
        bound = state.bind(key, lambda: _fit_example(state, key, text))
        st.selectbox(words.model_model, names, format_func=label, width=280, **bound)
    if not engine_ready():
        return None
    return load(name)


def _fit_example(state: PageState, key: str, text: str) -> None:
    own = state.params[text].default if text else ""
    if text and state[text] in (own, words.model_name):
        names = (card_of(state[key]) or {}).get("corpus") == "names"
        state[text] = words.model_name if names else own


def read(bundled: engine.Bundled, text: str, limit: int) -> Read | None:
    """Return a text as the model reads it, cut to `limit` targets, saying so; None if it cannot."""
    tokenizer = bundled.tokenizer
    try:
        check_text(text)
        ids = tokenizer.encode_from_start(text[:LOOKED_AT])
    except ValueError as error:
        refuse(error)
        return None
    if len(ids) < 2:
        st.info(words.model_empty, icon=":material/edit:")
        return None
    most = min(limit, bundled.model.context_length) + 1
    names = names_of(ids[:most], tokenizer)
    if len(ids) > most:
        cut = words.model_cut.format(
            all=count(len(ids) - 1, "token"), limit=most - 1, last=quote(names[-1])
        )
        st.info(as_markdown(cut), icon=":material/content_cut:")
    unknown = ids[1:most].count(tokenizer.special_tokens.get(UNKNOWN, -1))
    if unknown:
        st.info(words.model_unknown.format(unknown=count(unknown, "token")), icon=":material/help:")
    return Read(bundled, tuple(ids[:most]), tuple(names))


def names_of(ids: Sequence[int], tokenizer: Tokenizer) -> list[str]:
    """Return how tokens are shown: spaces as dots, the start token as a word."""
    return [
        words.model_start
        if tokenizer.opens_and_ends(i)
        else visible_text(tokenizer.token_bytes(i))[0]
        for i in ids
    ]


def logits(reading: Read) -> np.ndarray:
    """Return the logits (T, V) before each target, in float64."""
    return logits_of(reading.bundled.name, reading.bundled.version, reading.ids)


@kept(128)
def logits_of(name: str, version: str, ids: tuple[int, ...]) -> np.ndarray:
    """Return a model's logits (T, V) before each of ids (T + 1,) but the first, in float64."""
    return target_logits(engine.load(name).model, ids)
