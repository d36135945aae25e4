"""Two endings of one story as the reward model reads them: a reward after each token."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from llmviz.course.lessons.reasoning.preference.preference_model import LONGEST

if TYPE_CHECKING:
    from llmviz.models.gpt import GPT
    from llmviz.tokenizers import Token


@dataclass(frozen=True)
class Reading:
    """An ending: its T tokens as far as they are read, and what the model makes of them.

    rewards (T + 1,): of the story alone, and after each token. hidden (C,): what the last norm
    gives at the last token, which the head multiplies by its weights.
    """

    tokens: tuple[Token, ...]
    rewards: np.ndarray
    hidden: np.ndarray

    @property
    def reward(self) -> float:
        """The reward of the story with the ending."""
        return float(self.rewards[-1])


class PairNumbers(NamedTuple):
    """The loss of one pair as the page shows it; see `pair_steps`. gradient: of both rewards."""

    difference: float
    probability: float
    nats: float
    pull: float
    gradient: tuple[float, float]


def readings(model: GPT, tokenizer: Any, story: str, endings: tuple[str, ...]) -> list[Reading]:
    """Read endings of a story; of a long ending the first LONGEST tokens."""
    from llmviz.finetuning.reward_model import Endings
    from llmviz.trace import record

    reader = Endings(model, tokenizer, story, LONGEST)
    with record("norm_final") as trace:
        rewards = reader.token_rewards(endings)
    hidden = trace["norm_final"]
    found = []
    for at, (ending, own) in enumerate(zip(endings, rewards, strict=True)):
        tokens = tokenizer.tokens(f" {ending}" if ending else "")[: len(own) - 1]
        found.append(Reading(tuple(tokens), own.numpy(), hidden[at, len(own) - 1].numpy()))
    return found


def pair_numbers(rewards: tuple[float, float], preferred: int) -> PairNumbers:
    """Return the steps of the loss of a pair of which number `preferred` (0 or 1) is preferred."""
    import torch

    from llmviz.finetuning.reward_model import pair_steps

    own, other = rewards[preferred], rewards[1 - preferred]
    steps = pair_steps(*(torch.tensor([reward], dtype=torch.float64) for reward in (own, other)))
    difference, probability, nats, pull = (float(step[0]) for step in (*steps[:3], steps.pull))
    gradient = (-pull, pull) if preferred == 0 else (pull, -pull)
    return PairNumbers(difference, probability, nats, pull, gradient)
