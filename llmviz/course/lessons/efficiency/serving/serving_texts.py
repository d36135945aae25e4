"""Several texts to one prompt, recorded: as samples, and as the beams of a search.

`python -m experiments make serving-texts` records both again, in a few seconds: the bundled story
model, one request. The result is `data/experiments/FILE`.
"""

from __future__ import annotations

from dataclasses import replace

from llmviz.course.lessons.efficiency.serving import serving_recording
from llmviz.course.lessons.efficiency.serving.serving_recording import Bundled
from llmviz.course.lessons.efficiency.serving.serving_run import Trial, runs_of, serving_run
from llmviz.paths import EXPERIMENT_FOLDER
from llmviz.serving.recording import Recording
from llmviz.serving.settings import ServingConfig
from llmviz.serving.workload import Workload

FILE = "serving_texts.json"
COMMAND = "python -m experiments make serving-texts"
WAYS = ("samples", "beams")
TRIAL = Trial(
    Workload(requests=1, arrival_rate=0, prompt_tokens=24, new_tokens=40, samples=4, seed=148),
    ServingConfig(max_batch=4, block_size=4, n_blocks=64),
    ("continuous", "continuous"),
)


def read() -> Bundled:
    """Return both runs, in the order of WAYS. Raises ValueError: they are missing or damaged."""
    return serving_recording.read(EXPERIMENT_FOLDER / FILE)


def blocks_at_once(recording: Recording) -> tuple[int, int]:
    """Return how many blocks the tables name at the tick where this is most, and how many blocks
    these are: without sharing, each name would be a block of its own.

    The first of the ticks where it is most; 0, 0 where there is none.
    """
    counts = [(sum(map(len, tick.blocks.values())), len(tick.owners)) for tick in recording.ticks]
    return max(counts, key=lambda pair: pair[0], default=(0, 0))


def main() -> None:
    """Record both runs and write the file."""
    trials = [
        replace(TRIAL, workload=replace(TRIAL.workload, beams=beams)) for beams in (False, True)
    ]
    runs = tuple(runs_of(trial, list(serving_run(trial)))[0] for trial in trials)
    serving_recording.write(TRIAL, runs, FILE, COMMAND)


if __name__ == "__main__":
    main()
