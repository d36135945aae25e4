"""Features of the story model, learned at each layer and held against the grammar's own labels.

`python -m experiments make features` learns and measures them again, about an hour on one
thread, and writes `data/experiments/features/`: scores.json, and one file for each dictionary that
a page opens. It goes on where it was stopped. Reading needs no torch but for the weights.

N features, K labels, S texts that are kept of a feature, W tokens of such a text.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from llmviz.files.paths import CHECKPOINTS, EXPERIMENT_FOLDER
from llmviz.interpretability.sparse_autoencoder import Dictionary
from llmviz.records import require
from llmviz.training.files import MANIFEST, read_json
from llmviz.training.held_out_texts import SEED, stories

FOLDER = EXPERIMENT_FOLDER / "features"
SCORES = "scores.json"
COMMAND = "python -m experiments make features"
MODEL = "tiny-world-gpt"
LAYERS, MAIN = (0, 1, 2, 3), 2  # MAIN: the layer with dictionaries of several sizes
SIZES, SIZE = (192, 384, 768), 384
ON, ON_EACH = (4, 16, 32), 16  # features that may be on at once
SEEDS = (0, 1, 2)
CHOSEN_ON, MEASURED_ON = 150, 150  # stories; each seed has its own
KEPT, BEFORE, BEHIND = 5, 11, 4  # texts of a feature; tokens before and behind its strongest one
PARTS = ("encoder", "bias", "directions", "centre")


@dataclass(frozen=True)
class Run:
    """One training: the layer whose end is read, and the dictionary."""

    layer: int
    features: int = SIZE
    on: int = ON_EACH
    seed: int = 0

    @property
    def name(self) -> str:
        return f"layer-{self.layer}-features-{self.features}-on-{self.on}-seed-{self.seed}"

    @property
    def bundled(self) -> bool:
        """Whether its features come along."""
        return self.seed == 0 and self.on == ON_EACH


KINDS = (
    *((layer, SIZE, ON_EACH) for layer in LAYERS),
    *((MAIN, size, ON_EACH) for size in SIZES if size != SIZE),
    *((MAIN, SIZE, on) for on in ON if on != ON_EACH),
)


@dataclass(frozen=True)
class RunScore:
    """What was measured of a run on held-out stories.

    explained: share of the variance. loss: of the model whose stream is replaced by what the
    features say, nats per token. silent: features that were on at no token. f1 (K,): of the best
    feature for each label, and which one (K,). missed (K,): share of the variance that is not
    explained at the tokens with a label; 0 where there is none.
    """

    layer: int
    features: int
    on: int
    seed: int
    explained: float
    loss: float
    silent: int
    f1: tuple[float, ...]
    best: tuple[int, ...]
    missed: tuple[float, ...]
    seconds: float

    @property
    def run(self) -> Run:
        return Run(self.layer, self.features, self.on, self.seed)


@dataclass(frozen=True)
class LayerScore:
    """What else tells the labels at the end of a layer, on the stories of a seed.

    unit, axis, reading (K,): F1 of the best feed-forward unit of the layer, of the best of the
    stream's own numbers, and of a weighted sum of all its numbers. loss: of the model as it is;
    mean_loss: with the stream replaced by its mean; floor: of the grammar itself, on the same
    tokens. tokens: with a label (K,), on the measured stories.
    """

    layer: int
    seed: int
    unit: tuple[float, ...]
    axis: tuple[float, ...]
    reading: tuple[float, ...]
    loss: float
    mean_loss: float
    tokens: tuple[int, ...]
    all_tokens: int
    floor: float


@dataclass(frozen=True, eq=False)
class Scores:
    """All that was measured; labels (K,). divisor: of the model's last norm, on average.

    weights: the sha256 of the model's file.
    """

    weights: str
    labels: tuple[str, ...]
    learned_tokens: int
    divisor: float
    runs: tuple[RunScore, ...]
    layers: tuple[LayerScore, ...]

    def of(self, layer: int, features: int = SIZE, on: int = ON_EACH) -> list[RunScore]:
        """The runs of three seeds."""
        kind = (layer, features, on)
        return [run for run in self.runs if (run.layer, run.features, run.on) == kind]

    def at(self, layer: int) -> list[LayerScore]:
        """What else tells the labels there, for three seeds."""
        return [score for score in self.layers if score.layer == layer]

    def recovered(self, run: RunScore) -> float:
        """The share of the loss that replacing the stream by features gives back.

        1 is the model as it is, 0 the model whose stream is replaced by its mean.
        """
        plain = next(score for score in self.at(run.layer) if score.seed == run.seed)
        return (plain.mean_loss - run.loss) / (plain.mean_loss - plain.loss)


@dataclass(frozen=True, eq=False)
class Bundle:
    """Features that come along, and what they did on held-out stories.

    share (N,): of the tokens at which a feature is on. stories, places (N, S): the story and the
    token where its value is highest, one a story, falling. windows (N, S, W): its values from
    BEFORE tokens before that to BEHIND behind it, ABSENT outside the story. parent (N,): the
    feature of the next smaller dictionary with the nearest direction, and shared (N,): at what
    share of this one's tokens that one is on, too; empty in the smallest.
    """

    run: Run
    dictionary: Dictionary
    share: np.ndarray
    stories: np.ndarray
    places: np.ndarray
    windows: np.ndarray
    parent: np.ndarray
    shared: np.ndarray

    @property
    def highest(self) -> np.ndarray:
        """The highest value of each feature (N,)."""
        return self.windows[:, 0, BEFORE]


def held_out_stories(seed: int = 0) -> list[str]:
    """The stories of a seed: first those on which is chosen, then those on which is measured."""
    return stories(CHOSEN_ON + MEASURED_ON, SEED + 1 + seed)


def weights_of(folder: Path = CHECKPOINTS / MODEL) -> str:
    """Return the sha256 of the weights in a model's folder; empty where it does not say so."""
    try:
        return str(read_json(folder / MANIFEST)["files"]["model.safetensors"]["sha256"])
    except (ValueError, KeyError, TypeError):
        return ""


def _file(layer: int, features: int) -> str:
    return f"layer-{layer}-{features}.safetensors"


def _with_tuples(row: dict[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in row.items()}


@cache
def scores(folder: Path = FOLDER) -> Scores:
    """Return what was measured. Raises ValueError where it is missing or damaged."""
    path = require(folder / SCORES, COMMAND)
    try:
        listed = read_json(path)
        runs = [RunScore(**_with_tuples(row)) for row in listed["runs"]]
        layers = [LayerScore(**_with_tuples(row)) for row in listed["layers"]]
        numbers = int(listed["learned_tokens"]), float(listed["divisor"])
        weights, labels = str(listed["weights"]), tuple(listed["labels"])
        return Scores(weights, labels, *numbers, tuple(runs), tuple(layers))
    except (KeyError, TypeError) as error:
        raise ValueError(f"{path} is damaged; `{COMMAND}` makes it again") from error


@cache
def bundle(layer: int, features: int = SIZE, folder: Path = FOLDER) -> Bundle:
    """Return features that come along. Raises ValueError where they are missing or damaged."""
    from llmviz.training.tensors import load_tensors

    path = require(folder / _file(layer, features), COMMAND)
    parts = {name: tensor.numpy() for name, tensor in load_tensors(path).items()}
    try:
        encoder, bias, directions, centre = (parts[name].astype(np.float32) for name in PARTS)
        share, numbers, places = (parts[name] for name in ("share", "stories", "places"))
        windows = parts["windows"].astype(np.float32)
    except KeyError as error:
        raise ValueError(f"{path} is damaged; `{COMMAND}` makes it again") from error
    none = np.zeros(0)
    parents, shared = parts.get("parents", none).astype(int), parts.get("shared", none)
    run = Run(layer, features)
    dictionary = Dictionary(run.on, encoder, bias, directions, centre)
    return Bundle(run, dictionary, share, numbers, places, windows, parents, shared)
