"""Several texts to one prompt, recorded: as samples, and as the beams of a search.

Makes what `llmviz.course.lessons.efficiency.serving.model` reads.
"""

from __future__ import annotations

from dataclasses import replace

from experiments.serving import write
from llmviz.course.lessons.efficiency.serving.model import (
    TEXTS_COMMAND,
    TEXTS_FILE,
    Trial,
    runs_of,
    serving_run,
)
from llmviz.serving.settings import ServingConfig
from llmviz.serving.workload import Workload

TRIAL = Trial(
    Workload(requests=1, arrival_rate=0, prompt_tokens=24, new_tokens=40, samples=4, seed=148),
    ServingConfig(max_batch=4, block_size=4, n_blocks=64),
    ("continuous", "continuous"),
)


def main() -> None:
    """Record both runs and write the file."""
    trials = [
        replace(TRIAL, workload=replace(TRIAL.workload, beams=beams)) for beams in (False, True)
    ]
    runs = tuple(runs_of(trial, list(serving_run(trial)))[0] for trial in trials)
    write(TRIAL, runs, TEXTS_FILE, TEXTS_COMMAND)


if __name__ == "__main__":
    main()
