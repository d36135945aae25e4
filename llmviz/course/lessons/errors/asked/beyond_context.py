"""Small models on texts longer than any of their training, by kind of positions and seed.

`python -m experiments make beyond-context` trains and measures them again, some minutes on one
core, and writes `data/experiments/beyond-context.json`. Reading it needs no torch.

B bins of places.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.records import Recorded, typed

if TYPE_CHECKING:
    pass

FILE = "beyond-context.json"
COMMAND = "python -m experiments make beyond-context"
LEARNED, ROTARY = "learned", "rotary"
POSITIONS = (LEARNED, ROTARY)
SEEDS = (0, 1, 2)
TEXTS, TIMES, BIN = 100, 3, 16  # long texts, how many contexts long, and tokens of a point


@dataclass(frozen=True)
class BeyondContext:
    """The mean loss by place of a token in texts longer than the context, nats per token.

    context: tokens that the models were trained on. places (B,): middles of the bins, counted from
    0. losses: by kind of positions, a row (B,) for each of SEEDS.
    """

    context: int
    places: tuple[float, ...]
    losses: dict[str, tuple[tuple[float, ...], ...]]

    def around_the_end(self, kind: str) -> tuple[np.ndarray, np.ndarray]:
        """The loss in the second half of the context and in as many tokens behind it: a number
        for each seed.
        """
        places, losses = np.array(self.places), np.array(self.losses[kind])
        inside = (places > self.context / 2) & (places < self.context)
        behind = (places > self.context) & (places < 1.5 * self.context)
        return losses[:, inside].mean(1), losses[:, behind].mean(1)


@cache
def recorded(folder: Path = EXPERIMENT_FOLDER) -> BeyondContext:
    """Return what was measured. Raises ValueError where the file is missing or damaged."""
    with Recorded(folder / FILE, COMMAND) as content:
        found = typed(content["losses"], dict[str, tuple[tuple[float, ...], ...]])
        losses = {kind: found[kind] for kind in POSITIONS}
        places = tuple(BIN * (i + 0.5) for i in range(TIMES * content["context"] // BIN))
        if {len(row) for rows in losses.values() for row in rows} != {len(places)} or any(
            len(rows) != len(SEEDS) for rows in losses.values()
        ):
            raise TypeError(f"{len(SEEDS)} rows of {len(places)} losses are needed")
        return BeyondContext(content["context"], places, losses)
