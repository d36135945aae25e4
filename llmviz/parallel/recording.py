"""The bundled record of runs of each method on two and on four processes. No torch to read it.

`python -m experiments make many-machines` makes it again, about a minute on two cores, and writes
`data/experiments/many-machines.json`.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from llmviz.parallel.outcome import Outcome
from llmviz.parallel.plan import ParallelPlan
from llmviz.paths import EXPERIMENT_FOLDER

FILE = EXPERIMENT_FOLDER / "many-machines.json"
COMMAND = "python -m experiments make many-machines"


def read(file: Path = FILE) -> tuple[Outcome, ...]:
    """Return the recorded runs. Raises ValueError where the file is missing or damaged."""
    try:
        plain = json.loads(file.read_text(encoding="utf-8"))
        runs = plain["runs"]
    except (OSError, KeyError, TypeError, json.JSONDecodeError) as error:
        raise ValueError(f"the record {file.name} cannot be read: {error}") from error
    return tuple(Outcome.from_json(run) for run in runs)


@cache
def recorded() -> dict[ParallelPlan, Outcome]:
    """Return the bundled runs by their plans; read once."""
    return {outcome.plan: outcome for outcome in read()}
