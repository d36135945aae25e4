"""What changed in transformers since 2017: the bundled family of ten, and where two of it differ.

Each member changes one setting of another one, and all were trained alike. T tokens, L layers,
P = 2·L + 1 points, C = n_embd, F hidden width, G heads of keys, E experts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from llmviz.models.base import LanguageModel
from llmviz.models.costs import cache_bytes, cache_per_token
from llmviz.models.gpt import GPT
from llmviz.models.layer_parts import position_table
from llmviz.models.settings import GPTConfig
from llmviz.models.transformers import require_dense, require_transformer
from llmviz.nn.layers import layer_norm_steps, rms_norm_steps
from llmviz.trace import record
from llmviz.training.config import Plan
from llmviz.training.recipes import SINCE_2017, plan_of

# Each change: the model without it, then those with it.
CHANGES = {
    "place": ("post-norm", "pre-norm"),
    "kind": ("pre-norm", "rms-norm"),
    "positions": ("rms-norm", "learned", "rotary"),
    "activation": ("rotary", "swiglu"),
    "heads": ("swiglu", "grouped-query", "multi-query"),
    "experts": ("swiglu", "experts"),
    "window": ("swiglu", "window"),
}
FAMILY = tuple(dict.fromkeys(name for names in CHANGES.values() for name in names))
NUMBER_BYTES = 4  # of a number in the cache, float32


def checkpoint(name: str) -> str:
    """Return the name of a member's checkpoint.

    >>> checkpoint("rotary")
    'since-2017/rotary'
    """
    return f"{SINCE_2017}/{name}"


def config_of(name: str) -> GPTConfig:
    """Return a member's settings as its recipe has them, but for the vocabulary."""
    plan = plan_of(checkpoint(name))
    assert isinstance(plan, Plan)
    return GPTConfig.from_dict({**plan.model_options, "context_length": plan.context_length})


def switched(name: str, before: str) -> dict[str, tuple[Any, Any]]:
    """Return the settings in which a member differs from another: their values (before, after)."""
    new, old = config_of(name).to_dict(), config_of(before).to_dict()
    return {key: (old[key], new[key]) for key in new if new[key] != old[key]}


class Measured(NamedTuple):
    """What a member reached, and what it costs."""

    name: str
    loss: float  # nats per token on held-out text
    over: float  # of that, what is over the floor of the corpus
    parameters: int
    per_token: int  # bytes of keys and values of one token
    whole: float  # bytes of keys and values that a text as long as the context needs


def measured(name: str, card: dict[str, Any]) -> Measured:
    """Return what a member's card says, and the size of its cache."""
    config = config_of(name)
    loss, floor = card["score"]["nats_per_token"], card["floor"]["nats_per_token"]
    return Measured(
        name,
        loss,
        loss - floor,
        card["parameters"],
        NUMBER_BYTES * cache_per_token(config),
        cache_bytes(config, config.context_length),
    )


def stream_sizes(model: LanguageModel, ids: Sequence[int]) -> Tensor:
    """Return how large the stream's numbers are (P,): root mean square, mean over the tokens.

    The points are the embeddings, then behind attention and behind the feed-forward of each layer.
    """
    gpt = require_transformer(model)
    layers = range(gpt.config.n_layer)
    names = ["embed"] + [f"blocks.{i}.{p}" for i in layers for p in ("residual_mid", "residual")]
    trace = _recorded(gpt, ids, names)
    return torch.stack([trace[name][0].square().mean(-1).sqrt().mean() for name in names])


def norm_numbers(model: LanguageModel, ids: Sequence[int]) -> Tensor:
    """Return what the final norm does (3, T): each token's mean before and behind it, and its size.

    The size is the root mean square behind the norm. Its learned scale and shift are left out.
    """
    gpt = require_transformer(model)
    name = f"blocks.{gpt.config.n_layer - 1}.residual"
    x = _recorded(gpt, ids, [name])[name][0]
    steps = rms_norm_steps if gpt.config.norm_kind == "rms" else layer_norm_steps
    behind = steps(x, epsilon=gpt.config.norm_epsilon).normalized
    return torch.stack((x.mean(-1), behind.mean(-1), behind.square().mean(-1).sqrt()))


def position_numbers(model: LanguageModel, ids: Sequence[int]) -> Tensor:
    """Return the numbers by which a model tells positions apart, a row for each of T.

    Waves or a learned table: what is added, (T, C). Rotary positions: the cosine of the angle by
    which each pair of numbers turns, (T, D/2). Raises ValueError for a model without positions.
    """
    gpt, t = require_transformer(model), len(ids)
    config = gpt.config
    if config.positions == "rotary":
        return gpt.get_buffer("blocks.0.attn.rotary.cos")[:t, : config.head_size // 2]
    if (table := position_table(gpt)) is None:
        raise ValueError("this model has no positions")
    return table[:t]


def activations(model: LanguageModel, ids: Sequence[int]) -> Tensor:
    """Return what the first feed-forward bends, and what comes out, (2, T, F).

    Raises ValueError for a model with experts, which have a network each.
    """
    gpt = require_dense(model)
    names = ["blocks.0.mlp.hidden", "blocks.0.mlp.act"]
    trace = _recorded(gpt, ids, names)
    return torch.stack([trace[name][0] for name in names])


def key_lengths(model: LanguageModel, ids: Sequence[int]) -> Tensor:
    """Return how long each key of the first layer is, (G, T): one row a head that has keys."""
    name = "blocks.0.attn.k"
    return _recorded(require_transformer(model), ids, [name])[name][0].norm(dim=-1)


def routing(model: LanguageModel, ids: Sequence[int]) -> Tensor:
    """Return how much each expert counts for each token, (L, T, E); a token's sum to 1.

    Raises ValueError for a model without experts.
    """
    gpt = require_transformer(model)
    if gpt.config.n_expert == 1:
        raise ValueError("this model has no experts")
    names = [f"blocks.{layer}.mlp.routing" for layer in range(gpt.config.n_layer)]
    trace = _recorded(gpt, ids, names)
    return torch.stack([trace[name][0] for name in names])


def mean_attention(model: LanguageModel, ids: Sequence[int]) -> Tensor:
    """Return the attention weights of the last layer, (T, T), as the mean over its heads."""
    gpt = require_transformer(model)
    name = f"blocks.{gpt.config.n_layer - 1}.attn.weights"
    return _recorded(gpt, ids, [name])[name][0].mean(0)


# What is looked at to see each change.
READINGS: dict[str, Callable[[LanguageModel, Sequence[int]], Tensor]] = {
    "place": stream_sizes,
    "kind": norm_numbers,
    "positions": position_numbers,
    "activation": activations,
    "heads": key_lengths,
    "experts": routing,
    "window": mean_attention,
}


def _recorded(gpt: GPT, ids: Sequence[int], names: Sequence[str]) -> dict[str, Tensor]:
    with torch.inference_mode(), record(names) as trace:
        gpt(torch.tensor([list(ids)]), last_only=True)
    return trace
