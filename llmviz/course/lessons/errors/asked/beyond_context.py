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

from llmviz.paths import EXPERIMENT_FOLDER
from llmviz.records import Recorded, write_to
from llmviz.training.files import write_json

if TYPE_CHECKING:
    from llmviz.models.base import LanguageModel
    from llmviz.tokenizers import Tokenizer

FILE = "beyond-context.json"
COMMAND = "python -m experiments make beyond-context"
LEARNED, ROTARY = "learned", "rotary"
POSITIONS = (LEARNED, ROTARY)
SEEDS = (0, 1, 2)
STEPS, CHARACTERS = 800, 1_000_000
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


def losses_by_place(model: LanguageModel, tokenizer: Tokenizer, texts: int = TEXTS) -> list[float]:
    """Return the loss of a model by place in texts of TIMES its context (B,)."""
    import torch
    import torch.nn.functional as F

    from llmviz.evaluation.longer_texts import long_texts, longer_copy
    from llmviz.models.transformers import require_transformer

    ids = long_texts(tokenizer, TIMES * model.context_length, texts)
    longer = longer_copy(require_transformer(model), TIMES)
    with torch.inference_mode():
        logits = longer(ids[:, :-1])[0]
        losses = F.cross_entropy(logits.transpose(1, 2), ids[:, 1:], reduction="none").double()
    return losses.view(texts, -1, BIN).mean((0, 2)).tolist()


def measure_one(kind: str, seed: int) -> list[float]:
    """Train a model with one kind of positions and measure it."""
    from llmviz.course.lessons.errors.small_world import train_small

    small = train_small(seed, STEPS, CHARACTERS, {"positions": kind})
    return losses_by_place(small.model, small.tokenizer)


@cache
def recorded(folder: Path = EXPERIMENT_FOLDER) -> BeyondContext:
    """Return what was measured. Raises ValueError where the file is missing or damaged."""
    with Recorded(folder / FILE, COMMAND) as content:
        losses = {kind: tuple(map(tuple, content["losses"][kind])) for kind in POSITIONS}
        places = tuple(BIN * (i + 0.5) for i in range(TIMES * content["context"] // BIN))
        if {len(row) for rows in losses.values() for row in rows} != {len(places)} or any(
            len(rows) != len(SEEDS) for rows in losses.values()
        ):
            raise TypeError(f"{len(SEEDS)} rows of {len(places)} losses are needed")
        return BeyondContext(content["context"], places, losses)


def make(folder: Path = EXPERIMENT_FOLDER) -> None:
    """Train and measure all models; the file is written after each."""
    from tqdm import tqdm

    from llmviz.course.lessons.errors.small_world import CONTEXT

    losses: dict[str, list[list[float]]] = {kind: [] for kind in POSITIONS}
    for seed, kind in tqdm([(seed, kind) for seed in SEEDS for kind in POSITIONS], unit="model"):
        losses[kind].append([round(loss, 4) for loss in measure_one(kind, seed)])
        content = {"command": COMMAND, "seeds": SEEDS, "context": CONTEXT, "losses": losses}
        write_json(folder / FILE, content)


if __name__ == "__main__":
    write_to(make, "Train the models that read too long texts again.")
