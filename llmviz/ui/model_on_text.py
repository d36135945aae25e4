"""A transformer and the learner's text as it reads it: the choice of both, for several lessons.

T tokens. torch is not needed until a model is loaded.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from llmviz.components.token_strip.view import visible_text
from llmviz.models.catalogue import able
from llmviz.tokenizers import UNKNOWN, Tokenizer
from llmviz.ui import engine
from llmviz.ui.common import learner_text, refuse
from llmviz.ui.notices import inform, warn
from llmviz.ui.prose import quote
from llmviz.ui.selectable_models import Card, bundled_fitting, card_of, label, load, offered
from llmviz.ui.state import LINK_ICON, PageState

if TYPE_CHECKING:
    from torch import nn

MODEL = "Model"
START = "⟨start⟩"
MADE_FIRST = "tiny-world-gpt"  # what a copy without models is told to make
NO_MODEL = (
    "The model {name} is not in this copy of the app, so this part has nothing to compute with. "
    "This command makes it:"
)
NO_MODEL_COMMAND = "python -m llmviz checkpoints make {name}"
ANOTHER = (
    "{asked} cannot be used here{why}. This part works with transformers: {names}. {chosen} is "
    "used instead."
)
OTHER_KIND = ": it is a {kind}"
GONE = ": there is no such model"
BYTES = "{bytes}, a piece of a character"
CUT = (
    "Your text is {all:,} tokens long{included}. {reason} only the first "
    "{limit:,}, up to {last}. The rest is left out."
)
INCLUDED = ", the start token included"
CUT_CONTEXT = "The context of {name} holds"
CUT_DRAWN = "The picture shows"
_AGAIN = "_model_on_text.again"  # in the session: nobody has changed anything since the last run
UNKNOWN_TOKENS = "{count:,} of the tokens are unknown to this model's tokenizer: {token}."


def no_model(name: str) -> None:
    """Say that a model is not in this copy, and how to make it."""
    st.info(NO_MODEL.format(name=name), icon=":material/download:")
    st.code(NO_MODEL_COMMAND.format(name=name), language=None)


def models_here(*names: str) -> bool:
    """Return whether these bundled models are in this copy, saying of the first that is not."""
    there = engine.names()
    missing = next((name for name in names if name not in there), None)
    if missing is not None:
        no_model(missing)
    return missing is None


@dataclass(frozen=True)
class Read:
    """A text as a model gets it: T ids, end-of-text in front, and how each token is shown."""

    ids: tuple[int, ...]
    tokens: tuple[str, ...]


def reads_text(card: Card) -> bool:
    """Whether a card is that of a transformer that continues a text."""
    return able(card.get("model"), "next_token", "attention") and card.get("corpus") != "names"


def offered_models(
    asked: str = "", fits: Callable[[Card], bool] = reads_text, also: Sequence[str] = ()
) -> list[str]:
    """Return the models whose card fits: bundled ones, the lowest loss first, then runs.

    asked: the model in force; a run that only its link names is among them. also: bundled models
    that stand in folders of their own, such as "since-2017/experts"; they come after the others.
    """
    names = bundled_models(fits)
    names += [name for name in also if (card := card_of(name)) and fits(card)]
    return names + offered(fits, asked)


def bundled_models(fits: Callable[[Card], bool] = reads_text) -> list[str]:
    """Return the bundled models whose card fits, the lowest loss first; no visitor is needed."""
    cards = dict(bundled_fitting(fits))
    return sorted(cards, key=lambda name: (loss_of(cards[name]), name))


def loss_of(card: Card) -> float:
    """Return the loss that a card gives, in nats per character; infinite where it has none."""
    return card.get("score", {}).get("nats_per_character", math.inf)


def choose_model(
    state: PageState,
    fits: Callable[[Card], bool] = reads_text,
    also: Sequence[str] = (),
    key: str = "model",
) -> str | None:
    """Show the choice of a model and return the chosen one; None, saying so, without any.

    key: the control of the page that holds the name; empty is the first one. A model that does not
    fit is replaced by the first one, and the page says which can be chosen.
    """
    asked = state[key]
    names = offered_models(asked, fits, also)
    if not names:
        no_model(MADE_FIRST)
        return None
    chosen = asked if asked in names else names[0]
    slot = f"_{state.page}.{key}"
    st.session_state[slot] = chosen

    def take() -> None:
        state[key] = st.session_state[slot]

    st.selectbox(MODEL, names, format_func=label, width=260, key=slot, on_change=take)
    again, told = st.session_state.pop(_AGAIN, False), f"{slot}.told"
    if asked and asked != chosen:
        card = card_of(asked)
        why = OTHER_KIND.format(kind=card.get("model")) if card else GONE
        offered = ", ".join(label(name) for name in names)
        line = {"asked": asked[:60], "why": why, "names": offered, "chosen": label(chosen)}
        st.session_state[told] = ANOTHER.format(**line)
        state[key] = chosen
    elif not again:
        st.session_state.pop(told, None)
    if told in st.session_state:
        warn(st.session_state[told], LINK_ICON)
    return chosen


def run_again() -> None:
    """Run the whole page again by itself; what it said of the model that was asked for stays."""
    st.session_state[_AGAIN] = True
    st.rerun()


def load_and_read(
    state: PageState,
    name: str | None,
    limit: int | None = None,
    require: Callable[[nn.Module], object] | None = None,
    *,
    tell: bool = True,
) -> tuple[engine.Bundled, Read] | None:
    """Return a model and the learner's text as it reads it (see `read_text`).

    require: raises ValueError for a model that cannot be studied here, such as
    `study.transformers.require_sum`; left out, `require_transformer`.
    tell: see `selectable_models.load`.
    None, after one clear line, where the model is gone or cannot be studied, or there is no text;
    None as a name is none.
    """
    from llmviz.study.transformers import require_transformer

    bundled = None if name is None else load(name, tell)
    if bundled is None:
        return None
    try:
        (require or require_transformer)(bundled.model)
    except ValueError as error:
        refuse(error)
        return None
    read = read_text(state, bundled, limit)
    return None if read is None else (bundled, read)


def read_text(
    state: PageState,
    bundled: engine.Bundled,
    limit: int | None = None,
    *,
    tell_unknown: bool = True,
) -> Read | None:
    """Return the learner's text as tokens, cut to the context or to `limit`, saying where.

    None, after one clear line, where there is no text. tell_unknown: as in `read`.
    """
    text = learner_text(state)
    return None if text is None else read(text, bundled, limit, tell_unknown=tell_unknown)


def read(
    text: str, bundled: engine.Bundled, limit: int | None = None, *, tell_unknown: bool = True
) -> Read:
    """Return a text as tokens, cut to the context or to `limit`; the page says where.

    tell_unknown: say how many tokens the tokenizer does not know, too.
    """
    tokenizer, context = bundled.tokenizer, bundled.model.context_length
    ids = tokenizer.encode_from_start(text)
    most = context if limit is None else min(limit, context)
    names = names_of(ids[:most], tokenizer)
    if len(ids) > most:
        reason = CUT_CONTEXT.format(name=label(bundled.name)) if most == context else CUT_DRAWN
        last = spoken(ids[most - 1], tokenizer)
        included = INCLUDED if len(tokenizer.start) == 1 else ""
        line = CUT.format(all=len(ids), included=included, reason=reason, limit=most, last=last)
        inform(line, ":material/content_cut:")
    unknown = tokenizer.special_tokens.get(UNKNOWN)
    if tell_unknown and unknown in ids[:most]:
        line = UNKNOWN_TOKENS.format(count=ids[:most].count(unknown), token=UNKNOWN)
        inform(line, ":material/help:")
    return Read(tuple(ids[:most]), tuple(names))


def names_of(ids: Sequence[int], tokenizer: Tokenizer) -> list[str]:
    """Return how tokens are shown: spaces as dots, the start token as a word."""
    return [
        START if tokenizer.opens_and_ends(i) else visible_text(tokenizer.token_bytes(i))[0]
        for i in ids
    ]


def spoken(token: int, tokenizer: Tokenizer) -> str:
    """Return a token for a sentence: bytes that are no whole character are called so."""
    name = names_of([token], tokenizer)[0]
    whole = name == START or visible_text(tokenizer.token_bytes(token))[1]
    return quote(name) if whole else BYTES.format(bytes=quote(name))
