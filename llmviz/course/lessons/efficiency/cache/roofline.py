"""How fast this machine computes and reads, and where a model's passes lie between the two.

B texts, T tokens of a prompt.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from llmviz.models.pass_work import PassWork, pass_work

if TYPE_CHECKING:
    from llmviz.models.gpt import GPT


BATCHES = (1, 2, 4, 8, 16, 32)  # texts that are decoded at once
PROMPT = 128  # tokens, or as many as the context holds with one to write
ROUNDS = 8
SQUARE = 768  # rows and columns of the matrices whose product is timed
LARGE = 2**28  # bytes of the matrix that is read: more than most processors keep close by
COLUMNS = 1024  # of the matrices that are read
PREFILL, DECODE = "prefill", "decode"


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

    def roof(self, intensity: float, *, near: bool = True) -> float:
        """Operations per second that no pass of this intensity can exceed.

        Reference: Williams et al. 2009, "Roofline: An Insightful Visual Performance Model".
        """
        return min(self.operations, intensity * (self.near if near else self.far))

    def ridge(self, *, near: bool = True) -> float:
        """Operations per byte from which computing is what takes the time, not reading."""
        return self.operations / (self.near if near else self.far)


def roofline(name: str, rounds: int = ROUNDS) -> Iterator[Roofline]:
    """Measure this machine and a bundled gpt, in turns on one thread; yield after each round.

    Times are the processor's for this work alone, the shortest of all rounds.
    Raises ValueError for a model that is not there, is no gpt, has experts or a window.
    """
    import torch

    from llmviz.models.transformers import require_transformer
    from llmviz.pretrained import load_bundled

    if rounds < 1:
        raise ValueError(f"rounds must be at least 1; got {rounds}")
    gpt = require_transformer(load_bundled(name)[0])
    works = _works(gpt)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.inference_mode():
            a = torch.rand(SQUARE, SQUARE)
            tasks: list[Callable[[], object]] = [
                lambda: a @ a,
                _reader(LARGE),
                _reader(works[0][2].weights),
                *(_pass(gpt, phase, batch) for phase, batch, _ in works),
            ]
            for task in tasks:
                task()  # what a first call sets up is not measured
            best = [float("inf")] * len(tasks)
            for done in range(1, rounds + 1):
                for i, task in enumerate(tasks):
                    best[i] = min(best[i], _seconds(task))
                yield _roofline(done, best, works)
    finally:
        torch.set_num_threads(threads)


def passes(context_length: int) -> list[tuple[str, int, int, int]]:
    """Return the passes that are measured: phase, texts, new tokens, tokens seen."""
    prompt = max(1, min(PROMPT, context_length - 1))
    return [(PREFILL, 1, prompt, 0), *((DECODE, batch, 1, prompt) for batch in BATCHES)]


def _works(gpt: GPT) -> list[tuple[str, int, PassWork]]:
    return [
        (phase, batch, pass_work(gpt.config, batch, new, seen))
        for phase, batch, new, seen in passes(gpt.context_length)
    ]


def _roofline(done: int, best: list[float], works: list[tuple[str, int, PassWork]]) -> Roofline:
    product, far, near, *own = best
    return Roofline(
        rounds=done,
        operations=2 * SQUARE**3 / product,
        far=_matrix_bytes(LARGE) / far,
        near=_matrix_bytes(works[0][2].weights) / near,
        points=tuple(
            Point(phase, batch, work, seconds)
            for (phase, batch, work), seconds in zip(works, own, strict=True)
        ),
    )


def _matrix_bytes(size: int) -> int:
    """Bytes of the float32 matrix of whole rows that comes nearest to a size from below."""
    row = 4 * COLUMNS
    return max(row, size // row * row)


def _reader(size: int) -> Callable[[], object]:
    """A product of a matrix of about so many bytes with a vector: each number is read once."""
    import torch

    matrix = torch.rand(_matrix_bytes(size) // (4 * COLUMNS), COLUMNS)
    vector = torch.rand(COLUMNS)
    return lambda: matrix @ vector


def _pass(gpt: GPT, phase: str, batch: int) -> Callable[[], object]:
    """One pass of a model; the tokens make no difference."""
    import torch

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
