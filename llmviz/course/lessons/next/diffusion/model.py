"""A model that fills in first sentences of stories, and what was measured of it.

`python -m experiments make diffusion` trains it again, beside its twin that writes from left to
right. N texts, T = TOKENS places of a text, V tokens of text, the last of which is an empty place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from llmviz import records
from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.training.small_models import descend, read_weights

if TYPE_CHECKING:
    from torch import Tensor

    from llmviz.models.base import LanguageModel
    from llmviz.models.masked_diffusion import Predictor
    from llmviz.sampling.unmasking import UnmaskStep

FILE, WEIGHTS = "diffusion.json", "diffusion.safetensors"
COMMAND = "python -m experiments make diffusion"
TOKENS = 16  # T, places of a text
STEPS = (1, 2, 4, 8, TOKENS)
SEEDS = (0, 1, 2)
FILLS = "bert"  # fills in any place
FOLLOWS = "gpt"  # its twin, from left to right
KINDS = FILLS, FOLLOWS
SIZES = {"context_length": TOKENS, "n_layer": 2, "n_head": 4, "n_embd": 64, "dropout": 0.0}
PAIRS = {"Once": "there", "Long": "ago", "This": "is", "It": "was", "Beyond": "the"}
PAIR_SIZES = {"context_length": 2, "n_layer": 1, "n_head": 2, "n_embd": 16, "dropout": 0.0}
PAIR_UPDATES, PAIR_EVERY = 600, 30


def new_model(kind: str, vocabulary: Sequence[str]) -> LanguageModel:
    """Return a model before its training: the one that fills in, or its twin.

    Both have two ids more than the vocabulary. The first hides a token from the one, and begins the
    text of the other; so both have as many parameters.
    """
    from llmviz.models import build

    return build(kind, {"vocab_size": len(vocabulary) + 2, **SIZES})


@dataclass(frozen=True)
class Trained:
    """What was measured of a seed's two models.

    bound: nats of a text by the one that fills in, at most; error: of that mean. twin: nats of a
    text by the one from left to right. Both: the entropy, and by how much the mean over new texts
    is above their own −ln p. broken: by order and steps, the share of its texts that
    the grammar cannot write; twin_broken: that share of the twin's.
    """

    bound: float
    error: float
    twin: float
    broken: dict[str, dict[str, float]]
    twin_broken: float


@dataclass(frozen=True)
class Recorded:
    """All that was measured. texts: that were written in each case. entropy: nats of a text."""

    vocabulary: list[str]
    parameters: int
    updates: int
    texts: int
    entropy: float
    seeds: list[Trained]

    def broken(self, order: str, steps: int) -> list[float]:
        """Return the share of broken texts of each seed."""
        return [seed.broken[order][str(steps)] for seed in self.seeds]


@cache
def recorded(folder: Path = EXPERIMENT_FOLDER) -> Recorded:
    """Return the bundled results. Raises ValueError where the file is missing or damaged."""
    with records.Recorded(folder / FILE, COMMAND) as content:
        found = records.typed(content, Recorded)
        if len(found.seeds) != len(SEEDS):
            raise TypeError("a seed is missing")
        for order in ("random", "confident"):
            for steps in STEPS:
                found.broken(order, steps)
        return found


@cache
def bundled(kind: str = FILLS, folder: Path = EXPERIMENT_FOLDER) -> LanguageModel:
    """Return the model that fills in, or its twin, of the first seed.

    Raises ValueError where it is not in this copy.
    """
    fresh = new_model(kind, recorded(folder).vocabulary)
    return read_weights(folder / WEIGHTS, COMMAND, lambda _: fresh, f"{kind}.").requires_grad_(
        False
    )


def write(model: LanguageModel, tokens: int, steps: int, order: str, seed: int) -> list[UnmaskStep]:
    """Fill in a text of nothing but masks, and return each step. tokens: V."""
    import torch

    from llmviz.sampling.unmasking import unmask

    generator = torch.Generator().manual_seed(seed)
    empty = [tokens] * TOKENS
    return list(unmask(lambda ids: model(ids)[0], empty, steps, tokens, order, generator))


def write_on(twin: LanguageModel, tokens: int, texts: int, seed: int) -> tuple[Tensor, Tensor]:
    """Write texts from left to right; return their ids (N, T), and how probable each was (N, T).

    tokens: V.
    """
    import torch

    generator, sure = torch.Generator().manual_seed(seed), []
    read = torch.full((texts, 1), tokens)
    with torch.inference_mode():
        for _ in range(TOKENS):
            p = twin(read)[0][:, -1, :tokens].softmax(-1)
            drawn = torch.multinomial(p, 1, generator=generator)
            sure.append(p.gather(1, drawn))
            read = torch.cat([read, drawn], 1)
    return read[:, 1:], torch.cat(sure, 1)


def pairs_written(predict: Predictor, steps: int) -> np.ndarray:
    """Return how often each first word (rows) meets each second word, of PAIRS, exactly (P, P).

    predict: of two places and 2 · P words, the first words before the second ones.
    """
    from llmviz.sampling.unmasking import unmasking_distribution

    size = len(PAIRS)
    return unmasking_distribution(predict, 2, steps, 2 * size)[:size, size:]


class PairsLearned(NamedTuple):
    """After some updates, the share of a tiny model's pairs that are none, in one step and two."""

    update: int
    wrong: tuple[float, float]


def learn_pairs(seed: int) -> Iterator[PairsLearned]:
    """Train a tiny model on PAIRS alone, and yield on the way how wrong its pairs are."""
    import torch

    from llmviz.models import build
    from llmviz.models.masked_diffusion import drawn_bounds

    size = len(PAIRS)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = build("diffusion", {"vocab_size": 2 * size + 2, **PAIR_SIZES})
    ids = torch.stack([torch.arange(size), torch.arange(size, 2 * size)], 1).repeat(8, 1)
    generator = torch.Generator().manual_seed(seed)

    def predict(rows: Tensor) -> Tensor:
        return model(rows)[0]

    def loss_at(_: int) -> Tensor:
        return drawn_bounds(predict, ids, 2 * size, generator).mean()

    training = descend(model, loss_at, PAIR_UPDATES, rate=1e-2, warmup=20)
    for done, _ in enumerate(training, 1):
        if done % PAIR_EVERY == 0:
            with torch.inference_mode():
                right = [float(np.trace(pairs_written(predict, steps))) for steps in (1, 2)]
            yield PairsLearned(done, (1 - right[0], 1 - right[1]))
