"""Bundled toy models of superposition: films by density.

Makes what `llmviz.course.lessons.discoveries.superposition.model` reads.

D densities, R seeds, S moments, M dimensions, N features.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from experiments._command import write_to
from llmviz.course.lessons.discoveries.superposition.model import (
    CARD,
    COMMAND,
    DENSITIES,
    FOLDER,
    FRAMES,
    RATIO,
    SEEDS,
    STEPS,
    Toy,
    learn,
)
from llmviz.training.files import write_json


def make(folder: Path = FOLDER) -> None:
    """Train all and write the folder."""
    import torch
    from tqdm import tqdm

    from llmviz.training.tensors import save_tensors

    begun = time.perf_counter()
    frames = []
    for density, seed in tqdm([(density, seed) for density in DENSITIES for seed in SEEDS]):
        frames.append(list(learn(Toy(density=density, ratio=RATIO, seed=seed))))
    shape = (len(DENSITIES), len(SEEDS), len(frames[0]))

    def every(name: str) -> torch.Tensor:
        values = np.array([[getattr(frame, name) for frame in film] for film in frames], np.float32)
        return torch.from_numpy(values.reshape(*shape, *values.shape[2:]))

    parts = {name: every(name) for name in ("loss", "directions", "bias")}
    folder.mkdir(parents=True, exist_ok=True)
    save_tensors(folder / FRAMES, parts)
    seconds = round(time.perf_counter() - begun, 1)
    write_json(folder / CARD, {"command": COMMAND, "steps": STEPS, "seconds": seconds})


if __name__ == "__main__":
    write_to(make, "Train the bundled toys of superposition again.", FOLDER)
