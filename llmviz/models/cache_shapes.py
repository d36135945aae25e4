"""Shapes of well-known models as far as their cache of keys and values depends on them."""

from __future__ import annotations

from typing import NamedTuple

from llmviz.models.arithmetic import BYTES

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
