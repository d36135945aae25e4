"""What a model keeps of a text, and how fast this machine reads and computes for its passes.

L layers, G heads of keys and values, B texts, T tokens, C width, D head size.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch

from llmviz.evaluation.cache_costs import bytes_held
from llmviz.interpretability.heads_on_text import read_by
from llmviz.models.pass_work import PassWork, pass_work
from llmviz.models.transformers import require_transformer
from llmviz.trace import record

if TYPE_CHECKING:
    from llmviz.models.base import LanguageModel
    from llmviz.models.gpt import GPT
    from llmviz.models.settings import GPTConfig

BATCHES = (1, 2, 4, 8, 16, 32)  # texts that are decoded at once
PROMPT = 128  # tokens, or as many as the context holds with one to write
ROUNDS = 8
SQUARE = 768  # rows and columns of the matrices whose product is timed
LARGE = 2**28  # bytes of the matrix that is read: more than most processors keep close by
COLUMNS = 1024  # of the matrices that are read
PREFILL, DECODE = "prefill", "decode"


class CacheContents(NamedTuple):
    """What is in the cache in the end; after n tokens it held the first n rows of each head."""

    ids: tuple[int, ...]  # T, those that were written last
    read: int  # how many of them were the text
    keys: np.ndarray  # (L, G, T, D)
    values: np.ndarray  # (L, G, T, D)
    inputs: np.ndarray  # (L, T, C), what each layer's attention read: its norm's output, if any
    bytes: int  # counted from the cache's own tensors


def cache_contents(model: LanguageModel, ids: Sequence[int], write: int) -> CacheContents:
    """Let a model read a text at once and write up to `write` tokens, each the most probable one.

    It ends earlier where the context is full. The last token written is in the cache, too.
    Raises ValueError for a model that is no transformer or whose tokens see the future, for no
    token, and for ids that it cannot read.
    """
    gpt = require_transformer(model)
    if not len(ids):
        raise ValueError("there is no token to read")
    cache, text, new = gpt.new_cache(), list(ids), list(ids)
    taps = [read_by(gpt, layer) for layer in range(gpt.config.n_layer)]
    read = []  # (L, T, C) of each pass
    with torch.inference_mode():
        for _ in range(write + 1):
            with record(taps) as trace:
                logits = gpt(torch.tensor([new]), cache=cache, last_only=True)[0]
            read.append(np.stack([trace[tap][0].float().numpy() for tap in taps]))
            if len(text) == min(gpt.context_length, len(ids) + write):
                break
            new = [int(logits[0, -1].argmax())]
            text += new
    n = cache.length
    keys, values = (
        np.stack([tensor[0, :, :n].float().numpy() for tensor in tensors])
        for tensors in (cache.keys, cache.values)
    )
    inputs = np.concatenate(read, axis=1)
    return CacheContents(tuple(text), len(ids), keys, values, inputs, bytes_held(cache, n))


@dataclass(frozen=True)
class Point:
    """A pass that was measured."""

    phase: str  # PREFILL or DECODE
    batch: int
    work: PassWork
    seconds: float

    @property
    def speed(self) -> float:
        """Operations per second."""
        return self.work.operations / self.seconds


@dataclass(frozen=True)
class Roofline:
    """What was measured in so many rounds: the best of each."""

    rounds: int
    operations: float  # per second, in a product of two matrices
    far: float  # bytes per second, read from a matrix of LARGE bytes
    near: float  # bytes per second, read from a matrix as large as the model's weights
    points: tuple[Point, ...]


def roofline(name: str, rounds: int = ROUNDS) -> Iterator[Roofline]:
    """Measure this machine and a bundled gpt, in turns on one thread; yield after each round.

    Times are the processor's for this work alone, the shortest of all rounds.
    Raises ValueError for a model that is not there, is no gpt, has experts or a window.
    """
    from llmviz.pretrained import load_bundled

    if rounds < 1:
        raise ValueError(f"rounds must be at least 1; got {rounds}")
    gpt = require_transformer(load_bundled(name)[0])
    measured = works(gpt.config)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.inference_mode():
            a = torch.rand(SQUARE, SQUARE)
            tasks: list[Callable[[], object]] = [
                lambda: a @ a,
                _reader(LARGE),
                _reader(measured[0][2].weights),
                *(_pass(gpt, phase, batch) for phase, batch, _ in measured),
            ]
            for task in tasks:
                task()  # what a first call sets up is not measured
            best = [float("inf")] * len(tasks)
            for done in range(1, rounds + 1):
                for i, task in enumerate(tasks):
                    best[i] = min(best[i], _seconds(task))
                yield _roofline(done, best, measured)
    finally:
        torch.set_num_threads(threads)


def passes(context_length: int) -> list[tuple[str, int, int, int]]:
    """Return the passes that are measured: phase, texts, new tokens, tokens seen."""
    prompt = max(1, min(PROMPT, context_length - 1))
    return [(PREFILL, 1, prompt, 0), *((DECODE, batch, 1, prompt) for batch in BATCHES)]


def works(config: GPTConfig) -> list[tuple[str, int, PassWork]]:
    """Return phase, texts and work of the passes that are measured. Raises as `pass_work`."""
    return [
        (phase, batch, pass_work(config, batch, new, seen))
        for phase, batch, new, seen in passes(config.context_length)
    ]


def _roofline(done: int, best: list[float], passed: list[tuple[str, int, PassWork]]) -> Roofline:
    product, far, near, *own = best
    return Roofline(
        rounds=done,
        operations=2 * SQUARE**3 / product,
        far=_matrix_bytes(LARGE) / far,
        near=_matrix_bytes(passed[0][2].weights) / near,
        points=tuple(
            Point(phase, batch, work, seconds)
            for (phase, batch, work), seconds in zip(passed, own, strict=True)
        ),
    )


def _matrix_bytes(size: int) -> int:
    """Bytes of the float32 matrix of whole rows that comes nearest to a size from below."""
    row = 4 * COLUMNS
    return max(row, size // row * row)


def _reader(size: int) -> Callable[[], object]:
    """A product of a matrix of about so many bytes with a vector: each number is read once."""
    matrix = torch.rand(_matrix_bytes(size) // (4 * COLUMNS), COLUMNS)
    vector = torch.rand(COLUMNS)
    return lambda: matrix @ vector


def _pass(gpt: GPT, phase: str, batch: int) -> Callable[[], object]:
    (_, _, prompt, _), *_ = passes(gpt.context_length)
    ids = (torch.arange(prompt) % gpt.vocab_size).expand(batch, prompt)
    cache = gpt.new_cache(batch)
    gpt(ids, cache=cache, last_only=True)

    def run() -> None:
        cache.length = 0 if phase == PREFILL else prompt
        gpt(ids if phase == PREFILL else ids[:, :1], cache=cache, last_only=True)

    return run


def _seconds(task: Callable[[], object]) -> float:
    """Seconds of one call, the mean of as many as take a few milliseconds."""
    calls, began = 0, time.thread_time()
    while True:
        task()
        calls += 1
        taken = time.thread_time() - began
        if taken > 0.005:
            return taken / calls
