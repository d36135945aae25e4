"""Bundled trainings on sums modulo a prime: the film of one, and the curves of many others.

`python -m experiments make grokking` makes them again, about an hour on one thread, and goes on
where it was stopped. It writes `data/experiments/grokking/`: curves.safetensors, film.safetensors
(the rows of the main training's numbers), model.safetensors (its last weights) and card.json.

S moments, P the modulus, C the width of the embedding, F frequencies.
"""

from __future__ import annotations

from functools import cache
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from llmviz.course.lessons.discoveries.grokking.model import (
    CURVES,
    Film,
    Moment,
    Sums,
    all_logits,
    model_of,
)
from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.records import require
from llmviz.training.files import read_json

if TYPE_CHECKING:
    pass

FOLDER = EXPERIMENT_FOLDER / "grokking"
RUNS, FRAMES, WEIGHTS, CARD = (
    "curves.safetensors",
    "film.safetensors",
    "model.safetensors",
    "card.json",
)
COMMAND = "python -m experiments make grokking"
SEEDS = (0, 1, 2)
MAIN = Sums()
MODULI, SHARES, DECAYS = (17, 23), (0.4, 0.6), (0.0, 1.0)
SMALL_WIDTH, SMALL_STEPS = 48, 2000


def small(modulus: int, share: float, decay: float, seed: int = 0) -> Sums:
    return Sums(modulus, share, decay, seed, width=SMALL_WIDTH, most=SMALL_STEPS)


def tasks() -> list[Sums]:
    """Return all bundled tasks: the main one, and the grid with three seeds."""
    grid = product(SEEDS, MODULI, SHARES, DECAYS)
    small_ones = [small(modulus, share, decay, seed) for seed, modulus, share, decay in grid]
    return [MAIN, *small_ones]


def name_of(task: Sums) -> str:
    """Return the name of a task in the files.

    >>> name_of(Sums(23, 0.5, 0.0, 2))
    '23-0.5-0-2'
    """
    return f"{task.modulus}-{task.share:g}-{task.decay:g}-{task.seed}"


@cache
def _parts(folder: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    from llmviz.training.tensors import load_tensors

    for name in (RUNS, FRAMES, WEIGHTS, CARD):
        require(folder / name, COMMAND)
    parts = {name: tensor.numpy() for name, tensor in load_tensors(folder / RUNS).items()}
    frames = {name: tensor.numpy() for name, tensor in load_tensors(folder / FRAMES).items()}
    wanted = {f"{name_of(task)}.{curve}" for task in tasks() for curve in (*CURVES, "power")}
    if not wanted <= set(parts) or set(frames) != {"place", "rows"}:
        raise ValueError(f"{folder} is damaged; `{COMMAND}` makes it again")
    return parts | frames, read_json(folder / CARD)


@cache
def film(task: Sums = MAIN, folder: Path = FOLDER) -> Film:
    """Return a bundled training; only some moments of the main one have rows.

    Raises ValueError where it is missing or damaged.
    """
    parts, _ = _parts(folder)
    columns = [parts[f"{name_of(task)}.{curve}"].tolist() for curve in CURVES]
    power = parts[f"{name_of(task)}.power"].astype(float)
    rows = dict(zip(parts["place"].tolist(), parts["rows"].astype(float), strict=True))
    frames = [rows.get(place) if task == MAIN else None for place in range(len(power))]
    every = zip(*columns, power, frames, strict=True)
    return Film(task, [Moment(*row) for row in every])


def card(task: Sums = MAIN, folder: Path = FOLDER) -> dict[str, Any]:
    """Return what the card says of a training: parameters, steps, seconds."""
    return _parts(folder)[1]["trainings"][name_of(task)]


@cache
def final_logits(folder: Path = FOLDER) -> np.ndarray:
    """Return the logits (P², P) of every sum, from the last weights of the main training."""
    from llmviz.training.tensors import load_tensors

    _parts(folder)
    model = model_of(MAIN)
    model.load_state_dict(load_tensors(folder / WEIGHTS))
    return all_logits(MAIN, model.eval())[:, : MAIN.modulus]
