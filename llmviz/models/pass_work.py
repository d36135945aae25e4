"""What one pass of a transformer computes and reads, from its settings: operations and bytes.

No model is built; shapes of well-known models stand at the end. B texts, T new tokens of each, S
tokens that are in the cache already.
"""

from __future__ import annotations

from typing import NamedTuple

from llmviz.models.costs import BYTES, cache_per_token, tensors
from llmviz.models.settings import GPTConfig

MOST = 10**12  # of any size, and of the tokens of all texts; more is a slip of the keyboard


class CacheShape(NamedTuple):
    """L layers, H heads of queries, G heads of keys and values, D numbers a head."""

    layers: int
    heads: int
    kv_heads: int
    head_size: int
    source: str = ""

    def numbers(self, kv_heads: int | None = None) -> int:
        """Numbers that a token leaves in the cache: 2·L·G·D.

        kv_heads: another G, such as H (multi-head) or 1 (multi-query).
        """
        heads = self.kv_heads if kv_heads is None else kv_heads
        return 2 * self.layers * heads * self.head_size


_GPT2 = "Radford et al. 2019 and its published settings"
_LLAMA2 = "Touvron et al. 2023 and its published settings"
_LLAMA3 = "Grattafiori et al. 2024, “Llama 3”, table 3"
KNOWN: dict[str, CacheShape] = {
    "GPT-2": CacheShape(12, 12, 12, 64, _GPT2),
    "GPT-2 XL": CacheShape(48, 25, 25, 64, _GPT2),
    "GPT-3": CacheShape(96, 96, 96, 128, "Brown et al. 2020, table 2.1"),
    "Falcon 7B": CacheShape(32, 71, 1, 64, "Almazrouei et al. 2023, “Falcon”"),
    "Llama 2 7B": CacheShape(32, 32, 32, 128, _LLAMA2),
    "Llama 2 70B": CacheShape(80, 64, 8, 128, _LLAMA2),
    "Mistral 7B": CacheShape(32, 32, 8, 128, "Jiang et al. 2023, “Mistral 7B”, table 1"),
    "Llama 3 8B": CacheShape(32, 32, 8, 128, _LLAMA3),
    "Llama 3 70B": CacheShape(80, 64, 8, 128, _LLAMA3),
    "Llama 3 405B": CacheShape(126, 128, 8, 128, _LLAMA3),
}


def typed_shape(layers: int, heads: int, kv_heads: int, head_size: int) -> CacheShape:
    """Return a shape after checking it.

    Raises ValueError for a size outside 1 to MOST, or kv_heads that do not divide heads.
    """
    shape = CacheShape(layers, heads, kv_heads, head_size)
    for name, size in zip(shape._fields[:4], shape[:4], strict=True):
        if not 1 <= size <= MOST:
            raise ValueError(f"{name} must be from 1 to {MOST:,}; got {size:,}")
    if heads % kv_heads:
        raise ValueError(f"kv_heads must divide heads; got heads={heads}, kv_heads={kv_heads}")
    return shape


def shape_bytes(
    shape: CacheShape, texts: int, tokens: int, dtype: str, kv_heads: int | None = None
) -> float:
    """Bytes of the keys and values of so many texts of so many tokens each.

    kv_heads: as in `CacheShape.numbers`. Raises ValueError for another dtype than those of BYTES
    and for texts or tokens below 1.

    >>> shape_bytes(KNOWN["Llama 2 7B"], 1, 1, "bfloat16")
    524288.0
    """
    if dtype not in BYTES:
        raise ValueError(f"dtype must be one of {', '.join(BYTES)}; got {dtype!r}")
    for name, value in (("texts", texts), ("tokens", tokens)):
        if value < 1:
            raise ValueError(f"{name} must be at least 1; got {value}")
    if texts * tokens > MOST:
        raise ValueError(f"all texts have at most {MOST:,} tokens; got {texts * tokens:,}")
    return BYTES[dtype] * texts * tokens * shape.numbers(kv_heads)


class PassWork(NamedTuple):
    """Operations of one pass, and the bytes that must be moved for it at least."""

    operations: int  # floating-point; a product and its addition count as two
    weights: int  # bytes that are read, once for all texts
    cache_read: int  # bytes of the keys and values of earlier tokens
    cache_written: int  # bytes of those of the new tokens

    @property
    def bytes(self) -> int:
        """All bytes."""
        return self.weights + self.cache_read + self.cache_written

    @property
    def intensity(self) -> float:
        """Operations for each byte, the arithmetic intensity."""
        return self.operations / self.bytes


def pass_work(config: GPTConfig, batch: int, new: int, seen: int, size: int = 4) -> PassWork:
    """Count a pass over `new` tokens of each of `batch` texts, behind `seen` tokens of each.

    new > 1 and seen = 0 is the prefill of a prompt; new = 1 is the decoding of a token. size: bytes
    of a number. The head is computed for the last token of each text. Counted are matrices and
    attention, each new token with all seen + new keys, as they are computed without a kernel that
    skips what the mask hides; norms, activations, softmax and biases are left out. Of the
    bytes, those of weights (the embedding's only where it is the head, too) and of the cache:
    what is computed in between is small enough to stay in the processor.

    Raises ValueError for batch or new below 1, seen below 0, a window, or experts.
    Reference: Kaplan et al. 2020, "Scaling Laws", section 2.1; Williams et al. 2009, "Roofline",
    section 3, for operations per byte.
    """
    for name, value, least in (("batch", batch, 1), ("new", new, 1), ("seen", seen, 0)):
        if value < least:
            raise ValueError(f"{name} must be at least {least}; got {value}")
    if config.n_expert > 1 or config.window is not None:
        raise ValueError("passes are counted for models without experts and without a window")
    parts = list(tensors(config))
    inner = [tensor for tensor in parts if tensor.part not in ("token", "position", "head")]
    matrices = sum(tensor.count for tensor in inner if len(tensor.shape) == 2)
    head = config.vocab_size * config.n_embd
    attention = 2 * config.n_layer * (seen + new) * config.n_embd  # q·k and weights·v
    each = cache_per_token(config) * size
    return PassWork(
        operations=2 * batch * (new * (matrices + attention) + head),
        weights=size * (sum(tensor.count for tensor in inner) + head),
        cache_read=batch * seen * each,
        cache_written=batch * new * each,
    )
