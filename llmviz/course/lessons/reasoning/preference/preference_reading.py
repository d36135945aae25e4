"""Two endings of one story as the reward model reads them: a reward after each token."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from llmviz.course.lessons.reasoning.preference.preference_model import LONGEST

if TYPE_CHECKING:
    from llmviz.models.gpt import GPT
    from llmviz.tokenizers import Token


@dataclass(frozen=True)
class Reading:
    """An ending: its T tokens as far as they are read, and what the model makes of them.

    rewards (T + 1,): of the story alone, and after each token.
    """

    tokens: tuple[Token, ...]
    rewards: np.ndarray

    @property
    def reward(self) -> float:
        return float(self.rewards[-1])


def readings(model: GPT, tokenizer: Any, story: str, endings: tuple[str, ...]) -> list[Reading]:
    """Read endings of a story; of a long ending the first LONGEST tokens."""
    from llmviz.finetuning.reward_model import Endings

    rewards = Endings(model, tokenizer, story, LONGEST).token_rewards(endings)
    found = []
    for ending, own in zip(endings, rewards, strict=True):
        tokens = tokenizer.tokens(f" {ending}" if ending else "")[: len(own) - 1]
        found.append(Reading(tuple(tokens), own.numpy()))
    return found
