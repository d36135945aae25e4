"""Small models of eight sizes that read five amounts of text once, and their loss on new stories.

Makes what `llmviz.course.lessons.discoveries.scaling.scaling_runs` reads.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from experiments._command import write_to
from llmviz.course.lessons.discoveries.scaling.scaling_runs import (
    AMOUNTS,
    COMMAND,
    FILE,
    HELD_OUT,
    SIZES,
    Floor,
    train_one,
    truths,
)
from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.training.files import read_json, write_json


def floor() -> Floor:
    """Return what no model can beat on the held-out stories."""
    tokens = sum(len(truth.ids) for truth in truths())
    entropy = sum(following.entropy for truth in truths() for following in truth.following[:-1])
    came = -sum(sum(truth.log_probs) for truth in truths())
    return Floor(entropy / tokens, came / tokens, tokens)


def make(folder: Path = EXPERIMENT_FOLDER) -> None:
    """Train what is not in the file yet, and write it after each run."""
    from tqdm import tqdm

    path = folder / FILE
    runs = read_json(path)["runs"] if path.is_file() else []
    done = {(run["width"], run["stories"], run["seed"]) for run in runs}
    for amount, size in tqdm([(amount, size) for amount in AMOUNTS for size in SIZES]):
        if (size.width, amount, 0) in done:
            continue
        *_, last = train_one(size, amount, exact=True)
        if last.run is None:
            raise RuntimeError("a training ended without a measurement")
        runs.append(asdict(last.run))
        content = {"command": COMMAND, "held_out": HELD_OUT, "floor": asdict(floor())}
        write_json(path, {**content, "runs": runs})


if __name__ == "__main__":
    write_to(make, "Train the models of the scaling laws again.")
