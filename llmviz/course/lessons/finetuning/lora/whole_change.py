"""What a training of every weight changes, cut to its strongest patterns; measured and bundled.

`python -m experiments make whole-change` trains and measures again, some ten minutes on one core.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.training.files import read_json

FILE = "whole-change.json"
COMMAND = "python -m experiments make whole-change"
RANKS = (1, 2, 4, 8, 16)
QUESTIONS = 300  # on stories that were not trained on
HELD = 8  # patterns of each matrix, as many as the bundled adapters have
KEPT = 32  # singular values of each matrix that are recorded


class WholeChange(NamedTuple):
    """How many new questions are answered rightly, by patterns kept of each matrix's change.

    right: by rank; all: with the whole change of the matrices. By path, values: the singular values
    of a change, the largest first; held: how much of it, in squares, its first HELD patterns hold.
    """

    questions: int
    right: dict[int, float]
    all: float
    values: dict[str, np.ndarray]
    held: dict[str, float]


def recorded(folder: Path = EXPERIMENT_FOLDER) -> WholeChange:
    """Return the bundled measurement. Raises ValueError where it is not in this copy."""
    about = read_json(folder / FILE)
    return WholeChange(
        about["questions"],
        {int(rank): share for rank, share in about["right"].items()},
        about["all"],
        {path: np.array(values) for path, values in about["values"].items()},
        about["held"],
    )
