"""The nine models as this chapter needs them: what they give a name, and their measures."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from llmviz.course.ui import engine, kit
from llmviz.evaluation.nine_models import (
    COUNTED,
    NINE,
    chances_by_counts,
    chances_by_model,
    count_names,
    reach,
)
from llmviz.training.curves import CurveFile
from llmviz.training.reading import read_description


@dataclass(frozen=True)
class Measured:
    """One of the nine: its loss on held-out names in nats per letter, and what it costs."""

    key: str
    loss: float
    parameters: int
    seconds: float
    train_rate: float
    context: int
    steps: int


counted = kit.kept(len(COUNTED))(count_names)


def chances(key: str, name: str) -> np.ndarray:
    """Return the probability of each letter of a name and of its end, (T,)."""
    if key in COUNTED:
        return chances_by_counts(counted(key), name)
    bundled = engine.load(key)
    return chances_by_model(bundled.model, bundled.tokenizer, name)


@kit.kept(1)
def measures() -> tuple[Measured, ...]:
    """Return the measures of all nine; those of trained models from the runs that made them."""
    return tuple(_of_counts(key) if key in COUNTED else _of_run(key) for key in NINE)


def _of_counts(key: str) -> Measured:
    table = counted(key)
    letters = table.grams.letters
    seconds = max(table.seconds, 1e-6)
    context = reach(partial(chances, key))
    return Measured(key, table.loss, table.stored, seconds, letters / seconds, context, 0)


def _of_run(key: str) -> Measured:
    folder = engine.CHECKPOINTS / key
    description, curve = read_description(folder), CurveFile(folder).read()
    seconds = float(curve.seconds[-1])
    return Measured(
        key,
        float(curve.last_validation or np.nan),
        description["parameters"],
        seconds,
        float(curve.tokens[-1]) / seconds,
        reach(partial(chances, key)),
        int(curve.steps[-1]),
    )
