"""The film of two window models that learn names, as arrays: of a job that goes on, or of a file.

Makes what `llmviz.course.lessons.history.mlp.letter_film` reads.

S frames, N letters, BARS bars of a histogram.
"""

from __future__ import annotations

import time
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from llmviz.course.lessons.history.mlp.letter_film import (
    _NUMBERS,
    CARD,
    FOLDER,
    FRAMES,
    LetterFilm,
    film_of,
)
from llmviz.course.lessons.history.mlp.letter_map import (
    MapFrame,
    MapSettings,
    MapStart,
    film,
)
from llmviz.records import write_to
from llmviz.training.files import write_json


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
