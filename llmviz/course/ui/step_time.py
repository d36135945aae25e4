"""How long a step of a run takes on this server: measured, or estimated from what was measured."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

from llmviz.course.ui import runs
from llmviz.training.config import Plan
from llmviz.training.references import SAMPLE
from llmviz.training.throughput import Throughput, kind_of, predict_seconds, work

MEASURED, ESTIMATED = "measured", "estimated"
MEASURING, BUSY, UNKNOWN = "measuring", "busy", "unknown"
_MEASURED: dict[Any, Throughput] = {}  # what this server's processes have timed, by kind and work


class StepTime(NamedTuple):
    """What is known of the time of a step, and how. line: why it cannot be measured."""

    how: str
    seconds: float | None = None
    line: str = ""


def step_time(plan: Plan, parameters: int, vocab_size: int | None = None) -> StepTime:
    """Return how long a step of a plan takes; while it is being measured, ask again.

    Where no process is free to measure it, it is estimated from a plan of its kind that was
    measured, or trains now.
    parameters: of the model. vocab_size: for a plan whose corpus only the page has.
    """
    manager = runs.manager()
    # A step takes as long however many follow; the corpus is cut down to be read quickly.
    without = ("warmup_steps", "seed", "eval_every", "sample_every", "patience")
    plain: dict[str, Any] = {**dict.fromkeys(without, 0), "steps": 1000, "log_every": 1}
    timed = dataclasses.replace(plan, train=dataclasses.replace(plan.train, **plain))
    if plan.corpus == "tiny-world":
        timed = dataclasses.replace(timed, corpus=SAMPLE, characters=None)
    known = manager.step_time(timed, vocab_size)
    if known is None and manager.training < manager.limit:
        return StepTime(MEASURING)
    if known is None:
        paces = [*_MEASURED.values(), *manager.paces()]
        seconds = predict_seconds(plan, parameters, paces)
        return StepTime(BUSY if seconds is None else ESTIMATED, seconds)
    seconds, line = known
    if seconds is None:
        return StepTime(UNKNOWN, line=line)
    pace = Throughput(kind_of(plan), work(plan, parameters), seconds)
    _MEASURED[pace.kind, pace.work] = pace
    return StepTime(MEASURED, seconds)
