"""Waiters that learn to take orders, and what was measured of them.

`python -m experiments make memory` trains them again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from llmviz import records
from llmviz.corpus.orders import orders
from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.models.waiter import KINDS, Waiter
from llmviz.training.small_models import descend, read_weights

FILE, WEIGHTS = "memory.json", "memory.safetensors"
COMMAND = "python -m experiments make memory"
SIZES = (8, 16, 32)  # D
SEEDS = (0, 1, 2)
TRAINED = 32  # guests of a text in training, at most
COUNTS = (1, 2, 3, 4, *range(6, 41, 2))  # guests that are told when it is measured
ONCE, CHANGED = "once", "changed"
CACHES = ("heads 4", "heads 1", "latent 32", "latent 16")  # of stories' models
UPDATES, BATCH, RATE, WARM_UP, EVERY = 1000, 32, 1e-2, 100, 50
FIRST_NEW = 90_000  # seed of the texts that waiters are measured on


def counts(who: str) -> tuple[int, ...]:
    """Return those of COUNTS at which somebody could have changed their mind, or all."""
    return COUNTS[1:] if who == CHANGED else COUNTS


@dataclass(frozen=True)
class Trained:
    """A kind and size, and for each seed the share of right answers by COUNTS.

    once: of guests in texts where each orders once. changed: of those who ordered twice, where
    half of the guests (rounded down) did, so the first of COUNTS is not in it.
    """

    kind: str
    size: int
    parameters: int
    once: list[list[float]]
    changed: list[list[float]]


@dataclass(frozen=True)
class Recorded:
    """All that was measured. texts: by count of guests.

    losses: of models of stories, above the grammar's own, nats a word, a number for each seed, by
    CACHES. cache_bytes: for each word of a text. small_parameters: of each.
    """

    updates: int
    texts: int
    waiters: list[Trained]
    steps: int
    losses: dict[str, list[float]]
    cache_bytes: dict[str, int]
    small_parameters: dict[str, int]

    def shares(self, kind: str, size: int, who: str) -> np.ndarray:
        """Return the share right of each seed (seeds, counts); KeyError for another size."""
        by_case = {(of.kind, of.size): of for of in self.waiters}
        return np.array(getattr(by_case[kind, size], who))


def learn(kind: str, size: int, seed: int, updates: int = UPDATES) -> Iterator[Waiter]:
    """Train a waiter on texts of up to TRAINED guests, and yield it after every EVERY updates.

    In every second text half of the guests change their mind.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        waiter = Waiter(kind, size)
    generator = torch.Generator().manual_seed(seed)

    def loss_at(update: int) -> Tensor:
        guests = int(torch.randint(1, TRAINED + 1, (), generator=generator))
        told = orders(BATCH, guests, guests // 2 if update % 2 else 0, generator)
        return F.cross_entropy(waiter(*told[:3]).flatten(0, 1), told.right.flatten())

    training = descend(
        waiter, loss_at, updates, rate=RATE, warmup=WARM_UP, floor=0.02, weight_decay=0.0
    )
    for done, _ in enumerate(training, 1):
        if done % EVERY == 0 or done == updates:
            yield waiter


def shares_right(waiter: Waiter, who: str, texts: int) -> list[float]:
    """Return the share of right answers by `counts`: see `Trained`."""
    shares = []
    for guests in counts(who):
        generator = torch.Generator().manual_seed(FIRST_NEW + guests)
        changed = guests // 2 if who == CHANGED else 0
        told = orders(texts, guests, changed, generator)
        with torch.inference_mode():
            right = waiter(*told[:3]).argmax(-1) == told.right
        asked = right[told.again] if changed else right
        shares.append(round(float(asked.float().mean()), 4))
    return shares


class Practised(NamedTuple):
    """A waiter in training: after how many updates, and its shares right by COUNTS."""

    update: int
    shares: list[float]


def practise(kind: str, size: int, seed: int) -> Iterator[Practised]:
    """Train a waiter, and yield what it can do after every EVERY updates."""
    for done, waiter in enumerate(learn(kind, size, seed), 1):
        yield Practised(min(UPDATES, done * EVERY), shares_right(waiter, ONCE, 100))


@cache
def recorded(folder: Path = EXPERIMENT_FOLDER) -> Recorded:
    """Return the bundled results. Raises ValueError where the file is missing or damaged."""
    with records.Recorded(folder / FILE, COMMAND) as content:
        found = records.typed(content, Recorded)
        for kind in KINDS:
            for size in SIZES:
                for who in (ONCE, CHANGED):
                    if found.shares(kind, size, who).shape != (len(SEEDS), len(counts(who))):
                        raise TypeError(f"{who} of {kind}, {size} is not whole")
        for name in CACHES:
            if len(found.losses[name]) != len(SEEDS):
                raise TypeError(f"a loss of {name} is missing")
        return found


@cache
def bundled(kind: str, folder: Path = EXPERIMENT_FOLDER) -> Waiter:
    """Return the waiter of a kind with the smallest size, of the first seed.

    Raises ValueError where it is not in this copy.
    """
    fresh = Waiter(kind, SIZES[0])
    return read_weights(folder / WEIGHTS, COMMAND, lambda _: fresh, f"{kind}.").requires_grad_(
        False
    )
