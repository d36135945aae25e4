"""Bundled toy models of superposition: films by density, and a chart of phases.

`python -m experiments make superposition` makes them again, a few minutes on one thread, and
writes `data/experiments/superposition/`: frames.safetensors and card.json.

D densities, R seeds, S moments, M dimensions, N features; I importances.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from llmviz.course.lessons.discoveries.superposition.model import (
    KEPT,
    STEPS,
    Learned,
    Moment,
    Toy,
    learn,
    moments_of,
)
from llmviz.paths import EXPERIMENT_FOLDER
from llmviz.records import require, write_to
from llmviz.training.files import read_json, write_json

FOLDER = EXPERIMENT_FOLDER / "superposition"
FRAMES, CARD = "frames.safetensors", "card.json"
COMMAND = "python -m experiments make superposition"
DENSITIES = (1.0, 0.5, 0.2, 0.1, 0.05, 0.02)
SEEDS = (0, 1, 2)
RATIO = 0.9
# The chart of phases: two features, one dimension.
PHASE_DENSITIES = np.geomspace(0.01, 1, 25)
PHASE_IMPORTANCES = np.geomspace(0.1, 10, 25)  # of the second feature; the first has 1
STARTS, PHASE_STEPS, PHASE_RATE = 8, 1500, 0.01
VALUES = (np.arange(10) + 0.5) / 10  # of a feature that is on
FIRST, SECOND, BOTH, NEITHER = 0, 1, 2, 3  # which of the two features has a direction


@dataclass(frozen=True, eq=False)
class Phases:
    """The best of several trainings for each density and importance.

    directions (D, I, 2), bias (D, I, 2), losses (D, I).
    """

    directions: np.ndarray
    bias: np.ndarray
    losses: np.ndarray

    @property
    def kinds(self) -> np.ndarray:
        """Which features have a direction (D, I): FIRST, SECOND, BOTH or NEITHER."""
        first, second = np.moveaxis(np.abs(self.directions) >= KEPT, -1, 0)
        return np.where(
            first & second, BOTH, np.where(first, FIRST, np.where(second, SECOND, NEITHER))
        )


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


@cache
def _parts(folder: Path) -> dict[str, np.ndarray]:
    from llmviz.training.tensors import load_tensors

    path = require(folder / FRAMES, COMMAND)
    steps, shape = int(read_json(folder / CARD)["steps"]), (len(DENSITIES), len(SEEDS))
    parts: dict[str, Any] = {name: tensor.numpy() for name, tensor in load_tensors(path).items()}
    names = {"loss", "directions", "bias", "phase.directions", "phase.bias", "phase.losses"}
    if set(parts) != names or parts["loss"].shape != (*shape, len(moments_of(steps))):
        raise ValueError(f"{path} is damaged; `{COMMAND}` makes it again")
    return parts | {"steps": np.array(moments_of(steps))}


def film(density: float, seed: int = 0, folder: Path = FOLDER) -> Learned:
    """Return a bundled training. Raises ValueError where it is missing or damaged."""
    parts = _parts(folder)
    at = DENSITIES.index(density), SEEDS.index(seed)
    columns = (parts[name][at].astype(float) for name in ("loss", "directions", "bias"))
    steps = parts["steps"].tolist()
    rows = zip(steps, *columns, strict=True)
    moments = [Moment(step, steps[-1], float(loss), *arrays) for step, loss, *arrays in rows]
    return Learned(Toy(density=density, ratio=RATIO, seed=seed), moments)


def phase_chart(folder: Path = FOLDER) -> Phases:
    """Return the bundled chart of phases. Raises ValueError where it is missing or damaged."""
    parts = _parts(folder)
    return Phases(*(parts[f"phase.{name}"] for name in ("directions", "bias", "losses")))


if __name__ == "__main__":
    write_to(make, "Train the bundled toys of superposition again.", FOLDER)
