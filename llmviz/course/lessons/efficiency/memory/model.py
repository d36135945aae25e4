"""The memory of one training step, watched on a real model, and what saves some of it.

B texts of a batch, T tokens of each, L layers.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from llmviz.evaluation.step_times import batch
from llmviz.models.base import LanguageModel
from llmviz.models.transformers import require_transformer
from llmviz.pretrained import load_bundled
from llmviz.training.config import TrainConfig
from llmviz.training.memory_profiler import gpt_parts, watch_step
from llmviz.training.preparation import make_optimizer, set_recompute
from llmviz.training.step_memory import KINDS, StepMemory

if TYPE_CHECKING:
    from llmviz.models.gpt import GPT

ROUNDS = 4  # timed steps of each way, in turns
PIECES = (2, 4, 8)  # micro-batches that are tried
FEW_LAYERS = 6  # up to which every group size is tried


@dataclass(frozen=True)
class Way:
    """One way to make the same step, and what it took."""

    recompute: int  # layers of a group whose input is kept; 0 keeps everything
    pieces: int  # micro-batches
    peak: int  # bytes that were alive at the most
    activations: int  # bytes of them kept for the backward pass, at the most
    difference: float  # largest difference of a gradient's number, as a share of the largest number
    milliseconds: float | None = None  # of the shortest step so far; None before the first


@dataclass(frozen=True)
class Ways:
    """All ways, after so many rounds of timed steps; the first keeps everything, in one piece."""

    rounds: int
    ways: tuple[Way, ...]


def watched_step(
    model: LanguageModel, ids: Tensor, pieces: int = 1, recompute: int = 0
) -> StepMemory:
    """Make one step with AdamW on a copy of a GPT and return which tensors were alive when.

    The copy has no dropout, so that the same step can be made in other ways.

    ids: (B, T + 1). The averages are there already, as they are from the second step of a run on.
    Raises ValueError for more pieces than rows.
    """
    own, optimizer = _learner(model, recompute)
    return watch_step(own, optimizer, _pieces(ids, pieces), gpt_parts(own))


def group_sizes(layers: int) -> list[int]:
    """Return how many layers a group may have, for a sweep.

    >>> group_sizes(4), group_sizes(12)
    ([1, 2, 3, 4], [1, 2, 4, 8, 12])
    """
    if layers <= FEW_LAYERS:
        return list(range(1, layers + 1))
    return sorted(
        {*(2**power for power in range(layers.bit_length()) if 2**power <= layers), layers}
    )


def memory_ways(name: str, rows: int, tokens: int, rounds: int = ROUNDS) -> Iterator[Ways]:
    """Make the same step in several ways: recomputing more and less, in more and fewer pieces.

    name: a bundled gpt. The bytes are counted first (see `watch_step`); then every way makes one
    timed step in each round, in turns on one thread, so that a busy machine slows all alike. Times
    are the processor's for this work alone. Yields after each way that is counted and after each
    round.

    Raises ValueError for a model that is not there or is no gpt, and for rows or tokens below 1.
    """
    for what, value in (("rows", rows), ("tokens", tokens), ("rounds", rounds)):
        if value < 1:
            raise ValueError(f"{what} must be at least 1; got {value}")
    model, tokenizer, _ = load_bundled(name)
    layers = require_transformer(model).config.n_layer
    ids = batch(tokenizer, rows, tokens)
    plans = [(0, 1), *((every, 1) for every in group_sizes(layers))]
    plans += [(0, pieces) for pieces in PIECES if pieces <= rows]
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        plain: list[Tensor] = []
        ways: list[Way] = []
        for recompute, pieces in plans:
            gradients = _gradients(model, ids, pieces, recompute)
            plain = plain or gradients
            memory = watched_step(model, ids, pieces, recompute)
            ways.append(_way(recompute, pieces, memory, _difference(plain, gradients)))
            yield Ways(0, tuple(ways))
        steps = [_Timed(model, ids, way) for way in ways]
        for done in range(1, rounds + 1):
            for i, step in enumerate(steps):
                taken = step.make()
                best = ways[i].milliseconds
                ways[i] = replace(ways[i], milliseconds=taken if best is None else min(best, taken))
            yield Ways(done, tuple(ways))
    finally:
        torch.set_num_threads(threads)


def _way(recompute: int, pieces: int, memory: StepMemory, difference: float) -> Way:
    live = memory.live()
    most = int(live[KINDS.index("activations")].max())
    return Way(recompute, pieces, int(live.sum(axis=0).max()), most, difference)


class _Timed:
    def __init__(self, model: LanguageModel, ids: Tensor, way: Way) -> None:
        self.model, self.optimizer = _learner(model, way.recompute)
        self.pieces = _pieces(ids, way.pieces)

    def make(self) -> float:
        began = time.thread_time()
        self.optimizer.zero_grad(set_to_none=True)
        _backward(self.model, self.pieces)
        self.optimizer.step()
        return 1000 * (time.thread_time() - began)


def _learner(model: LanguageModel, recompute: int) -> tuple[GPT, Any]:
    """A copy that learns, without dropout, and its AdamW after a first step on one token."""
    gpt = require_transformer(model)
    config = replace(gpt.config, dropout=0.0, embedding_dropout=None, attention_dropout=None)
    with torch.random.fork_rng(devices=[]):
        own = type(gpt)(config).train()
    own.load_state_dict(gpt.state_dict())
    set_recompute(own, recompute)
    optimizer = make_optimizer(own, TrainConfig(learning_rate=1e-6, min_lr=0.0))
    token = torch.zeros(1, 1, dtype=torch.long)
    own(token, token)[1].backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return own, optimizer


def _pieces(ids: Tensor, pieces: int) -> list[tuple[Tensor, Tensor]]:
    if not 1 <= pieces <= len(ids):
        raise ValueError(f"pieces must be from 1 to {len(ids)}, the rows; got {pieces}")
    return [
        (part[:, :-1].contiguous(), part[:, 1:].contiguous()) for part in ids.tensor_split(pieces)
    ]


def _backward(model: LanguageModel, pieces: Sequence[tuple[Tensor, Tensor]]) -> None:
    rows = sum(len(targets) for _, targets in pieces)
    for piece in pieces:
        (model(*piece)[1] * (len(piece[-1]) / rows)).backward()


def _gradients(model: LanguageModel, ids: Tensor, pieces: int, recompute: int) -> list[Tensor]:
    own, _ = _learner(model, recompute)
    _backward(own, _pieces(ids, pieces))
    return [parameter.grad for parameter in own.parameters() if parameter.grad is not None]


def _difference(first: Sequence[Tensor], second: Sequence[Tensor]) -> float:
    """The largest difference of two gradients, as a share of the largest number of the first."""
    most = max(float(a.abs().max()) for a in first)
    return max(float((a - b).abs().max()) for a, b in zip(first, second, strict=True)) / most
