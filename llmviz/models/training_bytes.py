"""What training a transformer keeps in memory, on paper: from its settings alone.

No model is built. C = n_embd, F feed-forward width, H heads, V vocabulary, L layers.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from llmviz.models.costs import BYTES, TrainingMemory, activations_per_token, training_memory
from llmviz.models.settings import ADDED_POSITIONS, GPTConfig

# Numbers that an optimizer holds for each parameter, float32 each.
OPTIMIZER_NUMBERS = {
    **{"adamw": 2, "adam": 2, "sgd": 0, "momentum": 1},
    **{"nesterov": 1, "adagrad": 1, "rmsprop": 1},
}
DTYPES = ("float32", "bfloat16")
MOST_TOKENS = 10**12  # of a batch; more is a slip of the keyboard


class SavedTensor(NamedTuple):
    """One tensor that the forward pass saves for the backward pass: numbers for each token."""

    name: str
    numbers: int
    layers: int  # in how many layers; 0: once, outside of them


def saved_tensors(config: GPTConfig) -> list[SavedTensor]:
    """Return each tensor that torch keeps of a GPT's forward pass on a processor, in float32.

    Exact for GPT-2's form: norms before attention and feed-forward, as many heads of keys and
    values as of queries, no rotary positions, GELU or SiLU, torch's fused attention, no dropout. It
    has more entries than `activations_per_token`, which leaves the small ones out, and one less of
    the size of the vocabulary: the logits are not needed once their softmax is there.

    Raises ValueError for a model of another form.
    Reference: Korthikanti et al. 2022, "Reducing Activation Recomputation in Large Transformer
    Models", section 4.1; without dropout and with fused attention, whose weights are not kept
    (Dao et al. 2022, "FlashAttention", section 3.1).
    """
    plain = GPTConfig(**{name: getattr(config, name) for name in _FREE})
    if (
        config != plain
        or config.positions not in (*ADDED_POSITIONS, "none")
        or config.dropout
        or config.activation not in ("gelu", "gelu_tanh", "silu")
    ):
        raise ValueError("the kept tensors are listed for models of GPT-2's form without dropout")
    c, f, n = config.n_embd, config.feed_forward_size, config.n_layer
    return [
        SavedTensor("norm_inputs", 2 * c, n),
        SavedTensor("norm_outputs", 2 * c, n),
        SavedTensor("norm_statistics", 4, n),  # a mean and a deviation for each of two norms
        SavedTensor("qkv", 3 * c, n),
        SavedTensor("attention_output", c, n),
        SavedTensor("attention_sums", config.n_head, n),  # the logarithm of each softmax's divisor
        SavedTensor("hidden", f, n),
        SavedTensor("activated", f, n),
        SavedTensor("last_norm", 2 * c + 2, 0),
        SavedTensor("log_probabilities", config.vocab_size, 0),
    ]


_FREE = (
    "vocab_size",
    "context_length",
    "n_layer",
    "n_head",
    "n_embd",
    "hidden_size",
    "activation",
    "positions",
    "tied_head",
    "bias",
    "qkv_bias",
    "norm_epsilon",
)


def saved_numbers(config: GPTConfig, recompute: int = 0) -> int:
    """Numbers of all `saved_tensors` for one token, at the end of the forward pass.

    recompute: of the layers only the input of every so many is kept; 0 keeps everything.
    Raises ValueError as `saved_tensors` does.
    """
    kept = saved_tensors(config)
    if recompute:
        groups = -(-config.n_layer // recompute)
        return groups * config.n_embd + sum(tensor.numbers for tensor in kept if not tensor.layers)
    return sum(tensor.numbers * max(1, tensor.layers) for tensor in kept)


def paper_memory(
    config: GPTConfig,
    rows: int,
    tokens: int,
    *,
    dtype: str = "float32",
    optimizer: str = "adamw",
    recompute: int = 0,
    pieces: int = 1,
    explicit: bool = False,
) -> TrainingMemory:
    """Bytes of training on a batch of `rows` texts of `tokens` tokens, without what comes and goes.

    dtype, explicit: as in `training_memory` and `activations_per_token`. optimizer: one of
    OPTIMIZER_NUMBERS. pieces: micro-batches of a step, of which one is in memory at a time.
    recompute: keep the input of every so many layers and compute the layers behind it again, one
    such group at a time; 0 keeps everything.

    Raises ValueError for settings that do not go together, named.
    Reference: Rajbhandari et al. 2020, "ZeRO", section 3.1, for the bytes of a parameter; Chen et
    al. 2016, "Training Deep Nets with Sublinear Memory Cost", section 4, for recomputing.
    """
    if optimizer not in OPTIMIZER_NUMBERS:
        names = ", ".join(OPTIMIZER_NUMBERS)
        raise ValueError(f"optimizer must be one of {names}; got {optimizer!r}")
    for name, value, least in (
        ("rows", rows, 1),
        ("tokens", tokens, 1),
        ("pieces", pieces, 1),
        ("recompute", recompute, 0),
    ):
        if value < least:
            raise ValueError(f"{name} must be at least {least}; got {value}")
    if rows * tokens > MOST_TOKENS:
        raise ValueError(f"a batch has at most {MOST_TOKENS:,} tokens; got {rows * tokens:,}")
    if pieces > rows:
        raise ValueError(f"pieces must not exceed rows; got {pieces} > {rows}")
    at_once = -(-rows // pieces) * tokens
    whole = training_memory(config, at_once, dtype)
    each = activations_per_token(replace(config, context_length=tokens), explicit=explicit)
    if recompute:
        layers = config.n_layer
        ends = 2 * config.n_embd + 2 * config.vocab_size
        layer = (each - ends) // layers
        kept = -(-layers // recompute) * config.n_embd
        each = min(each, kept + min(recompute, layers) * layer + ends)
    numbers = OPTIMIZER_NUMBERS[optimizer] / OPTIMIZER_NUMBERS["adamw"]
    return whole._replace(
        averages=numbers * whole.averages, activations=BYTES[dtype] * at_once * each
    )
