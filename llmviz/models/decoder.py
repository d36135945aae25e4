"""A GPT reading one token after another, with as few operations as that takes.

C = n_embd, H heads, D = C/H head size, S tokens in the cache so far, V vocabulary.

The modules of `gpt` do the same and can be watched, but at batch 1 a small model spends most of
its time between its operations. A test compares the two. Where a trace is recorded or
heads are switched off, the modules compute.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeGuard

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from llmviz.models.base import CachingModel
from llmviz.models.fast_paths import FastPath
from llmviz.models.layer_parts import layer_parts, position_table
from llmviz.models.numpy_decoder import NUMPY_COMPUTES, NumpyDecoder
from llmviz.models.settings import GPTConfig
from llmviz.nn.cache import KVCache
from llmviz.nn.fast_linear import FEW, Product, fast_for_one_or_few, plain_linear
from llmviz.nn.layers import ACTIVATIONS, LayerNorm, RMSNorm, split
from llmviz.trace import recording, replacing

if TYPE_CHECKING:
    from llmviz.models.gpt import GPT

NUMPY_UP_TO = 20_000_000  # parameters
COMPUTES = FastPath(
    {
        "positions": ("learned", "sinusoidal", "rotary", "none"),
        "activation": ACTIVATIONS,
        "norm_kind": ("layer", "rms"),
    },
    free=frozenset(("n_kv_head", "window")),
)


class Decoder:
    """The next-token step of a GPT as one function; holds no text, only how to read the weights.

    packed: None reads the model's own weights, so that training shows; otherwise the precision of
      a copy that is laid out for the processor, see `fast_for_one_or_few`.
    Raises ValueError for a model that `can_decode` refuses.
    """

    def __init__(self, model: GPT, packed: str | None = None):
        if not can_decode(model):
            raise ValueError(
                "the decoder is for GPTs without mistakes, with norms before each part and no "
                "experts"
            )
        config = model.config
        lay_out: Callable[[nn.Linear], Product] = plain_linear
        if packed is not None:
            lay_out = lambda linear: fast_for_one_or_few(linear, packed)  # noqa: E731
        make = partial(_product, lay_out)
        self.n_layer, self.n_head, self.head_size = config.n_layer, config.n_head, config.head_size
        self.n_kv_head, self.window = config.kv_heads, config.window
        self.rotary = model.blocks[0].attn.rotary
        self.scale = 1 / math.sqrt(config.head_size)
        self.activation = _gelu if config.activation == "gelu" else ACTIVATIONS[config.activation]
        self.token = model.token.weight.detach()
        self.position = position_table(model)
        self.layers = layer_parts(model, _norm, make)
        self.norm, self.head = _norm(model.norm_final), make(model.head)

    def usable_now(self) -> bool:
        """Whether nobody in this thread or task records a trace or changes what is in it."""
        return not (recording() or replacing())

    def step(self, token: int, cache: KVCache) -> Tensor:
        """Logits (V,) for the token after `token`, which follows those in the cache (batch 1).

        Raises ValueError when the cache is full.
        """
        return self.read([token], cache)

    def read(self, tokens: list[int], cache: KVCache) -> Tensor:
        """Logits (V,) for the token after `tokens`, which follow those in the cache (batch 1).

        A packed layer takes little longer for a few tokens than for one, so a prompt is read at
        once. Raises ValueError for no token and for more than the cache has room for.
        """
        with torch.inference_mode():
            return self._logits(self._stream(tokens, cache)[-1:])[0]  # (V,)

    def read_each(self, tokens: list[int], cache: KVCache) -> Tensor:
        """As `read`, but logits (T, V) for the token after each of `tokens`."""
        with torch.inference_mode():
            return self._logits(self._stream(tokens, cache))

    def _logits(self, x: Tensor) -> Tensor:
        """Logits (T, V) of what the last layer left, (T, C)."""
        return self.head(self.norm(x))

    def _stream(self, tokens: list[int], cache: KVCache) -> Tensor:
        """What the last layer leaves, (T, C); the keys and values are in the cache then."""
        start, end = cache.length, cache.length + len(tokens)
        if start == end:
            raise ValueError("there is no token to read")
        if end > cache.context_length:
            raise ValueError(f"the model's context is {cache.context_length} tokens; got {end}")
        x = self.token[tokens]  # (T, C)
        if self.position is not None:
            x = x + self.position[start:end]
        mask = self._mask(start, end, x)
        for layer, keys, values in zip(self.layers, cache.keys, cache.values, strict=True):
            heads = self._attend(layer.qkv(layer.norm1(x)), keys, values, start, mask)
            x = x + layer.projection(heads)
            h = layer.norm2(x)
            act = self.activation(layer.hidden(h))  # (T, F)
            if layer.up is not None:
                act = act * layer.up(h)
            x = x + layer.output(act)
        cache.length = end
        return x

    def _mask(self, start: int, end: int, x: Tensor) -> Tensor | None:
        """Who sees whom of the tokens from `start` on; None where each sees what came before it.

        One token may see all that its window holds, of which no other is handed on.
        """
        windowed = self.window is not None and end > self.window
        if end - start == 1 or not (start or windowed):
            return None
        seen = x.new_ones(end - start, end, dtype=torch.bool).tril(start)
        return seen.triu(start + 1 - self.window) if self.window is not None else seen

    def _attend(
        self, qkv: Tensor, keys: Tensor, values: Tensor, start: int, mask: Tensor | None
    ) -> Tensor:
        """The outputs of all heads (T, C), from qkv (T, C + 2·G·D) and the cache's (1, G, …, D)."""
        t, size, shared = len(qkv), self.head_size, self.n_kv_head
        split = qkv.view(1, t, self.n_head + 2 * shared, size).transpose(1, 2)  # (1, H + 2G, T, D)
        q, k, v = split.split((self.n_head, shared, shared), dim=1)
        if self.rotary is not None:
            q, k = self.rotary(q, start), self.rotary(k, start)
        keys.narrow(2, start, t).copy_(k)
        values.narrow(2, start, t).copy_(v)
        first = 0  # that is seen
        if t == 1 and self.window is not None:
            first = max(0, start + 1 - self.window)
        so_far = start + t - first
        heads = F.scaled_dot_product_attention(
            q,
            keys.narrow(2, first, so_far),
            values.narrow(2, first, so_far),
            mask,
            is_causal=not start and mask is None,
            scale=self.scale,
            enable_gqa=shared != self.n_head,
        )
        return heads.transpose(1, 2).reshape(t, -1)


def _product(lay_out: Callable[[nn.Linear], Product], module: nn.Linear) -> Product:
    """A linear layer as a function; an adapter that lies beside its matrix is applied beside it."""
    plain, change = split(module)
    product = lay_out(plain)
    if change is None:
        return product
    a, b, scale = change.a.detach().t(), change.b.detach().t(), change.scale
    return lambda x: torch.addmm(product(x), torch.mm(x, a), b, alpha=scale)


def _norm(norm: nn.Module) -> Product:
    if isinstance(norm, RMSNorm):
        size, factor, least = tuple(norm.normalized_shape), norm.weight.detach(), norm.eps
        return lambda x: torch.rms_norm(x, size, factor, least)
    assert isinstance(norm, LayerNorm)  # `can_decode` has seen to it
    shape, weight, bias, epsilon = norm.normalized_shape, norm.weight, norm.bias, norm.eps
    scale, shift = weight.detach(), None if bias is None else bias.detach()
    return lambda x: torch.layer_norm(x, shape, scale, shift, epsilon, False)


def _gelu(x: Tensor) -> Tensor:
    """The exact GELU; for one token, torch's own takes longer to begin than to compute."""
    if len(x) > 1:
        return F.gelu(x)
    half = x * 0.5
    return torch.addcmul(half, half, torch.erf(x * 0.7071067811865476))


def can_decode(model: nn.Module) -> TypeGuard[GPT]:
    """Whether `Decoder` computes what this model does: a GPT with no mistakes and plain layers."""
    config = getattr(model, "config", None)
    if not isinstance(config, GPTConfig) or isinstance(model, FastGPT):
        return False
    blocks: Any = model.blocks
    return COMPUTES.refused(config) is None and all(
        type(split(module)[0]) in (nn.Linear, LayerNorm, RMSNorm)
        for block in blocks
        for module in (
            block.norm1,
            block.norm2,
            block.attn.qkv,
            block.attn.projection,
            block.feed_forward.hidden,
            block.feed_forward.output,
        )
    )


def decoder_for(model: GPT) -> Decoder | NumpyDecoder | None:
    """The faster of the decoders that share the model's weights; None where there is none."""
    if not can_decode(model):
        return None
    weight = model.token.weight
    plain = weight.device.type == "cpu" and weight.dtype is torch.float32
    # Where reading the weights takes longer than the calls, torch is the faster one.
    small = sum(p.numel() for p in model.parameters()) <= NUMPY_UP_TO
    if plain and small and NUMPY_COMPUTES.refused(model.config) is None:
        return NumpyDecoder(model)
    return Decoder(model)


class FastGPT(CachingModel):
    """A GPT with a second, packed copy of its weights for writing text; the rest is the GPT's.

    `generate` takes it like any model. The copy does not follow later training.
    """

    def __init__(self, model: GPT, precision: str):
        super().__init__(model.config)
        self.model = model
        self._decoder = self._few = Decoder(model, precision)
        if precision == "float32":  # on some processors the plain product reads as fast
            both = self._decoder, Decoder(model)
            self._decoder, self._few = (_faster(model, tokens, *both) for tokens in (1, FEW))

    def forward(self, *args: object, **kwargs: object) -> tuple[Tensor, Tensor | None]:
        """As the GPT's own."""
        return self.model(*args, **kwargs)

    def new_cache(self, batch: int = 1) -> KVCache:
        """As the GPT's own."""
        return self.model.new_cache(batch)

    def new_decoder(self) -> Decoder:
        """The packed step."""
        return self._decoder

    def new_decoder_of_few(self) -> Decoder:
        """The one that is fast where a few tokens are read at once."""
        return self._few


def _faster(model: GPT, tokens: int, *decoders: Decoder, rounds: int = 5) -> Decoder:
    """The decoder that reads so many tokens in less time here and now, measured in turns."""
    cache = model.new_cache()
    seconds = [math.inf] * len(decoders)
    for _ in range(rounds):
        for number, decoder in enumerate(decoders):
            cache.reset()
            begun = time.perf_counter()
            decoder.read_each([0] * min(tokens, model.context_length), cache)
            seconds[number] = min(seconds[number], time.perf_counter() - begun)
    return decoders[seconds.index(min(seconds))]


def optimize_for_inference(model: GPT, precision: str = "float32") -> FastGPT:
    """Return the model for faster writing at batch 1: weights packed as `precision` says.

    "float32" changes nothing but rounding, and keeps the model's own weights where a copy is not
    read faster; "bfloat16" halves what is read per token, "int8" quarters it and "int4" takes an
    eighth, each at more loss.
    It pays from some ten million parameters on, and costs the memory of the copy.

    Raises: ValueError for an unknown precision or a model that `can_decode` refuses.
    """
    return FastGPT(model, precision).eval()
