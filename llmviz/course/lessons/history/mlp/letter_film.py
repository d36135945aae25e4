"""The film of two window models that learn names, as arrays: of a job that goes on, or of a file.

`python -m experiments make letter-map` trains the bundled one again, a few seconds, and writes
`data/experiments/letter-map/`: frames.safetensors and card.json.

S frames, N letters, BARS bars of a histogram.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from llmviz.course.lessons.history.mlp.letter_map import (
    BARS,
    Activity,
    MapFrame,
    MapStart,
)
from llmviz.paths import EXPERIMENT_FOLDER
from llmviz.training.errors import CheckpointError
from llmviz.training.files import read_json

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
