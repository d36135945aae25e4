"""The story model and the reward model that began as it, the same objects for all visitors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llmviz.course.lessons.reasoning.preference.preference_model import reward_model
from llmviz.course.ui import engine, kit
from llmviz.finetuning.plan import BASE

if TYPE_CHECKING:
    from llmviz.models.gpt import GPT


@kit.cached(1)
def reward() -> GPT:
    """Return the bundled reward model. Raises ValueError where it is missing or damaged."""
    return reward_model(engine.load(BASE).model)


def tokenizer() -> Any:
    return engine.load(BASE).tokenizer
