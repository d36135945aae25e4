"""Models with an adapter around the very weights of their base, and the parts of its change.

R rows and C columns of a matrix, r rank. Torch is imported on first use.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from torch import Tensor

    from llmviz.models import GPT
    from llmviz.models.base import LanguageModel
    from llmviz.nn.lora import LoraLinear
    from llmviz.nn.lora_config import LoraConfig

Pairs = Mapping[str, tuple[np.ndarray, np.ndarray]]  # path of a layer -> A (r, C), B (R, r)


def around(model: GPT) -> GPT:
    """Return new modules around the same weights: adapters beside them do not touch the model.

    The weights take memory once, however many adapters there are; nobody may write into them.
    """
    shared = {id(tensor): tensor for tensor in (*model.parameters(), *model.buffers())}
    return copy.deepcopy(model, shared)


def adapted(model: GPT, base: str, folder: Path) -> GPT:
    """Return a model with the adapter of a folder in use, around the weights of its base.

    base: the model's name. Raises ValueError as `load_adapter`: no adapter, or one for other
    weights.
    """
    from llmviz.finetuning.adapters import load_adapter

    shell = around(model)
    load_adapter(shell, folder, base)
    return shell.eval()


def adapted_by(model: GPT, config: LoraConfig, pairs: Pairs) -> GPT:
    """Return a model with an adapter of these matrices in use, around the weights of its base."""
    import torch

    from llmviz.nn.lora import DEFAULT, add_adapter, lora_layers

    shell = around(model)
    add_adapter(shell, config)
    with torch.no_grad():
        for path, layer in lora_layers(shell).items():
            a, b = (torch.from_numpy(np.array(matrix)) for matrix in pairs[path])
            layer.adapters[DEFAULT].A.copy_(a)
            layer.adapters[DEFAULT].B.copy_(b)
    return shell.eval().requires_grad_(False)


def pairs_of(model: LanguageModel) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return A and B of the adapter in use, layer by layer."""
    from llmviz.nn.lora import lora_layers

    pairs = {}
    for path, layer in lora_layers(model).items():
        if layer.active:
            adapter = layer.adapters[layer.active]
            pairs[path] = adapter.A.detach().numpy().copy(), adapter.B.detach().numpy().copy()
    return pairs


class Change(NamedTuple):
    """One matrix and what an adapter adds to it: W + (α/r)·B·A."""

    weight: np.ndarray  # W (R, C)
    a: np.ndarray  # A (r, C)
    b: np.ndarray  # B (R, r)
    scale: float  # α/r

    @property
    def product(self) -> np.ndarray:
        """B·A (R, C)."""
        return self.b @ self.a

    @property
    def added(self) -> np.ndarray:
        """(α/r)·B·A (R, C)."""
        return np.float32(self.scale) * self.product


def change_at(model: LanguageModel, path: str) -> Change:
    """Return the parts of the layer of a path; ValueError where no adapter in use is there."""
    from llmviz.nn.lora import lora_layers

    layer = lora_layers(model).get(path)
    if layer is None or layer.active is None:
        raise ValueError(f"there is no adapter at {path}")
    adapter = layer.adapters[layer.active]
    w, a, b = (part.detach().float().numpy() for part in (layer.base.weight, adapter.A, adapter.B))
    return Change(w, a, b, adapter.scale)


def cut(change: Change, row: int, column: int, size: int) -> Change:
    """Return the same for a part of the matrix: up to `size` rows and columns from a cell on.

    Every cell keeps its value: B·A of a cell needs its row of B and its column of A alone.
    """
    rows, columns = slice(row, row + size), slice(column, column + size)
    part = change.weight[rows, columns], change.a[:, columns], change.b[rows]
    return Change(*part, change.scale)


def largest_at(values: np.ndarray, size: int) -> tuple[int, int]:
    """Return from which row and column on a square of `size` holds the largest magnitude.

    The cell stands in the square's middle as far as the matrix (R, C) allows.

    >>> largest_at(np.diag([1.0, 1.0, -5.0, 1.0]), 2)
    (1, 1)
    """
    cell = np.unravel_index(int(np.abs(values).argmax()), values.shape)
    spare = (max(0, side - size) for side in values.shape)
    return tuple(min(max(0, int(k) - size // 2), most) for k, most in zip(cell, spare, strict=True))


class Spectrum(NamedTuple):
    """A matrix (R, C) as a sum of matrices of rank 1, the largest first: Σ s·u·vᵀ.

    N = min(R, C) of them make the whole; the columns and rows of the first M are kept.
    """

    u: np.ndarray  # (R, M)
    s: np.ndarray  # (N,), singular values
    v: np.ndarray  # (M, C)

    def best(self, rank: int) -> np.ndarray:
        """The matrix of this rank, at most M, that comes nearest, (R, C)."""
        return (self.u[:, :rank] * self.s[:rank]) @ self.v[:rank]

    def left(self) -> np.ndarray:
        """For each rank from 0 to N, the share of the squared length that it cannot hold.

        Reference: Eckart and Young 1936: no matrix of rank r comes nearer than the first r parts.
        """
        squares = self.s**2
        behind = np.append(squares[::-1].cumsum()[::-1], 0.0)
        return behind / squares.sum()


def spectrum(values: np.ndarray, most: int = 32) -> Spectrum:
    """Return a matrix's parts, the columns and rows of the first `most` of them.

    Raises ValueError for a matrix that is zero everywhere: it has none.
    """
    if not np.any(values):
        raise ValueError("the matrix is zero everywhere: nothing has changed")
    u, s, v = np.linalg.svd(values.astype(np.float64), full_matrices=False)
    return Spectrum(u[:, :most].copy(), s, v[:most].copy())


class MergedCopy(NamedTuple):
    """A copy of a model with the adapter in use added into its matrices for good."""

    model: GPT
    back: bool  # whether every weight was the same to the bit after it was taken out again
    apart: int  # weights that would be another number if the change were subtracted instead


def merged_copy(model: GPT) -> MergedCopy:
    """Merge the adapter in use into a copy of a model, take it out again, and merge it for good."""
    import torch

    from llmviz.nn.lora import lora_layers, merge, unmerge, without_adapters

    own = copy.deepcopy(model)  # with weights of its own: merging writes into them
    apart = sum(_apart(layer) for layer in lora_layers(own).values() if layer.active)
    merge(own)
    unmerge(own)
    pairs = zip(model.state_dict().values(), own.state_dict().values(), strict=True)
    back = all(torch.equal(before, after) for before, after in pairs)
    return MergedCopy(without_adapters(own), back, apart)


def _apart(layer: LoraLinear) -> int:
    """How many weights are another number once the change was added and subtracted."""
    assert layer.active is not None
    weight, change = layer.base.weight.detach(), layer.adapters[layer.active].change().detach()
    return int(((weight + change) - change != weight).sum())


class BothWays(NamedTuple):
    """What merging an adapter changes in the model's answer to one text, measured."""

    largest: float  # difference of two logits
    logit: float  # the largest magnitude among the logits
    seconds: tuple[float, float]  # of the pass with the adapter beside W, and merged


def both_ways(
    model: GPT, merged: GPT, ids: tuple[int, ...], seconds: Callable[[], float]
) -> BothWays:
    """Ask a model with an adapter beside its matrices, and its merged copy.

    seconds: a clock, such as `time.thread_time`.
    """
    import torch

    idx = torch.tensor([ids])

    def timed(network: GPT) -> tuple[Tensor, float]:
        begun = seconds()
        logits = network(idx)[0]
        return logits, seconds() - begun

    with torch.inference_mode():
        merged(idx)  # the first pass of a length pays for what is made once
        beside, slow = timed(model)
        into, fast = timed(merged)
    return BothWays(float((beside - into).abs().max()), float(beside.abs().max()), (slow, fast))
