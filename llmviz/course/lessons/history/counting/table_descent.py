"""The one-layer network that learns the table of letter pairs by gradient descent, step by step.

S steps, V symbols. Torch is imported on first use.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

RATES = {"sgd": 60.0, "momentum": 40.0, "adam": 0.5}  # the learning rate of each optimizer


@dataclass(frozen=True)
class TableDescent:
    """The network before the first step and after each.

    tables (S + 1, V, V): its probabilities. losses (S + 1,): nats per letter on all pairs. target
    (V, V): the counted shares. floor: the loss of the counted table, which no table can beat.
    """

    tables: np.ndarray
    losses: np.ndarray
    target: np.ndarray
    floor: float


def table_descent(optimizer: str, steps: int) -> TableDescent:
    """Train 27 × 27 logits, all zero at the start, on all letter pairs of the bundled counts.

    optimizer: one of RATES. Every step uses all pairs, so that nothing is random.
    Raises ValueError for another optimizer or fewer than one step.
    """
    import torch

    from llmviz.training.bigram_descent import names_bigram
    from llmviz.training.descent import descend
    from llmviz.training.optimizers import Hyper

    if optimizer not in RATES:
        raise ValueError(f"optimizer must be one of {', '.join(RATES)}; got {optimizer!r}")
    bigram = names_bigram()
    rate = torch.tensor([RATES[optimizer]], dtype=torch.float64)
    hyper = Hyper(beta2=0.99)
    start = bigram.start()
    way = descend(optimizer, bigram.height, bigram.gradient, start, rate, steps, hyper)
    size = len(bigram.counts)
    tables = way.path[0].unflatten(-1, (size, size)).softmax(-1)
    target = bigram.counts / bigram.counts.sum(1, keepdim=True)
    return TableDescent(tables.numpy(), way.losses[0].numpy(), target.numpy(), bigram.floor)
