"""Several texts to one prompt, recorded: as samples, and as the beams of a search.

`python -m experiments make serving-texts` records both again, in a few seconds: the bundled story
model, one request. The result is `data/experiments/FILE`.
"""

from __future__ import annotations

from llmviz.course.lessons.efficiency.serving import serving_recording
from llmviz.course.lessons.efficiency.serving.serving_recording import Bundled
from llmviz.paths import EXPERIMENT_FOLDER
from llmviz.serving.recording import Recording

FILE = "serving_texts.json"
COMMAND = "python -m experiments make serving-texts"
WAYS = ("samples", "beams")


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
