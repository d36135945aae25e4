"""Small models trained on grids of few bits, step by step, beside one without rounding.

A generator for a process of its own: all trainings go on in turns. Each begins at the weights of a
bundled model, so that its loss before the first step is that of rounding after training.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from llmviz.quantization.grid_training import BATCH, grid_training
from llmviz.quantization.scheme import Scheme

MODEL = "names-gpt"
BITS = (4, 3, 2)
EXACT = 0  # in place of bits: the same training without rounding
KINDS = (EXACT, *BITS)
CHECKED = 8  # batches of held-out texts
CHECKS = 10  # times that the loss is measured, besides before the first step


@dataclass(frozen=True)
class Checked:
    """The loss on held-out texts after so many updates, nats per token."""

    bits: int  # EXACT for the training without rounding
    step: int
    loss: float
    seconds: float  # in updates so far


def quantization_aware(
    steps: int, scheme: dict[str, Any], rate: float, base: str = MODEL, seed: int = 0
) -> Iterator[Checked]:
    """Train with every number of bits and without rounding; yield each look, the first at step 0.

    scheme: as `Scheme.to_dict` has it; its bits do not matter. rate: the highest learning rate.
    Raises ValueError for a scheme that does not fit the model, or a base that is not there.
    """
    from llmviz.pretrained import load_bundled
    from llmviz.training.config import Plan
    from llmviz.training.plan import prepare
    from llmviz.training.recipes import plan_of

    model, _, _ = load_bundled(base)
    plan = plan_of(base)
    assert isinstance(plan, Plan)
    data = prepare(plan).data
    kinds = [Scheme.from_dict({**scheme, "bits": bits}) if bits else None for bits in KINDS]
    running = [
        _looks(bits, kind, model, data, steps, rate, seed)
        for bits, kind in zip(KINDS, kinds, strict=True)
    ]
    for looks in zip(*running, strict=True):
        yield from looks


def _looks(
    bits: int, scheme: Scheme | None, base: Any, data: Any, steps: int, rate: float, seed: int
) -> Iterator[Checked]:
    import copy

    import torch

    from llmviz.quantization.qat import prepare_qat
    from llmviz.training import train

    own = copy.deepcopy(base).requires_grad_(True)
    if scheme is not None:
        own = prepare_qat(own, scheme)

    def checked() -> float:
        own.eval()
        with torch.no_grad():
            batches = list(data.validation_batches(BATCH, CHECKED))
            counts = [data.count(batch) for batch in batches]
            losses = [float(own(*batch)[1]) for batch in batches]
        return sum(a * b for a, b in zip(losses, counts, strict=True)) / sum(counts)

    yield Checked(bits, 0, checked(), 0.0)
    every = max(1, steps // CHECKS)
    settings = grid_training(steps, rate, seed, log_every=every)
    seconds, seen = 0.0, 0
    for record in train(own, data, settings):
        seconds += (record.tokens - seen) / record.tokens_per_second
        seen = record.tokens
        yield Checked(bits, record.step, checked(), seconds)
