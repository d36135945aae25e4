"""Bundled trainings of attention alone on letters that repeat, and the weights of their moments.

`python -m experiments make induction` makes them again, some minutes on one thread, and goes on
where it was stopped. It writes `data/experiments/induction/`: curves.safetensors,
weights.safetensors (two layers at every second moment, one layer at its last), story.json (the
story model on random tokens that are written twice) and card.json.

S moments, L layers, H heads, D = C/H, V letters.
"""

from __future__ import annotations

from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.interpretability.induction import Copier, Learned, Moment, model_of, moments_of
from llmviz.records import require
from llmviz.training.files import read_json

if TYPE_CHECKING:
    from llmviz.models import GPT

FOLDER = EXPERIMENT_FOLDER / "induction"
RUNS, WEIGHTS, CARD = "curves.safetensors", "weights.safetensors", "card.json"
ON_RANDOM, STORY_MODEL = "story.json", "tiny-world-gpt"
COMMAND = "python -m experiments make induction"
SEEDS = (0, 1, 2)
TWO, ONE = Copier(layers=2), Copier(layers=1)
CURVES = ("by_place", "new_loss", "repeat_loss", "previous", "induction", "off")


def copiers() -> list[Copier]:
    """Return all bundled models: two layers and one layer, with three seeds each."""
    return [Copier(layers=layers, seed=seed) for seed in SEEDS for layers in (2, 1)]


def name_of(copier: Copier) -> str:
    """Return the name of a model in the files.

    >>> name_of(Copier(2, seed=1))
    '2-1'
    """
    return f"{copier.layers}-{copier.seed}"


@cache
def _parts(folder: Path) -> tuple[dict[str, np.ndarray], dict[str, Any], dict[str, Any]]:
    from llmviz.training.tensors import load_tensors

    for name in (RUNS, WEIGHTS, ON_RANDOM, CARD):
        require(folder / name, COMMAND)
    parts = {name: tensor.numpy() for name, tensor in load_tensors(folder / RUNS).items()}
    wanted = {f"{name_of(copier)}.{curve}" for copier in copiers() for curve in CURVES}
    if set(parts) != wanted:
        raise ValueError(f"{folder} is damaged; `{COMMAND}` makes it again")
    return parts, load_tensors(folder / WEIGHTS), read_json(folder / CARD)


@cache
def learned(copier: Copier = TWO, folder: Path = FOLDER) -> Learned:
    """Return a bundled training. Raises ValueError where it is missing or damaged."""
    parts, _, _ = _parts(folder)
    columns = [parts[f"{name_of(copier)}.{curve}"].astype(float) for curve in CURVES]
    steps = moments_of(copier.steps)
    rows = zip(steps, *columns, strict=True)
    return Learned(
        copier,
        [
            Moment(step, by_place, float(new), float(again), *heads)
            for step, by_place, new, again, *heads in rows
        ],
    )


def frame_of(place: int) -> tuple[int, int]:
    """Return the newest bundled weights of two layers at a moment or before: frame and place.

    >>> moments = len(moments_of(TWO.steps))
    >>> frame_of(moments - 1), frame_of(moments - 2)
    ((20, 40), (19, 38))
    """
    last = len(moments_of(TWO.steps)) - 1
    behind = (last - place + 1) // 2  # frames from the last one
    frames = last // 2 + 1
    frame = max(0, frames - 1 - behind)
    return frame, last - 2 * (frames - 1 - frame)


@lru_cache(64)
def model_at(copier: Copier = TWO, frame: int = -1, folder: Path = FOLDER) -> GPT:
    """Return the model at a moment whose weights are bundled, the last by default."""
    _, weights, _ = _parts(folder)
    model, name = model_of(copier), f"{name_of(copier)}."
    model.load_state_dict(
        {
            key.removeprefix(name): tensor[frame].float()
            for key, tensor in weights.items()
            if key.startswith(name)
        }
    )
    return model.eval()


def card(copier: Copier = TWO, folder: Path = FOLDER) -> dict[str, Any]:
    """Return what the card says of a training: parameters, seconds."""
    return _parts(folder)[2]["trainings"][name_of(copier)]


@cache
def story_on_random(folder: Path = FOLDER) -> dict[str, Any]:
    """Return what the story model does on blocks of random tokens that are written twice.

    texts and block: how many, and how long. previous, induction: the highest score of a head, the
    latter of the head `which` (layer, head). even: the induction score of one that looks at all
    alike. first, again: the loss in nats a token in both blocks, with their standard errors.
    """
    _parts(folder)
    return read_json(folder / ON_RANDOM)
