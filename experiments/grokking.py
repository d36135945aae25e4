"""Bundled trainings on sums modulo a prime: the film of one, and the curves of many others.

Makes what `llmviz.course.lessons.discoveries.grokking.grokking_record` reads.

S moments, P the modulus, C the width of the embedding, F frequencies.
"""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments._command import write_to
from llmviz.course.lessons.discoveries.grokking.model import (
    CURVES,
    Film,
    train,
)
from llmviz.training.files import read_json, write_json

if TYPE_CHECKING:
    from torch import Tensor
from llmviz.course.lessons.discoveries.grokking.grokking_record import (
    CARD,
    COMMAND,
    FOLDER,
    FRAMES,
    MAIN,
    RUNS,
    WEIGHTS,
    name_of,
    tasks,
)

FRAME_EVERY = 100  # steps; the first frames have growing distances


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


if __name__ == "__main__":
    write_to(make, "Train the bundled models of sums again.", FOLDER)
