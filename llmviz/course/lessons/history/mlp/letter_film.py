"""The film of two window models that learn names, as arrays: of a job that goes on, or of a file.

`python -m experiments make letter-map` trains the bundled one again, a few seconds, and writes
`data/experiments/letter-map/`: frames.safetensors and card.json.

S frames, N letters, BARS bars of a histogram.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from llmviz.course.lessons.history.mlp.letter_map import (
    BARS,
    Activity,
    MapFrame,
    MapSettings,
    MapStart,
    film,
)
from llmviz.paths import EXPERIMENT_FOLDER
from llmviz.records import write_to
from llmviz.training.errors import CheckpointError
from llmviz.training.files import read_json, write_json

FOLDER = EXPERIMENT_FOLDER / "letter-map"
FRAMES, CARD = "frames.safetensors", "card.json"
_NUMBERS = ("mean", "deviation", "saturated", "dead")


@dataclass(frozen=True)
class LetterFilm:
    """A film so far. What is told apart by batch norm stands under True (on) and False (off)."""

    letters: tuple[str, ...]
    total: int  # steps of the whole training
    units: int  # of the hidden layer
    steps: np.ndarray  # (S,)
    vectors: dict[bool, np.ndarray]  # (S, N, 2)
    losses: dict[bool, np.ndarray]  # (S,) nats per letter; NaN before the first update
    counts: dict[bool, np.ndarray]  # (S, BARS)
    mean: dict[bool, np.ndarray]  # (S,) of the numbers before the activation function
    deviation: dict[bool, np.ndarray]  # (S,)
    saturated: dict[bool, np.ndarray]  # (S,) a share
    dead: dict[bool, np.ndarray]  # (S,) units

    @property
    def whole(self) -> bool:
        """Whether the training has ended."""
        return int(self.steps[-1]) >= self.total

    @property
    def frames(self) -> int:
        """S."""
        return len(self.steps)


def film_of(start: MapStart, frames: Sequence[MapFrame]) -> LetterFilm:
    """Return the film of what a training has yielded; at least one frame."""

    def each(part: Any) -> dict[bool, np.ndarray]:
        return {flag: np.array([part(frame, flag) for frame in frames]) for flag in (True, False)}

    def number(name: str) -> dict[bool, np.ndarray]:
        return each(lambda frame, flag: getattr(frame.activity[flag], name))

    activity: Activity = frames[0].activity[True]
    return LetterFilm(
        start.letters,
        start.steps,
        activity.units,
        np.array([frame.step for frame in frames]),
        each(lambda frame, flag: frame.vectors[flag]),
        each(lambda frame, flag: frame.losses[flag]),
        number("counts"),
        *(number(name) for name in _NUMBERS),
    )


def save_film(folder: Path, film: LetterFilm, card: dict[str, Any]) -> None:
    """Write a film and its card. Raises OSError where that cannot be done."""
    import torch

    from llmviz.training.tensors import save_tensors

    parts = {"steps": torch.from_numpy(film.steps)}
    for name in ("vectors", "losses", "counts", *_NUMBERS):
        for flag, values in getattr(film, name).items():
            parts[f"{name}.{'on' if flag else 'off'}"] = torch.from_numpy(values)
    folder.mkdir(parents=True, exist_ok=True)
    save_tensors(folder / FRAMES, parts)
    write_json(folder / CARD, card | {"letters": film.letters, "units": film.units})


def read_film(folder: Path = FOLDER) -> LetterFilm:
    """Return the film in a folder. Raises ValueError where it is not there or damaged."""
    from llmviz.training.tensors import load_tensors

    card, parts = read_json(folder / CARD), load_tensors(folder / FRAMES)
    try:
        arrays = {
            name: {flag: parts[f"{name}.{mark}"].numpy() for flag, mark in _FLAGS}
            for name in ("vectors", "losses", "counts", *_NUMBERS)
        }
        letters, steps = tuple(map(str, card["letters"])), parts["steps"].numpy()
        film = LetterFilm(
            letters, int(card["settings"]["steps"]), int(card["units"]), steps, **arrays
        )
    except (KeyError, TypeError, ValueError) as error:
        raise CheckpointError(f"the film in {folder} is damaged: {error}") from error
    shape = (len(steps), len(letters), 2)
    fits = all(film.vectors[flag].shape == shape for flag, _ in _FLAGS)
    if not len(steps) or not fits or film.counts[True].shape != (len(steps), BARS):
        raise CheckpointError(f"the film in {folder} is damaged: its parts do not fit together")
    return film


_FLAGS = ((True, "on"), (False, "off"))


def make(settings: MapSettings, folder: Path) -> dict[str, Any]:
    """Train, write the film below `folder`, and return its card."""
    begun = time.perf_counter()
    start, *frames = film(settings)
    assert isinstance(start, MapStart)
    card = {
        "command": "python -m experiments make letter-map",
        "settings": asdict(settings),
        "seconds": round(time.perf_counter() - begun, 1),
    }
    shown = film_of(start, [frame for frame in frames if isinstance(frame, MapFrame)])
    save_film(folder, shown, card)
    return card


if __name__ == "__main__":
    write_to(partial(make, MapSettings()), "Train the bundled map of letters again.", FOLDER)
