"""A reward that a learner puts together, and what a model of sums makes of it: is its goal met?

Makes what `llmviz.course.lessons.reasoning.reward_hacking.model` reads.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from experiments._command import write_to
from llmviz.course.lessons.reasoning.reward_hacking.model import (
    BETAS,
    COMMAND,
    FILE,
    PATTERN,
    SEEDS,
    UPDATES,
    GamedRun,
    OwnReward,
    own_run,
)
from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.training.files import read_json, write_json


def make(folder: Path = EXPERIMENT_FOLDER) -> None:
    """Make all runs; the file is written after each, and what it has is not made again."""
    from tqdm import tqdm

    path = folder / FILE
    content: dict[str, Any] = {"command": COMMAND, "pattern": PATTERN, "runs": []}
    if path.is_file():
        content = read_json(path)
    done = {(row["beta"], row["seed"]) for row in content["runs"]}
    wanted = [(beta, seed) for seed in SEEDS for beta in BETAS if (beta, seed) not in done]
    for beta, seed in tqdm(wanted, unit="run"):
        found = list(own_run(OwnReward(form=1.0, pattern=PATTERN), beta, UPDATES, seed))
        names = ("reward", "right", "divergence")
        lists = {name: tuple(round(getattr(step, name), 5) for step in found) for name in names}
        written = asdict(GamedRun(beta, seed, **lists))
        for name in names:
            written[name] = " ".join(map(str, written[name]))
        content["runs"].append(written)
        write_json(path, content)


if __name__ == "__main__":
    write_to(make, "Make the bundled runs of a gamed reward again.")
