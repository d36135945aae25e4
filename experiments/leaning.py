"""Small models that read a text in which some jobs lean to women, and what they make of it.

Makes what `llmviz.course.lessons.errors.read_leaning` reads.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from experiments._command import write_to
from llmviz.corpus.leaning import LEANS
from llmviz.course.lessons.errors.read_leaning import COMMAND, FILE, SEEDS, run_name, train_one
from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.training.files import write_json


def make(folder: Path = EXPERIMENT_FOLDER) -> None:
    """Train all bundled models and write what was measured."""
    runs = {run_name(lean, seed): asdict(train_one(lean, seed)) for lean in LEANS for seed in SEEDS}
    write_json(folder / FILE, {"command": COMMAND, "seeds": SEEDS, "runs": runs})


if __name__ == "__main__":
    write_to(make, "Train the readers of leaning texts again.")
