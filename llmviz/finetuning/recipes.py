"""How the bundled adapters are made: one plan each."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from llmviz.finetuning.plan import INSTRUCTIONS, RULES, TuningPlan
from llmviz.training.config import TrainConfig


@dataclass(frozen=True)
class TuningRecipe:
    """What an adapter is for, and the plan that makes it."""

    description: str
    plan: TuningPlan


def _training(**changes: Any) -> TrainConfig:
    usual = {"learning_rate": 3e-3, "min_lr": 3e-5, "eval_every": 200, "log_every": 10}
    return dataclasses.replace(TuningPlan().train, **{**usual, **changes})


_INSTRUCTIONS = TuningPlan(
    task=INSTRUCTIONS,
    rank=8,
    alpha=16.0,
    examples=8000,
    test_examples=300,
    mix=0.2,
    train=_training(steps=240, batch_size=12, eval_batches=4, checkpoint_every=40),
)

TUNINGS: dict[str, TuningRecipe] = {
    "few-shot": TuningRecipe(
        "the story model, taught to read a rule out of the examples in its prompt",
        TuningPlan(
            task=RULES,
            rank=8,
            alpha=16.0,
            examples=20_000,
            test_examples=400,
            train=_training(steps=1000, eval_batches=4, checkpoint_every=200),
        ),
    ),
    "instructions": TuningRecipe(
        "the story model, taught to answer questions about a story", _INSTRUCTIONS
    ),
    "instructions-alone": TuningRecipe(
        "the same questions without plain stories among them, which shows what is then forgotten",
        dataclasses.replace(_INSTRUCTIONS, mix=0.0),
    ),
}
