"""A transformer whose matrices are on a grid: which matrices, how many bytes, the model itself.

Quantized are the linear layers of the blocks: queries, keys and values, the projection after
attention, and the matrices of the feed-forward. Embeddings, positions, norms and biases are not,
nor is the head, which is the same matrix as the token embeddings where it is tied to them: they are
kept as float16. A router, which sends tokens to experts, stays as it is too.

Codes of a few bits are packed without gaps in bytes: code 0 takes the lowest bits of byte 0.
3 bits:  byte 0 = c2 c2 c1 c1 c1 c0 c0 c0, byte 1 = c5 c4 c4 c4 c3 c3 c3 c2, …
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from llmviz.models.base import LanguageModel
from llmviz.quantization.grids import Quantized, dequantize, quantize
from llmviz.quantization.scheme import STEP_BITS, Scheme


def packed_bytes(count: int, bits: int) -> int:
    """Return how many bytes so many codes take.

    >>> packed_bytes(8, 3), packed_bytes(3, 4)
    (3, 2)
    """
    return -(-count * bits // 8)


def pack(codes: np.ndarray, bits: int) -> np.ndarray:
    """Return codes (any shape, whole numbers from 0 to 2^bits − 1) as bytes, uint8 (N,).

    Raises ValueError for bits that are not from 1 to 8, and for a code out of range.

    >>> pack(np.array([1, 2, 3, 4, 5, 6, 7, 0]), 3).tolist()
    [209, 88, 31]
    """
    _check(bits)
    flat = np.asarray(codes).reshape(-1)
    if flat.size and not (flat.min() >= 0 and flat.max() < 2**bits):
        raise ValueError(
            f"codes of {bits} bits are from 0 to {2**bits - 1}; got {flat.min()} to {flat.max()}"
        )
    each = np.unpackbits(flat.astype(np.uint8)[:, None], axis=1, bitorder="little")[:, :bits]
    return np.packbits(each.reshape(-1), bitorder="little")


def unpack(packed: np.ndarray, bits: int, count: int) -> np.ndarray:
    """Return the `count` codes in some bytes (N,), uint8 (count,).

    Raises ValueError where the bytes are not as many as so many codes take.
    """
    _check(bits)
    if packed.shape != (packed_bytes(count, bits),):
        raise ValueError(
            f"{count:,} codes of {bits} bits take {packed_bytes(count, bits):,} bytes; "
            f"got the shape {packed.shape}"
        )
    each = np.unpackbits(packed, bitorder="little")[: count * bits].reshape(count, bits)
    return np.packbits(each, axis=1, bitorder="little").reshape(-1)


def _check(bits: int) -> None:
    if not 1 <= bits <= 8:
        raise ValueError(f"packed codes have 1 to 8 bits; got {bits}")


REST_BYTES = 2  # of a number that is not quantized: float16
WEIGHT = ".weight"


class Sizes(NamedTuple):
    """Bytes of a model: its codes, the steps and zero points, and all that is not quantized."""

    codes: int
    scales: int
    zero_points: int
    rest: int

    @property
    def matrices(self) -> int:
        """Bytes of the quantized matrices, with their steps and zero points."""
        return self.codes + self.scales + self.zero_points

    @property
    def total(self) -> int:
        """Bytes of the whole model."""
        return self.matrices + self.rest


@dataclass(frozen=True, eq=False)
class QuantizedModel:
    """A model whose weights are what their codes stand for, and the codes by path of the layer."""

    model: LanguageModel
    matrices: Mapping[str, Quantized]
    scheme: Scheme

    @property
    def sizes(self) -> Sizes:
        """Bytes of what is saved."""
        return sizes(self.model, self.scheme)


def linears(model: nn.Module) -> dict[str, nn.Linear]:
    """Return the layers that are quantized, by path.

    Raises ValueError for a model without transformer blocks.
    """
    if not isinstance(getattr(model, "blocks", None), nn.ModuleList):
        raise ValueError(
            f"only the linear layers of transformer blocks are quantized; {type(model).__name__} "
            "has none"
        )
    return {
        path: module
        for path, module in model.named_modules()
        if path.startswith("blocks.")
        and isinstance(module, nn.Linear)
        and not path.endswith(".router")
    }


def quantize_model(model: LanguageModel, scheme: Scheme) -> QuantizedModel:
    """Return a copy of a model on a grid; the model itself is not changed.

    All that is not quantized is rounded to float16, as it is saved. Raises ValueError as `quantize`
    does, naming the layer, and for a model without transformer blocks.
    """
    own = copy.deepcopy(model).requires_grad_(False)
    matrices = {}
    for path, layer in linears(own).items():
        try:
            matrices[path] = quantize(layer.weight, scheme)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error
    with torch.no_grad():
        for name, tensor in own.state_dict().items():
            path = name.removesuffix(WEIGHT)
            tensor.copy_(
                dequantize(matrices[path])
                if name.endswith(WEIGHT) and path in matrices
                else _as_float16(name, tensor)
            )
    return QuantizedModel(own.eval(), matrices, scheme)


def _as_float16(name: str, tensor: Tensor) -> Tensor:
    if not tensor.is_floating_point():
        return tensor
    lowered = tensor.half()
    if not torch.isfinite(lowered).all():
        raise ValueError(f"{name} holds a value that float16 cannot")
    return lowered


def sizes(model: nn.Module, scheme: Scheme) -> Sizes:
    """Return the bytes that a model takes in a scheme; tied matrices count once.

    Raises ValueError for a group that does not divide a row.
    """
    codes = scales = zero_points = inside = 0
    for layer in linears(model).values():
        shape = tuple(layer.weight.shape)
        steps = scheme.steps(*shape)
        count = shape[0] * shape[1]
        inside += count
        codes += packed_bytes(count, scheme.bits)
        scales += steps[0] * steps[1] * STEP_BITS // 8
        if not scheme.symmetric:
            zero_points += packed_bytes(steps[0] * steps[1], scheme.bits)
    every = sum(parameter.numel() for parameter in model.parameters())
    return Sizes(codes, scales, zero_points, REST_BYTES * (every - inside))


def plain_bytes(model: nn.Module, bytes_each: int = 4) -> int:
    """Return the bytes of a model that is not quantized, 4 (float32) or 2 (float16) a number."""
    return bytes_each * sum(parameter.numel() for parameter in model.parameters())
