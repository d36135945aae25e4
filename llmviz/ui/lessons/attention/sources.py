"""Where the chapters get tokens and matrices from: worked examples, edited ones, bundled models.

T time, C width, D head size, N = H·D, L layers, H heads, V vocabulary.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st
import torch
from torch import Tensor

from llmviz.nn.attention import split_heads
from llmviz.tokenizers import ENDOFTEXT, UNKNOWN, Tokenizer
from llmviz.trace import record
from llmviz.ui import engine
from llmviz.ui.components.tokens import visible_text
from llmviz.ui.lessons.attention import words
from llmviz.ui.lessons.attention.params import MATRICES, parse_matrix
from llmviz.ui.lessons.common import keep, learner_text
from llmviz.ui.prose import quote
from llmviz.ui.state import PageState

DRAWN = 12  # tokens whose matrices are drawn in full
CAT = {
    "x": "0.1,0.4,0.5,0.7;0.2,0.4,0.5,0.6;0.15,0.25,0.5,0.2",
    "wq": "0.5,0.1,0,0.3;0.4,0.2,0.1,0;0.3,0.3,0.3,0.3;0.2,0.1,0.5,0.4",
    "wk": "0.1,0.4,0,0;0,0.5,0.2,0.1;0.3,0,0.3,0.3;0.2,0.2,0.1,0",
    "wv": "0.2,0.1,0,0;0,0.3,0.5,0;0.1,0.1,0.1,0.4;0,0.2,0.1,0.1",
}
JOURNEY = {
    "Your": [0.43, 0.15, 0.89],
    "journey": [0.55, 0.87, 0.66],
    "starts": [0.57, 0.85, 0.64],
    "with": [0.22, 0.58, 0.33],
    "one": [0.77, 0.25, 0.10],
    "step": [0.05, 0.80, 0.55],
}
IDENTITY = "1,0,0;0,1,0;0,0,1"


@dataclass(frozen=True)
class Inputs:
    """What attention starts from: tokens as vectors, and the matrices of one head or of several.

    `x` (T, C); `w` are W_Q, W_K, W_V, each (C, N); `b` their biases (1, N), or None. `projection`
    is W_O (N, C) and its bias (1, C), or None. `given` holds q, k, v (T, N) that a model computed.
    `name` and `ids` say which model read what; empty for an example.
    """

    tokens: tuple[str, ...]
    x: Tensor
    w: tuple[Tensor, Tensor, Tensor]
    b: tuple[Tensor, Tensor, Tensor] | None = None
    projection: tuple[Tensor, Tensor | None] | None = None
    name: str = ""
    given: tuple[Tensor, Tensor, Tensor] | None = None
    ids: tuple[int, ...] = ()

    @property
    def wide(self) -> bool:
        """Whether the matrices that make Q, K and V are too large to be drawn."""
        return self.x.shape[1] > 64

    def qkv(self) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys and values, each (T, N)."""
        if self.given is not None:
            return self.given
        return tuple(self.x @ w for w in self.w)


def tensor(written: str) -> Tensor:
    """Return a matrix that stands in a link."""
    return torch.tensor(parse_matrix(written), dtype=torch.float64)


def journey_tokens(written: str) -> list[str]:
    """Return the words typed for the example with six words.

    Raises ValueError: a word has no vector there, or there are too few or too many.
    """
    typed = written.split()
    if not 1 <= len(typed) <= DRAWN:
        raise ValueError(words.sources.JOURNEY_COUNT.format(most=DRAWN, count=len(typed)))
    for word in typed:
        if word not in JOURNEY:
            known = ", ".join(JOURNEY)
            raise ValueError(words.sources.JOURNEY_UNKNOWN.format(word=word[:40], known=known))
    return typed


def own_matrices(state: PageState) -> dict[str, str]:
    """Return the matrices of the chosen example as text, before they are edited."""
    if state["source"] == "cat":
        return dict(CAT)
    rows = [JOURNEY[word] for word in journey_tokens(state["words"])]
    text = ";".join(",".join(f"{value:g}" for value in row) for row in rows)
    return {"x": text, "wq": IDENTITY, "wk": IDENTITY, "wv": IDENTITY}


def example(state: PageState) -> Inputs:
    """Return the chosen example with the learner's edits.

    Raises ValueError: unknown words, or matrices whose shapes do not fit.
    """
    own = own_matrices(state)
    tokens = (
        words.sources.CAT.split() if state["source"] == "cat" else journey_tokens(state["words"])
    )
    made = {key: tensor(state[key] or own[key]) for key in MATRICES}
    rows, width = tensor(own["x"]).shape
    for key, wanted in zip(MATRICES, [(rows, width)] + [(width, width)] * 3, strict=True):
        if made[key].shape != wanted:
            raise ValueError(
                words.sources.SHAPE.format(
                    name=words.sources.MATRIX_NAMES[key],
                    rows=wanted[0],
                    columns=wanted[1],
                    found="×".join(map(str, made[key].shape)),
                )
            )
    return Inputs(tuple(tokens), made["x"], (made["wq"], made["wk"], made["wv"]))


# ---- bundled models


def models() -> list[str]:
    """Return the bundled GPTs that read text and make no mistake on purpose, the small first."""
    cards = {name: engine.card(name) for name in engine.names()}
    return [
        name
        for name, card in cards.items()
        if card.get("model") == "gpt" and card.get("corpus") != "names"
    ]


def choose_model(state: PageState) -> str | None:
    """Show which models there are, and return the chosen one; None, saying so, without any."""
    names = models()
    if not names:
        no_model("tiny-world-gpt")
        return None
    name = keep(state, "model", names)
    if len(names) > 1:
        st.selectbox(words.sources.MODEL, names, width=220, **state.bind("model"))
    return name


def no_model(name: str) -> None:
    """Say that a model is not in this copy, and how to make it."""
    st.info(words.sources.NO_MODEL.format(name=name), icon=":material/download:")
    st.code(words.sources.NO_MODEL_COMMAND.format(name=name), language=None)


def choose_head(state: PageState, bundled: engine.Bundled, heads: bool = True) -> tuple[int, int]:
    """Show and return the layer and the head that the link names."""
    config = bundled.model.config
    layer = keep(state, "layer", range(config.n_layer))
    head = keep(state, "head", range(config.n_head)) if heads else 0
    st.selectbox(words.sources.LAYER, range(config.n_layer), width=90, **state.bind("layer"))
    if heads:
        st.selectbox(words.sources.HEAD, range(config.n_head), width=90, **state.bind("head"))
    return layer, head


@dataclass(frozen=True)
class Read:
    """A text as a model gets it: ids with the start token, and how each is shown."""

    ids: tuple[int, ...]
    tokens: tuple[str, ...]


def read_text(state: PageState, bundled: engine.Bundled, limit: int | None = None) -> Read | None:
    """Return the learner's text as tokens, cut to the context or to `limit`, saying where.

    None, after one clear line, where there is no text.
    """
    text = learner_text(state)
    if text is None:
        return None
    tokenizer, context = bundled.tokenizer, bundled.model.context_length
    ids = [tokenizer.special_tokens[ENDOFTEXT], *tokenizer.encode(text)]
    shown = names_of(ids, tokenizer)
    most = context if limit is None else min(limit, context)
    if len(ids) > most:
        line = words.sources.CUT_CONTEXT if most == context else words.sources.CUT_DRAWN
        st.info(
            line.format(all=len(ids), limit=most, name=bundled.name, last=quote(shown[most - 1])),
            icon=":material/content_cut:",
        )
    unknown = tokenizer.special_tokens.get(UNKNOWN)
    if unknown in ids[:most]:
        st.info(words.sources.UNKNOWN.format(count=ids[:most].count(unknown)))
    return Read(tuple(ids[:most]), tuple(shown[:most]))


def names_of(ids: list[int] | tuple[int, ...], tokenizer: Tokenizer) -> list[str]:
    """Return how tokens are shown: spaces as dots, the start token as a word."""
    special = {i: text for text, i in tokenizer.special_tokens.items()}
    return [
        words.sources.START
        if special.get(i) == ENDOFTEXT
        else visible_text(tokenizer.token_bytes(i))[0]
        for i in ids
    ]


def stamp(bundled: engine.Bundled) -> str:
    """Return what tells one version of a checkpoint from another."""
    return f"{engine.CHECKPOINTS}:{bundled.card.get('seconds')}:{bundled.card.get('steps')}"


@st.cache_data(max_entries=32, show_spinner=False)
def traced(name: str, stamp: str, ids: tuple[int, ...], layer: int) -> dict[str, np.ndarray]:
    """Return what attention in one layer read and computed: norm1, q, k, v, weights, concat."""
    parts = {"norm1": f"blocks.{layer}.norm1"} | {
        part: f"blocks.{layer}.attn.{part}" for part in ("q", "k", "v", "weights", "concat")
    }
    with torch.inference_mode(), record(parts.values()) as trace:
        engine.load(name).model(torch.tensor([ids]), last_only=True)
    return {part: trace[tap][0].numpy() for part, tap in parts.items()}


@st.cache_data(max_entries=32, show_spinner=False)
def all_maps(name: str, stamp: str, ids: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Return the weights of all heads (L, H, T, T) as uint8, 255 is 1, and the last logits (V,)."""
    model = engine.load(name).model
    with torch.inference_mode(), record("blocks.*.attn.weights", torch.uint8) as trace:
        logits = model(torch.tensor([ids]), last_only=True)[0][0, -1]
    return torch.cat(list(trace.values())).numpy(), logits.numpy()


def model_head(bundled: engine.Bundled, said: Read, layer: int, head: int | None) -> Inputs:
    """Return one head of a bundled model on a text; None for all heads of the layer at once."""
    found = traced(bundled.name, stamp(bundled), said.ids, layer)
    attn = bundled.model.blocks[layer].attn
    q, k, v = (torch.from_numpy(found[part]) for part in "qkv")  # each (H, T, D)
    d = q.shape[-1]
    cut = slice(None) if head is None else slice(head * d, (head + 1) * d)
    w = attn.qkv.weight.detach().T.chunk(3, dim=1)  # each (C, C)
    b = None if attn.qkv.bias is None else attn.qkv.bias.detach()[None].chunk(3, dim=1)
    out, out_bias = attn.projection.weight.detach().T, attn.projection.bias
    return Inputs(
        said.tokens,
        torch.from_numpy(found["norm1"]),
        tuple(part[:, cut] for part in w),
        b and tuple(part[:, cut] for part in b),
        (out, None if out_bias is None else out_bias.detach()[None]),
        bundled.name,
        tuple(part.transpose(0, 1).flatten(1)[:, cut] for part in (q, k, v)),
        said.ids,
    )


def heads_of(part: Tensor, n_head: int) -> Tensor:
    """(T, N) to (H, T, D)."""
    return split_heads(part, n_head)
