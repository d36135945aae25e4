"""Small models that read where invented persons live, some of them often and some never.

Makes what `llmviz.course.lessons.errors.read_facts` reads.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from experiments._command import write_to
from llmviz.course.lessons.errors.read_facts import (
    CARD,
    COMMAND,
    FILE,
    PASSES,
    SEEDS,
    UNKNOWN,
    Reading,
    answers_of,
    bundled,
    by_times,
    read_world,
    run_name,
    world_of,
)
from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.training.files import write_json


def make(folder: Path = EXPERIMENT_FOLDER) -> None:
    """Train all bundled models and write what they answer, in float16."""
    import torch

    from llmviz.training.tensors import save_tensors

    found = {}
    for unknown in UNKNOWN:
        for seed in SEEDS:
            *_, last = read_world(Reading(seed, unknown))
            found[run_name(unknown, seed)] = torch.from_numpy(last.chances)
    save_tensors(folder / FILE, found, torch.float16)
    write_json(folder / CARD, card(folder))


def card(folder: Path = EXPERIMENT_FOLDER) -> dict[str, Any]:
    """Return how the bundled models answer, by persons of whom nobody knows and by times read.

    Each share is the lowest, the mean and the highest of the models of SEEDS.
    """
    shares: dict[str, dict[str, dict[str, list[float]]]] = {}
    for unknown in UNKNOWN:
        models = [
            by_times(answers_of(world_of(Reading(seed, unknown)), bundled(unknown, seed, folder)))
            for seed in SEEDS
        ]
        shares[str(unknown)] = {
            str(groups[0].times): {
                name: [
                    round(share, 4)
                    for share in (min(values), sum(values) / len(values), max(values))
                ]
                for name in ("right", "declined", "confidence")
                for values in [[getattr(group, name) for group in groups]]
            }
            for groups in zip(*models, strict=True)
        }
    return {"command": COMMAND, "seeds": SEEDS, "passes": PASSES, "shares": shares}


if __name__ == "__main__":
    write_to(make, "Train the readers of facts again.")
