"""Small models that read some sentences once and some a thousand times, and what they keep of them.

Makes what `llmviz.course.lessons.errors.read_planted` reads.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from experiments._command import write_to
from llmviz.course.lessons.errors.read_planted import (
    COMMAND,
    FILE,
    PASSES,
    SEEDS,
    run_name,
    train_one,
)
from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.training.files import write_json


def make(folder: Path = EXPERIMENT_FOLDER) -> None:
    """Train all bundled models and write what they remember."""
    runs = {
        run_name(seed, passes, repeats=repeats): asdict(train_one(seed, passes, repeats=repeats))
        for repeats in (True, False)
        for passes in PASSES
        for seed in SEEDS
    }
    write_json(folder / FILE, {"command": COMMAND, "seeds": SEEDS, "runs": runs})


if __name__ == "__main__":
    write_to(make, "Train the readers of planted sentences again.")
