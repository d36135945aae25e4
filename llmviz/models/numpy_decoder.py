"""The next-token step of a small GPT in NumPy, whose calls begin in a third of torch's time.

C = n_embd, H heads, D = C/H head size, S tokens in the cache so far, V vocabulary.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from llmviz.models.fast_paths import FastPath
from llmviz.models.layer_parts import layer_parts, position_table
from llmviz.nn.cache import KVCache
from llmviz.nn.layers import split
from llmviz.trace import recording, replacing

if TYPE_CHECKING:
    from llmviz.models.gpt import GPT

Vector = np.ndarray
ROOT_HALF = math.sqrt(0.5)


class _Change(NamedTuple):
    """What an adapter adds to a weight (out, in): scale·B·A, A (r, in), B (out, r)."""

    a: np.ndarray
    b: np.ndarray
    scale: float


class _Affine(NamedTuple):
    """A weight with its bias: of a layer norm (C,), (C,) or of a linear layer (out, in), (out,)."""

    weight: np.ndarray
    bias: np.ndarray | None
    change: _Change | None


class NumpyDecoder:
    """One token at a time on the model's own float32 weights, which it shares: training shows.

    For models that `can_decode` accepts, on the CPU.
    """

    def __init__(self, model: GPT):
        config = model.config
        self.n_head, self.head_size = config.n_head, config.head_size
        self.root = math.sqrt(config.head_size)
        self.epsilon = config.norm_epsilon
        self.activation = ACTIVATIONS[config.activation]
        self.token = model.token.weight.detach().numpy()
        table = position_table(model)
        self.position = None if table is None else table.numpy()
        self.layers = layer_parts(model, _affine, _affine)
        self.norm, self.head = _affine(model.norm_final), _affine(model.head)
        self._seen: tuple[KVCache, list[tuple[np.ndarray, np.ndarray]]] | None = None

    def usable_now(self) -> bool:
        """Whether nobody in this thread or task records a trace or changes what is in it."""
        return not (recording() or replacing())

    def step(self, token: int, cache: KVCache) -> Tensor:
        """Logits (V,) for the token after `token`, which follows those in the cache (batch 1).

        Raises ValueError when the cache is full.
        """
        at = cache.length
        if at >= cache.context_length:
            raise ValueError(f"the model's context is {cache.context_length} tokens; got {at + 1}")
        x = self.token[token]  # (C,)
        if self.position is not None:
            x = x + self.position[at]
        for layer, (keys, values) in zip(self.layers, self._arrays(cache), strict=True):
            heads = self._attend(_linear(self._norm(x, layer.norm1), layer.qkv), keys, values, at)
            x = x + _linear(heads, layer.projection)
            h = self._norm(x, layer.norm2)
            act = self.activation(_linear(h, layer.hidden))  # (F,)
            if layer.up is not None:
                act *= _linear(h, layer.up)
            x = x + _linear(act, layer.output)
        cache.length = at + 1
        return torch.from_numpy(_linear(self._norm(x, self.norm), self.head))  # (V,)

    def _arrays(self, cache: KVCache) -> list[tuple[np.ndarray, np.ndarray]]:
        """The keys and values (H, context, D) of each layer; the cache's own memory."""
        if self._seen is None or self._seen[0] is not cache:
            pairs = zip(cache.keys, cache.values, strict=True)
            self._seen = cache, [(keys[0].numpy(), values[0].numpy()) for keys, values in pairs]
        return self._seen[1]

    def _attend(self, qkv: Vector, keys: np.ndarray, values: np.ndarray, at: int) -> Vector:
        """What the heads say (C,), from qkv (3C,)."""
        q, k, v = qkv.reshape(3, self.n_head, self.head_size)  # each (H, D)
        keys[:, at], values[:, at] = k, v
        scores = np.matvec(keys[:, : at + 1], q / self.root)  # (H, S)
        scores -= np.maximum.reduce(scores, axis=1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= np.add.reduce(scores, axis=1, keepdims=True)
        return np.vecmat(scores, values[:, : at + 1]).reshape(-1)

    def _norm(self, x: Vector, norm: _Affine) -> Vector:
        centred = x - float(np.add.reduce(x)) / x.size
        variance = float(centred.dot(centred)) / x.size
        centred *= 1 / math.sqrt(variance + self.epsilon)
        centred *= norm.weight
        if norm.bias is not None:
            centred += norm.bias
        return centred


def _affine(module: nn.Module) -> _Affine:
    plain, beside = split(module)
    assert isinstance(plain, nn.Linear | nn.LayerNorm)  # `can_decode` has seen to it
    bias = None if plain.bias is None else plain.bias.detach().numpy()
    change = None
    if beside is not None:
        change = _Change(beside.a.detach().numpy(), beside.b.detach().numpy(), beside.scale)
    return _Affine(plain.weight.detach().numpy(), bias, change)


def _linear(x: Vector, layer: _Affine) -> Vector:
    y = layer.weight.dot(x)
    if layer.bias is not None:
        y += layer.bias
    if layer.change is not None:
        a, b, scale = layer.change
        y += b.dot(a.dot(x) * scale)
    return y


def _gelu(x: Vector) -> Vector:
    half = x * 0.5
    half += half * torch.erf(torch.from_numpy(x * ROOT_HALF)).numpy()
    return half


def _gelu_tanh(x: Vector) -> Vector:
    inner = np.tanh((x + 0.044715 * x * x * x) * math.sqrt(2 / math.pi))
    inner += 1
    inner *= x
    inner *= 0.5
    return inner


def _silu(x: Vector) -> Vector:
    return torch.nn.functional.silu(torch.from_numpy(x)).numpy()


ACTIVATIONS: dict[str, Callable[[Vector], Vector]] = {
    "gelu": _gelu,
    "gelu_tanh": _gelu_tanh,
    "relu": lambda x: np.maximum(x, 0),
    "silu": _silu,
    "swiglu": _silu,  # of the gate
}

# At small sizes most time goes into beginning a call; a step of 2.4 million parameters takes it 0.2
# ms where torch needs 0.5 (one thread each).
NUMPY_COMPUTES = FastPath(
    {"positions": ("learned", "sinusoidal", "none"), "activation": ACTIVATIONS}
)
