"""Bundled toy models of superposition: films by density, and a chart of phases.

Makes what `llmviz.course.lessons.discoveries.superposition.superposition_record` reads.

D densities, R seeds, S moments, M dimensions, N features; I importances.
"""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path

import numpy as np

from llmviz.course.lessons.discoveries.superposition.model import (
    STEPS,
    Toy,
    learn,
)
from llmviz.course.lessons.discoveries.superposition.superposition_record import (
    CARD,
    COMMAND,
    DENSITIES,
    FOLDER,
    FRAMES,
    PHASE_DENSITIES,
    PHASE_IMPORTANCES,
    PHASE_RATE,
    PHASE_STEPS,
    RATIO,
    SEEDS,
    STARTS,
    VALUES,
    Phases,
)
from llmviz.records import write_to
from llmviz.training.files import write_json


def phase_cases() -> tuple[np.ndarray, np.ndarray]:
    """Return pairs of features (K, 2) and their weights (K, D) at each density.

    A feature that is on has one of VALUES, each as often. The weights of a density add up to 1.
    """
    p, n = PHASE_DENSITIES, len(VALUES)
    off, on = np.zeros(n), VALUES
    both = np.stack(np.meshgrid(on, on, indexing="ij"), -1).reshape(-1, 2)
    cases = [np.zeros((1, 2)), np.column_stack([on, off]), np.column_stack([off, on]), both]
    chances = [(1 - p) ** 2, p * (1 - p) / n, p * (1 - p) / n, p * p / n**2]
    weights = [np.tile(chance, (len(case), 1)) for chance, case in zip(chances, cases, strict=True)]
    return np.concatenate(cases), np.concatenate(weights)


def phases() -> Phases:
    """Train two features in one dimension at each density and importance; keep the best start.

    In a few cells of low density none of the starts comes to the best there is.
    """
    import torch

    cases, weights = (torch.tensor(array, dtype=torch.float32) for array in phase_cases())
    importance = torch.tensor(PHASE_IMPORTANCES, dtype=torch.float32)
    shape = (STARTS, len(PHASE_DENSITIES), len(PHASE_IMPORTANCES), 2)
    w = torch.randn(shape, generator=torch.Generator().manual_seed(0)).requires_grad_()
    b = torch.zeros(shape, requires_grad=True)
    counts = torch.stack([torch.ones_like(importance), importance], -1)  # (I, 2)
    optimizer = torch.optim.Adam([w, b], lr=PHASE_RATE)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, PHASE_STEPS)

    def losses() -> torch.Tensor:
        hidden = w @ cases.t()  # (STARTS, D, I, K)
        total = torch.zeros(())
        for i in (0, 1):
            read = torch.relu(hidden * w[..., i : i + 1] + b[..., i : i + 1])
            missed = (read - cases[:, i]) ** 2  # (STARTS, D, I, K)
            total = total + torch.einsum("sdik,kd->sdi", missed, weights) * counts[:, i]
        return total

    for _ in range(PHASE_STEPS):
        optimizer.zero_grad()
        losses().sum().backward()
        optimizer.step()
        schedule.step()
    with torch.no_grad():
        best = losses().min(0)
    taken = best.indices[None, ..., None].expand(1, *shape[1:])
    chosen = [torch.gather(tensor.detach(), 0, taken)[0].numpy() for tensor in (w, b)]
    return Phases(chosen[0], chosen[1], best.values.numpy())


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
    for name, values in asdict(phases()).items():
        parts[f"phase.{name}"] = torch.from_numpy(values)
    folder.mkdir(parents=True, exist_ok=True)
    save_tensors(folder / FRAMES, parts)
    seconds = round(time.perf_counter() - begun, 1)
    write_json(folder / CARD, {"command": COMMAND, "steps": STEPS, "seconds": seconds})


if __name__ == "__main__":
    write_to(make, "Train the bundled toys of superposition again.", FOLDER)
