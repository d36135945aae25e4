"""A quantized model in a folder: packed codes in safetensors, read back by the usual loader.

    model.safetensors  blocks.0.attn.qkv.weight.codes  uint8, packed without gaps
                                               .scale  float16, a step for each grid
                                               .zero   uint8, packed; absent where symmetric
                       all other tensors under their own names, float16
    config.json        the description of the model that it was made from, and "quantization"

Codes are stored counted from the lowest one, so that they are never below 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from llmviz.nn.finite import wrong_type
from llmviz.quantization.grids import Quantized, dequantize
from llmviz.quantization.model import WEIGHT, QuantizedModel, pack, packed_bytes, unpack
from llmviz.quantization.scheme import Scheme
from llmviz.training.errors import CheckpointError
from llmviz.training.tensors import Shapes, save_tensors

QUANTIZATION = "quantization"  # the entry of config.json
CODES, SCALE, ZERO = ".codes", ".scale", ".zero"


def described(quantized: QuantizedModel, method: str) -> dict[str, Any]:
    """Return the entry of config.json; method: how the codes were chosen."""
    shapes = {path: list(matrix.codes.shape) for path, matrix in quantized.matrices.items()}
    return {"scheme": quantized.scheme.to_dict(), "method": method, "matrices": shapes}


def packed_tensors(quantized: QuantizedModel) -> dict[str, Tensor]:
    """Return all that is saved of a model, by name."""
    scheme = quantized.scheme
    kept: dict[str, Tensor] = {}
    for name, tensor in quantized.model.state_dict().items():
        path = name.removesuffix(WEIGHT)
        if not (name.endswith(WEIGHT) and path in quantized.matrices):
            kept[name] = tensor
            continue
        codes, scale, zero = quantized.matrices[path]
        kept[name + CODES] = _packed(codes - scheme.lowest, scheme.bits)
        kept[name + SCALE] = scale
        if zero is not None:
            kept[name + ZERO] = _packed(zero, scheme.bits)
    return kept


def save_packed(path: Path, quantized: QuantizedModel) -> None:
    """Write the tensors of a quantized model, whole or not at all; OSError as the disk does."""
    save_tensors(path, packed_tensors(quantized), torch.float16)


def full_shapes(listed: Shapes, description: Mapping[str, Any], source: str) -> Shapes:
    """Return the shapes that the listed tensors have once they are unpacked.

    Raises CheckpointError where they are not what the description says.
    """
    scheme, matrices = _read(description, source)
    left = dict(listed)
    for path, (rows, columns) in matrices.items():
        name, steps = path + WEIGHT, scheme.steps(rows, columns)
        wanted = {name + CODES: (packed_bytes(rows * columns, scheme.bits),), name + SCALE: steps}
        if not scheme.symmetric:
            wanted[name + ZERO] = (packed_bytes(steps[0] * steps[1], scheme.bits),)
        for part, shape in wanted.items():
            if left.pop(part, None) != shape:
                raise CheckpointError(f"{source} is damaged: {part} must have the shape {shape}")
        left[name] = (rows, columns)
    return left


def full_tensors(
    tensors: Mapping[str, Tensor], description: Mapping[str, Any], source: str
) -> dict[str, Tensor]:
    """Return tensors with every matrix unpacked, (R, C) float32.

    Raises CheckpointError where they are not what the description says.
    """
    full_shapes({name: tuple(value.shape) for name, value in tensors.items()}, description, source)
    scheme, matrices = _read(description, source)
    left = dict(tensors)
    for path, (rows, columns) in matrices.items():
        name = path + WEIGHT
        _check_types(left, name, source)
        scale = left.pop(name + SCALE).float()
        codes = _unpacked(left.pop(name + CODES), scheme.bits, (rows, columns)) + scheme.lowest
        if codes.max() > scheme.highest:
            raise CheckpointError(f"{source} is damaged: {name + CODES} holds codes of no grid")
        zero = None
        if not scheme.symmetric:
            zero = _unpacked(left.pop(name + ZERO), scheme.bits, tuple(scale.shape))
        left[name] = dequantize(Quantized(codes, scale, zero))
    return left


def _check_types(tensors: Mapping[str, Tensor], name: str, source: str) -> None:
    """Raise CheckpointError for codes that are no bytes, and steps that are no numbers above 0."""
    for part in (name + CODES, name + ZERO):
        if part in tensors and tensors[part].dtype != torch.uint8:
            kind = str(tensors[part].dtype)[6:]
            raise CheckpointError(f"{source} is damaged: {part} must be of uint8; got {kind}")
    scale, part = tensors[name + SCALE], name + SCALE
    if wrong := wrong_type(part, scale):
        raise CheckpointError(f"{source} cannot be computed with: {wrong}")
    if not (scale.isfinite() & (scale > 0)).all():
        raise CheckpointError(f"{source} is damaged: the steps in {part} must be above 0")


def _read(description: Mapping[str, Any], source: str) -> tuple[Scheme, dict[str, tuple[int, int]]]:
    """The scheme and the shapes of the matrices that a description says."""
    entry = description[QUANTIZATION]
    try:
        scheme = Scheme.from_dict(entry["scheme"])
        matrices = {
            str(path): (rows, columns) for path, (rows, columns) in entry["matrices"].items()
        }
        for shape in matrices.values():
            if not all(type(side) is int and 0 < side < 2**31 for side in shape):
                raise ValueError(f"a matrix cannot be {shape}")
            scheme.steps(*shape)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise CheckpointError(
            f"{source} describes no quantization that is known: {error}"
        ) from None
    return scheme, matrices


def _packed(codes: Tensor, bits: int) -> Tensor:
    return torch.from_numpy(pack(codes.numpy(), bits))


def _unpacked(packed: Tensor, bits: int, shape: tuple[int, ...]) -> Tensor:
    count = shape[0] * shape[1]
    return torch.from_numpy(unpack(packed.numpy(), bits, count)).view(shape).to(torch.int16)
