"""What a transformer costs, from its settings alone: parameters, memory, products, cache.

No model is built. V vocabulary, C = n_embd, L layers, H heads, G heads of keys and values, D = C/H
head size, F feed-forward width, E experts, T tokens read so far.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

from llmviz.models.settings import GPTConfig
from llmviz.models.translator_settings import Seq2SeqConfig

# Bytes of a number in each way of storing weights; scales of the whole numbers are left out.
BYTES = {"float32": 4.0, "bfloat16": 2.0, "int8": 1.0, "int4": 0.5}

# Published shapes, as values for `GPTConfig.from_dict`. The published GPT-3 has sparse attention in
# every second layer, which changes no count.
_GPT2 = dict(vocab_size=50257, context_length=1024, activation="gelu_tanh")
_LLAMA = dict(
    positions="rotary",
    norm_kind="rms",
    activation="swiglu",
    bias=False,
    qkv_bias=False,
    tied_head=False,
)
PRESETS: dict[str, dict[str, Any]] = {
    "GPT-2": dict(n_layer=12, n_head=12, n_embd=768, **_GPT2),
    "GPT-2 medium": dict(n_layer=24, n_head=16, n_embd=1024, **_GPT2),
    "GPT-2 large": dict(n_layer=36, n_head=20, n_embd=1280, **_GPT2),
    "GPT-2 XL": dict(n_layer=48, n_head=25, n_embd=1600, **_GPT2),
    "GPT-3": dict(
        n_layer=96, n_head=96, n_embd=12288, vocab_size=50257, context_length=2048,
        activation="gelu_tanh",
    ),
    "ours": dict(n_layer=4, n_head=4, n_embd=192, vocab_size=3072, context_length=256),
    "modern 7B": dict(
        n_layer=32, n_head=32, n_kv_head=8, n_embd=4096, hidden_size=14336, vocab_size=32000,
        context_length=32768, rotary_base=1e6, **_LLAMA,
    ),
}  # fmt: skip
# How pages call them; links keep the keys.
PRESET_NAMES = {name: name for name in PRESETS} | {
    "ours": "tiny-world-gpt (comes with this app)",
    "modern 7B": "Mistral 7B (grouped queries)",
}
PRESET_SOURCES = (
    "GPT-2: Radford et al. 2019. GPT-3: Brown et al. 2020, table 2.1. Mistral 7B: Jiang et al. "
    "2023, table 1; its context and its rotary base are those of version 0.2."
)


class TensorShape(NamedTuple):
    """One learned tensor: its name in the state dict, what it is part of, its shape."""

    name: str
    part: str  # token, position, attention, mlp, router, norm, head
    shape: tuple[int, ...]

    @property
    def count(self) -> int:  # type: ignore[override]  # hides what a tuple has of this name
        """How many numbers it holds."""
        return math.prod(self.shape)


def tensors(config: GPTConfig) -> Iterator[TensorShape]:
    """Yield every learned tensor of a GPT or BERT, in the order of the state dict.

    A head that is the token embedding is not a tensor of its own.
    """
    yield from _before_blocks(config)
    for layer in range(config.n_layer):
        yield from _block(config, f"blocks.{layer}.")
    yield from _after_blocks(config)


def different_tensors(config: GPTConfig) -> Iterator[tuple[TensorShape, int]]:
    """Yield what `tensors` does, those of the layers once, each with how many there are of it.

    The name of one in a layer has N in the place of the layer's number.
    """
    for tensor in _before_blocks(config):
        yield tensor, 1
    for tensor in _block(config, "blocks.N."):
        yield tensor, config.n_layer
    for tensor in _after_blocks(config):
        yield tensor, 1


def _before_blocks(config: GPTConfig) -> Iterator[TensorShape]:
    yield TensorShape("token.weight", "token", (config.vocab_size, config.n_embd))
    if config.positions == "learned":
        yield TensorShape("position.weight", "position", (config.context_length, config.n_embd))


def _block(config: GPTConfig, at: str) -> Iterator[TensorShape]:
    c, kv = config.n_embd, config.kv_heads * config.head_size
    yield from _norm(config, at + "norm1")
    yield from _norm(config, at + "norm2")
    attention = (("qkv", c, c + 2 * kv, config.qkv_bias), ("projection", c, c, config.bias))
    for name, inputs, outputs, bias in attention:
        yield from _linear(f"{at}attn.{name}", "attention", inputs, outputs, bias)
    yield from _feed_forward(config, at + "mlp")


def _after_blocks(config: GPTConfig) -> Iterator[TensorShape]:
    if config.norm == "pre":
        yield from _norm(config, "norm_final")
    if not config.tied_head:
        yield TensorShape("head.weight", "head", (config.vocab_size, config.n_embd))


def translator_tensors(config: Seq2SeqConfig) -> Iterator[TensorShape]:
    """Yield every learned tensor of an encoder–decoder, in the order of the state dict."""
    c, f = config.n_embd, config.hidden_size or 4 * config.n_embd
    sources = {"encoder": config.source_vocab_size or config.vocab_size}
    for stack, v in (sources | {"decoder": config.vocab_size}).items():
        yield TensorShape(f"{stack}.token.weight", "token", (v, c))
        for layer in range(config.n_layer):
            at = f"{stack}.blocks.{layer}."
            for name in ("attn", "cross") if stack == "decoder" else ("attn",):
                for linear, outputs in (("qkv", 3 * c), ("projection", c)):
                    bias = config.attention_bias
                    yield from _linear(f"{at}{name}.{linear}", "attention", c, outputs, bias)
                yield from _layer_norm(f"{at}add_{name}.norm", c)
            yield from _linear(f"{at}mlp.hidden", "mlp", c, f, True)
            if config.activation == "swiglu":
                yield from _linear(f"{at}mlp.up", "mlp", c, f, True)
            yield from _linear(f"{at}mlp.output", "mlp", f, c, True)
            yield from _layer_norm(f"{at}add_mlp.norm", c)
        if config.norm == "pre":
            yield from _layer_norm(f"{stack}.norm", c)
    yield from _linear("head", "head", c, config.vocab_size, True)


def count(config: GPTConfig) -> int:
    """How many numbers a GPT or BERT learns.

    >>> count(GPTConfig(vocab_size=50257, context_length=1024, n_layer=12, n_head=12, n_embd=768))
    124439808
    """
    return sum(times * tensor.count for tensor, times in different_tensors(config))


def count_by_part(config: GPTConfig) -> dict[str, int]:
    """How many numbers each part learns; parts without any are left out."""
    counts: dict[str, int] = {}
    for tensor, times in different_tensors(config):
        counts[tensor.part] = counts.get(tensor.part, 0) + times * tensor.count
    return counts


def count_used(config: GPTConfig) -> int:
    """How many of them a token meets: of the experts, only those that it is sent to."""
    if config.n_expert == 1:
        return count(config)
    idle = config.n_expert - min(config.experts_per_token, config.n_expert)
    single = sum(tensor.count for tensor in _one_feed_forward(config, "one"))
    return count(config) - config.n_layer * idle * single


def weight_bytes(config: GPTConfig, dtype: str) -> float:
    """Bytes of the weights in one of BYTES. Raises ValueError for another dtype."""
    if dtype not in BYTES:
        raise ValueError(f"dtype must be one of {', '.join(BYTES)}; got {dtype!r}")
    return BYTES[dtype] * count(config)


class TrainingMemory(NamedTuple):
    """Bytes that training with AdamW takes, without what Python and torch take themselves."""

    weights: float
    gradients: float
    averages: float  # of the gradients and of their squares, float32 each
    master: float  # a float32 copy of weights that are kept in fewer bits
    activations: float  # what the forward pass leaves for the backward pass

    @property
    def total(self) -> float:
        """All of it."""
        return sum(self)


def training_memory(config: GPTConfig, tokens: int, dtype: str = "float32") -> TrainingMemory:
    """Memory of training on `tokens` tokens at once, in rows of the whole context.

    dtype: of weights, gradients and activations, float32 or bfloat16; for the latter a float32 copy
    of the weights is kept, too (Micikevicius et al. 2018, "Mixed Precision Training", section 3.1).
    Raises ValueError for another dtype.
    """
    if dtype not in ("float32", "bfloat16"):
        raise ValueError(f"dtype must be float32 or bfloat16; got {dtype!r}")
    size, n = BYTES[dtype], count(config)
    return TrainingMemory(
        weights=size * n,
        gradients=size * n,
        averages=2 * BYTES["float32"] * n,
        master=0.0 if dtype == "float32" else BYTES["float32"] * n,
        activations=size * tokens * activations_per_token(config),
    )


def activations_per_token(config: GPTConfig, *, explicit: bool = False) -> int:
    """Numbers that the forward pass keeps of a token for the backward pass.

    Counted are the inputs of every matrix, norm and activation, and the logits with their softmax.
    explicit: also the attention weights, T a head for a context of T, which fused kernels compute
    again instead of keeping them.

    Reference: Korthikanti et al. 2022, "Reducing Activation Recomputation", section 4.1, without
    dropout, in numbers instead of bytes.
    """
    c, f = config.n_embd, config.feed_forward_size
    kv = config.kv_heads * config.head_size
    used = 1 if config.n_expert == 1 else config.experts_per_token
    norms = 0 if config.norm == "none" else 2 * c  # their inputs
    attention = c + (c + 2 * kv) + c  # input of qkv; q, k, v; input of the projection
    hidden = 3 * f if config.activation == "swiglu" else 2 * f  # before the activation, after, up
    router = 0 if config.n_expert == 1 else config.n_expert
    layer = norms + attention + c + used * hidden + router
    if explicit:
        layer += config.n_head * config.context_length
    return config.n_layer * layer + 2 * c + 2 * config.vocab_size


def flops_per_token(config: GPTConfig, seen: int) -> int:
    """Floating-point operations of the forward pass for one token that sees `seen` tokens.

    A product and its addition count as two. Counted are matrices and attention; norms, activations
    and softmax are left out, and the look-up of the embedding costs nothing. Training takes about
    three times as many.

    Reference: Kaplan et al. 2020, "Scaling Laws", section 2.1 and table 1.
    """
    seen = seen if config.window is None else min(seen, config.window)
    matrices = sum(
        times * tensor.count
        for tensor, times in different_tensors(config)
        if len(tensor.shape) == 2 and tensor.part not in ("token", "position")
    )
    idle = 0
    if config.n_expert > 1:
        single = sum(t.count for t in _one_feed_forward(config, "one") if len(t.shape) == 2)
        idle = config.n_layer * (config.n_expert - config.experts_per_token) * single
    if config.tied_head:
        matrices += config.vocab_size * config.n_embd
    attention = config.n_layer * 2 * seen * config.n_embd  # q·k and weights·v
    return 2 * (matrices - idle + attention)


def cache_per_token(config: GPTConfig) -> int:
    """Numbers that the cache keeps of a token: its keys and values in every layer."""
    return 2 * config.n_layer * config.kv_heads * config.head_size


def cache_bytes(config: GPTConfig, tokens: int, dtype: str = "float32") -> float:
    """Bytes of keys and values that writing on needs after `tokens` tokens, for one text.

    With a window only the tokens in it are needed. Raises ValueError as `weight_bytes`.
    """
    if dtype not in BYTES:
        raise ValueError(f"dtype must be one of {', '.join(BYTES)}; got {dtype!r}")
    kept = tokens if config.window is None else min(tokens, config.window)
    return BYTES[dtype] * kept * cache_per_token(config)


def _linear(name: str, part: str, inputs: int, outputs: int, bias: bool) -> Iterator[TensorShape]:
    yield TensorShape(f"{name}.weight", part, (outputs, inputs))
    if bias:
        yield TensorShape(f"{name}.bias", part, (outputs,))


def _layer_norm(name: str, c: int, bias: bool = True) -> Iterator[TensorShape]:
    yield TensorShape(f"{name}.weight", "norm", (c,))
    if bias:
        yield TensorShape(f"{name}.bias", "norm", (c,))


def _norm(config: GPTConfig, name: str) -> Iterator[TensorShape]:
    if config.norm != "none":
        yield from _layer_norm(name, config.n_embd, config.bias and config.norm_kind == "layer")


def _feed_forward(config: GPTConfig, name: str) -> Iterator[TensorShape]:
    if config.n_expert == 1:
        yield from _one_feed_forward(config, name)
        return
    yield TensorShape(f"{name}.router.weight", "router", (config.n_expert, config.n_embd))
    for number in range(config.n_expert):
        yield from _one_feed_forward(config, f"{name}.experts.{number}")


def _one_feed_forward(config: GPTConfig, name: str) -> Iterator[TensorShape]:
    c, f, bias = config.n_embd, config.feed_forward_size, config.bias
    yield from _linear(f"{name}.hidden", "mlp", c, f, bias)
    if config.activation == "swiglu":
        yield from _linear(f"{name}.up", "mlp", c, f, bias)
    yield from _linear(f"{name}.output", "mlp", f, c, bias)
