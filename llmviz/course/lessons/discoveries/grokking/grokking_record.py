"""Bundled trainings on sums modulo a prime: the film of one, and the curves of many others.

`python -m experiments make grokking` makes them again, about an hour on one thread, and goes on
where it was stopped. It writes `data/experiments/grokking/`: curves.safetensors, film.safetensors
(the rows of the main training's numbers), model.safetensors (its last weights) and card.json.

S moments, P the modulus, C the width of the embedding, F frequencies.
"""

from __future__ import annotations

import time
from dataclasses import asdict
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
    train,
)
from llmviz.paths import EXPERIMENT_FOLDER
from llmviz.records import require, write_to
from llmviz.training.files import read_json, write_json

if TYPE_CHECKING:
    from torch import Tensor

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
FRAME_EVERY = 100  # steps; the first frames have growing distances


def small(modulus: int, share: float, decay: float, seed: int = 0) -> Sums:
    """Return a task of the grid."""
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


def make(folder: Path = FOLDER) -> None:
    """Train what is not in the folder yet, and write it after each training."""
    import torch
    from tqdm import tqdm

    from llmviz.training.tensors import load_tensors, save_tensors

    folder.mkdir(parents=True, exist_ok=True)
    begun_before = (folder / CARD).is_file()
    parts = load_tensors(folder / RUNS) if begun_before else {}
    new: dict[str, Any] = {"command": COMMAND, "trainings": {}}
    card = read_json(folder / CARD) if begun_before else new
    for task in tqdm(tasks()):
        name = name_of(task)
        if name in card["trainings"]:
            continue
        begun = time.perf_counter()
        moments, models = zip(*train(task), strict=True)  # the model is the same each time
        film, model = Film(task, moments), models[-1]
        for curve in (*CURVES, "power"):
            kind = np.int32 if curve == "step" else np.float32
            parts[f"{name}.{curve}"] = torch.from_numpy(film.curve(curve).astype(kind))
        if task == MAIN:
            save_tensors(folder / FRAMES, frames_of(film))
            save_tensors(folder / WEIGHTS, dict(model.state_dict()))
        save_tensors(folder / RUNS, parts)
        card["trainings"][name] = asdict(task) | {
            "parameters": sum(parameter.numel() for parameter in model.parameters()),
            "steps": film.last.step,
            "seconds": round(time.perf_counter() - begun, 1),
        }
        write_json(folder / CARD, card)


def frames_of(film: Film) -> dict[str, Tensor]:
    """Return the rows of some moments (S, P, C), and which moments these are (S,)."""
    import torch

    frames: list[tuple[int, np.ndarray]] = []
    for place, moment in enumerate(film.moments):
        chosen = moment.step % FRAME_EVERY == 0 or moment.step < FRAME_EVERY or moment is film.last
        if chosen and moment.rows is not None:
            frames.append((place, moment.rows))
    places, rows = zip(*frames, strict=True)
    return {
        "place": torch.tensor(places, dtype=torch.int32),
        "rows": torch.from_numpy(np.array(rows, np.float16)),
    }


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


if __name__ == "__main__":
    write_to(make, "Train the bundled models of sums again.", FOLDER)
