"""Trained models: which there are, what they read of the learner's text, what they computed.

T time, C width, D head size, N = H·D, L layers, H heads, V vocabulary.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st
import torch

from llmviz.components.token_strip.view import visible_text
from llmviz.lessons.attention.inputs import words
from llmviz.lessons.attention.inputs.sources import Inputs
from llmviz.models.catalogue import able
from llmviz.nn.attention import merge_heads
from llmviz.nn.positions import rotary_angles
from llmviz.study.heads_on_text import HeadMaps, head_maps, layer_trace
from llmviz.tokenizers import ENDOFTEXT, UNKNOWN, Tokenizer
from llmviz.ui import engine
from llmviz.ui.common import keep, learner_text
from llmviz.ui.kept import kept
from llmviz.ui.prose import quote
from llmviz.ui.selectable_models import card_of, label, load, offered
from llmviz.ui.state import PageState

MADE_FIRST = "tiny-world-gpt"  # what a copy without models is told to make


def loss_of(card: dict[str, Any]) -> float:
    """Return the loss that a card gives, in nats per character; infinite where it has none."""
    return card.get("score", {}).get("nats_per_character", math.inf)


def losses() -> dict[str, float]:
    """Return the bundled GPTs that read text with their losses, the lowest first."""
    cards = {name: card_of(name) for name in engine.names()}
    by_name = {
        name: loss_of(card)
        for name, card in cards.items()
        if card
        and able(card.get("model"), "next_token", "attention")
        and card.get("corpus") != "names"
    }
    return dict(sorted(by_name.items(), key=lambda one: (one[1], one[0])))


def models(asked: str = "") -> list[str]:
    """Return the GPTs that read text: bundled ones, the lowest loss first, then runs.

    `asked` is the model in force; a run that only its link names is among them.
    """
    return list(losses()) + offered(
        lambda card: able(card.get("model"), "next_token", "attention"), asked
    )


def model_name(state: PageState) -> str | None:
    """Return the chosen model; None, saying so, without any. One that is gone is replaced."""
    names = models(state["model"])
    if not names:
        no_model(MADE_FIRST)
        return None
    return keep(state, "model", names) if state["model"] else names[0]


def model_menu(state: PageState) -> None:
    """Show the choice of a model where there is one."""
    names, slot = models(state["model"]), "_attention.model"
    if len(names) < 2:
        return
    st.session_state[slot] = state["model"] or names[0]

    def chosen() -> None:
        state["model"] = st.session_state[slot]

    st.selectbox(words.MODEL, names, format_func=label, width=220, key=slot, on_change=chosen)


def choose_model(state: PageState) -> str | None:
    """Show which models there are, and return the chosen one; None, saying so, without any."""
    name = model_name(state)
    if name is not None:
        model_menu(state)
    return name


def no_model(name: str) -> None:
    """Say that a model is not in this copy, and how to make it."""
    st.info(words.NO_MODEL.format(name=name), icon=":material/download:")
    st.code(words.NO_MODEL_COMMAND.format(name=name), language=None)


@dataclass(frozen=True)
class Read:
    """A text as a model gets it: ids with the start token, and how each is shown."""

    ids: tuple[int, ...]
    tokens: tuple[str, ...]


def read_text(
    state: PageState,
    bundled: engine.Bundled,
    limit: int | None = None,
    *,
    tell_unknown: bool = True,
) -> Read | None:
    """Return the learner's text as tokens, cut to the context or to `limit`, saying where.

    None, after one clear line, where there is no text. `tell_unknown`: say how many tokens the
    tokenizer does not know.
    """
    text = learner_text(state)
    if text is None:
        return None
    tokenizer, context = bundled.tokenizer, bundled.model.context_length
    ids = tokenizer.encode_from_start(text)
    most = context if limit is None else min(limit, context)
    names = names_of(ids[:most], tokenizer)
    if len(ids) > most:
        line = words.CUT_CONTEXT if most == context else words.CUT_DRAWN
        st.info(
            line.format(
                all=len(ids),
                limit=most,
                name=label(bundled.name),
                last=spoken(names[-1], ids[most - 1], tokenizer),
            ),
            icon=":material/content_cut:",
        )
    unknown = tokenizer.special_tokens.get(UNKNOWN)
    if tell_unknown and unknown in ids[:most]:
        st.info(words.UNKNOWN.format(count=ids[:most].count(unknown)))
    return Read(tuple(ids[:most]), tuple(names))


def load_and_read(
    state: PageState, name: str | None, limit: int | None = None, *, tell: bool = True
) -> tuple[engine.Bundled, Read] | None:
    """Return a model and the learner's text as it reads it (see `read_text`).

    None, after one clear line, where the model is gone or there is no text; None as a name is none.
    tell: see `selectable_models.load`.
    """
    bundled = None if name is None else load(name, tell)
    if bundled is None:
        return None
    reading = read_text(state, bundled, limit)
    return None if reading is None else (bundled, reading)


def names_of(ids: Sequence[int], tokenizer: Tokenizer) -> list[str]:
    """Return how tokens are shown: spaces as dots, the start token as a word."""
    special = {i: text for text, i in tokenizer.special_tokens.items()}
    return [
        words.START if special.get(i) == ENDOFTEXT else visible_text(tokenizer.token_bytes(i))[0]
        for i in ids
    ]


def spoken(names: str, token: int, tokenizer: Tokenizer) -> str:
    """Return a token for a sentence: bytes that are no whole character are called so."""
    _, whole = visible_text(tokenizer.token_bytes(token))
    return quote(names) if whole else words.BYTES.format(bytes=quote(names))


def is_whole(token: int, tokenizer: Tokenizer) -> bool:
    """Whether a token is whole characters."""
    return visible_text(tokenizer.token_bytes(token))[1]


def stamp(bundled: engine.Bundled) -> str:
    """Return what tells one version of a model from another."""
    return bundled.version


@kept(32)
def traced(name: str, stamp: str, ids: tuple[int, ...], layer: int) -> dict[str, torch.Tensor]:
    """Return what attention in one layer of a bundled model read and computed: `layer_trace`."""
    return layer_trace(engine.load(name).model, ids, layer)


@kept(32)
def all_maps(name: str, stamp: str, ids: tuple[int, ...]) -> HeadMaps:
    """Return what all heads of a bundled model do on a text: `head_maps`."""
    return head_maps(engine.load(name).model, ids)


def model_head(bundled: engine.Bundled, reading: Read, layer: int, head: int | None) -> Inputs:
    """Return one head of a bundled model on a text; None for all heads of the layer at once."""
    trace = traced(bundled.name, stamp(bundled), reading.ids, layer)
    attn = bundled.model.blocks[layer].attn
    q, k, v = (trace[part] for part in "qkv")  # each (H, T, D)
    d = q.shape[-1]
    cut = slice(None) if head is None else slice(head * d, (head + 1) * d)
    x = trace["input"]
    w = [part[:, cut] for part in attn.qkv.weight.detach().T.chunk(3, dim=1)]  # each (C, N)
    b = attn.qkv.bias
    b = None if b is None else tuple(part[:, cut] for part in b.detach()[None].chunk(3, dim=1))
    out, out_bias = attn.projection.weight.detach().T, attn.projection.bias
    t, mask, angles, plain = len(reading.ids), bundled.model.mask, None, None
    if attn.rotary is not None:
        angles = rotary_angles(torch.arange(t), d)
        plain = tuple(x @ w[i] + (0 if b is None else b[i]) for i in (0, 1))
    return Inputs(
        reading.tokens,
        x,
        tuple(w),
        b,
        (out, None if out_bias is None else out_bias.detach()[None]),
        bundled.name,
        tuple(merge_heads(part)[:, cut] for part in (q, k, v)),
        reading.ids,
        trace["projection"],
        angles,
        plain,
        scale_of(bundled, attn.scale),
        None if mask is None else mask[:t, :t],
        bundled.model.config.softmax_before_mask,
        (layer, head),
    )


def scale_of(bundled: engine.Bundled, factor: float) -> tuple[float, str]:
    """Return what a model multiplies its scores by, and how that is written."""
    config = bundled.model.config
    size = {"head": config.head_size, "model": config.n_embd}.get(config.attention_scale)
    return factor, f"÷ √{size}" if size else "× 1"
