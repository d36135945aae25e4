"""What a calculator is worth to a small model: twelve trainings, measured.

`python -m experiments make tools` trains the models again, three in each way, and writes
`data/experiments/tools/`: `record.json`, and the first model of three ways, `WAY.safetensors` in
float16. Each model is kept in a folder beside it until all are there, so it goes on where it was
stopped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from llmviz import records
from llmviz.course.lessons.reasoning.tools import tool_texts
from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.training import small_models
from llmviz.training.measures import Share

if TYPE_CHECKING:
    from llmviz.models.gpt import GPT

COMMAND = "python -m experiments make tools"
FOLDER, FILE = EXPERIMENT_FOLDER / "tools", "record.json"
BUNDLED = (tool_texts.DIRECT, tool_texts.TOOL, tool_texts.DOUBT)
SEEDS = (0, 1, 2)
SUM, PRODUCT, CHAIN, LONGER = "sum", "product", "chain", "longer"
DIGITS = (1, 2, 3, 4, 5, 6)
TESTS = 100  # questions of each task and number of digits
IN_CALL, IN_COPY, IN_HEAD, IN_FORM = "call", "copy", "head", "form"


@dataclass(frozen=True)
class Measured:
    """One model.

    loss: of the last hundred steps. right: by task and digits. causes: of wrong answers, likewise.
    asked: what its answers are, of KINDS, to questions as in the training that were kept apart.
    told: the same for questions with one step, by lie, and with the honest tool. invented: right
    results, where the model writes on behind its call itself; numbers: how many of them are a
    number at all.
    """

    way: str
    seed: int
    loss: float
    seconds: float
    right: dict[str, dict[int, Share]]
    causes: dict[str, dict[int, dict[str, int]]]
    asked: dict[str, int]
    told: dict[str, dict[str, int]]
    invented: Share | None
    numbers: int


@cache
def recorded(folder: Path = FOLDER) -> dict[str, list[Measured]]:
    """Return the bundled results, three models for each way. ValueError: missing or damaged."""
    found: dict[str, list[Measured]] = {way: [] for way in tool_texts.WAYS}
    with records.Recorded(folder / FILE, COMMAND) as content:
        for model in records.typed(content["models"], list[Measured]):
            found[model.way].append(model)
        if any(len(models) != len(SEEDS) for models in found.values()):
            raise ValueError("a model is missing")
    return found


@cache
def bundled(way: str, folder: Path = FOLDER) -> GPT:
    """Return the first model of a way of BUNDLED. Raises ValueError where it is missing."""
    return small_models.read_weights(
        folder / f"{way}.safetensors", COMMAND, lambda _: tool_texts.new_model()
    )


def together(shares: Sequence[Share]) -> Share:
    return Share(sum(share.right for share in shares), sum(share.count for share in shares))


def share_of(answers: dict[str, int], *kinds: str) -> Share:
    """Return how many answers are of some kinds."""
    return Share(sum(answers.get(kind, 0) for kind in kinds), sum(answers.values()))
