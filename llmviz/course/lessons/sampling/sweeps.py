"""The sliders of the pipeline with what every stop leads to, kept for all visitors."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from llmviz.course.components.sampler.view import Control
from llmviz.course.lessons.sampling.source import Prompted, logits_after
from llmviz.course.ui import engine, kit
from llmviz.sampling import kind_of
from llmviz.sampling.sweeps import Sweeps, steps_with_column, stops, sweep_all


def control(
    name: str,
    prompt: Prompted,
    settings: dict[str, Any],
    ids: np.ndarray,
    u: float,
    there: Sequence[str] | None = None,
) -> Control:
    """Return one control with what every stop of its slider leads to.

    there: the steps that have a column, in their order, where others that change nothing have none.
    Raises ValueError: a present setting is out of its range.
    """
    values = stops(name, settings[name], prompt.logits.size)
    others = tuple((other, value) for other, value in settings.items() if other != name)
    found = swept(prompt.bundled, prompt.ids, name, tuple(values), others, tuple(ids.tolist()), u)
    if there is not None:
        known = steps_with_column(settings)
        found = found.of_columns([0, *(1 + known.index(step) for step in there)])
    return Control(
        name=name,
        values=values,
        texts=[kind_of(name).text_of(value) for value in values],
        at=values.index(settings[name]),
        sweeps=found,
    )


@kit.cached(320)  # some 30 kB each
def swept(
    bundled: engine.Bundled,
    ids: tuple[int, ...],
    name: str,
    values: tuple[Any, ...],
    others: tuple[tuple[str, Any], ...],
    bars: tuple[int, ...],
    u: float,
) -> Sweeps:
    """Return what every stop of a slider leads to; it does not depend on where the slider stands.

    So the slider that a hand moves has its stops already, and the others alone get new ones.
    """
    settings = [dict(others) | {name: value} for value in values]
    logits = logits_after(bundled, ids)
    return sweep_all(settings, logits, ids, np.array(bars, dtype=np.int64), u)
