"""How models read on beyond the context that they were trained on, by what was done about it.

`python -m experiments make longer` trains and measures them again and writes
`data/experiments/longer.json`. Reading it needs no torch.

B bins of places.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np

from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.records import Recorded, typed

FILE = "longer.json"
COMMAND = "python -m experiments make longer"
SEEDS = (0, 1, 2)
TEXTS, TIMES, BIN = 100, 4, 16  # long texts, how many contexts long, and tokens of a point
WAYS = ("plain", "linear", "ntk", "yarn")
TUNED = "-tuned"
WINDOWS = (8, 16, 32)  # tokens that are seen, of twins that had a first token of their own or not
TWINS = ("free", "own")
KEPT = "-kept"  # of a window that sees the first token, too
KINDS = ("learned", *WAYS, *(f"{way}{TUNED}" for way in WAYS))


@dataclass(frozen=True)
class Longer:
    """The mean loss by place of a token in texts longer than the context, nats per token.

    context: tokens that the models were trained on. tuned: steps on longer texts after that.
    places (B,): middles of the bins, counted from 0. floor (B,): the loss of the grammar itself on
    the same texts, which no model can get below but by luck. losses: by kind, a row (B,) for each
    of SEEDS. twins: by twin and by window, with KEPT or without, the loss above the floor behind
    the first half of the context, a number for each seed.
    """

    context: int
    tuned: int
    places: tuple[float, ...]
    floor: tuple[float, ...]
    losses: dict[str, tuple[tuple[float, ...], ...]]
    twins: dict[str, dict[str, tuple[float, ...]]]

    def over_floor(self, kind: str) -> np.ndarray:
        """The mean over the seeds of what a kind loses above the floor, by place (B,)."""
        return np.array(self.losses[kind]).mean(0) - np.array(self.floor)

    def cost(self, twin: str, window: int, kept: str = "") -> np.ndarray:
        """What a window costs a twin, nats a token beside seeing all: a number for each seed."""
        rows = self.twins[twin]
        return np.array(rows[f"{window}{kept}"]) - np.array(rows[str(self.context)])

    def far(self, kind: str) -> np.ndarray:
        """The loss above the floor in the last context of the texts: a number for each seed."""
        over = np.array(self.losses[kind]) - np.array(self.floor)
        return over[:, np.array(self.places) > (TIMES - 1) * self.context].mean(1)

    def near(self, kind: str) -> np.ndarray:
        """The same in the second half of the context that was trained on."""
        over, places = np.array(self.losses[kind]) - np.array(self.floor), np.array(self.places)
        return over[:, (places > self.context / 2) & (places < self.context)].mean(1)


@cache
def recorded(folder: Path = EXPERIMENT_FOLDER) -> Longer:
    """Return what was measured. Raises ValueError where the file is missing or damaged."""
    with Recorded(folder / FILE, COMMAND) as content:
        context, tuned = typed(content["context"], int), typed(content["tuned"], int)
        places = tuple(BIN * (i + 0.5) for i in range(TIMES * context // BIN))
        floor = typed(content["floor"], tuple[float, ...])
        found = typed(content["losses"], dict[str, tuple[tuple[float, ...], ...]])
        losses = {kind: found[kind] for kind in KINDS}
        rows = [floor, *(row for rows in losses.values() for row in rows)]
        if {len(row) for row in rows} != {len(places)} or any(
            len(rows) != len(SEEDS) for rows in losses.values()
        ):
            raise TypeError(f"{len(SEEDS)} rows of {len(places)} losses are needed")
        twins = typed(content["twins"], dict[str, dict[str, tuple[float, ...]]])
        longer = Longer(context, tuned, places, floor, losses, twins)
        for twin, window, kept in product(TWINS, WINDOWS, ("", KEPT)):
            if longer.cost(twin, window, kept).shape != (len(SEEDS),):
                raise TypeError(f"a seed of {twin} is missing")
        return longer
