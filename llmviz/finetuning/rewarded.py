"""A model that learns from rewards: sample, reward, compare, update, and once more.

P prompts, G samples of each, B = P·G texts, T tokens.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from llmviz.config import Config, setting
from llmviz.finetuning import policy
from llmviz.finetuning.rollouts import sample_groups

Prompt = Sequence[int]
Reward = Callable[[Prompt, Sequence[int]], float]  # of a prompt and what was written behind it


@dataclass(frozen=True)
class RewardConfig(Config):
    """How a model learns from rewards. Raises ValueError for a setting out of its range."""

    method: str = setting("grpo", "how rewards become updates", choices=policy.METHODS)
    updates: int = setting(80, "batches of samples that are learned from", "updates", 1, 10_000)
    prompts: int = setting(16, "prompts of an update", "prompts", 1, 1000)
    group: int = setting(8, "samples of each prompt", "samples", 1, 64)
    rate: float = setting(5e-4, "learning rate", "", 0.0)
    beta: float = setting(0.0, "how much a distance from the base costs", "reward per nat", 0.0)
    longest: int = setting(32, "tokens that are written at most", "tokens", 1)
    seed: int = setting(0, "of the samples")

    def __post_init__(self) -> None:
        self.require_one_of("method", policy.METHODS)
        self.require_positive("updates", "prompts", "group", "longest")
        self.require_above_zero("rate")
        self.require_not_negative("beta")
        if self.group == 1 and self.how.compares:
            raise ValueError(
                f"{self.method} compares the samples of a prompt with each other, so a group of "
                "one teaches nothing; take a group of 2 or more"
            )

    @property
    def how(self) -> policy.Method:
        """The method itself."""
        return policy.METHODS[self.method]

    def seed_of(self, step: int) -> int:
        """The seed of the samples of an update; no two samples of a run share a seed."""
        return (self.seed * 100_003 + step) * self.prompts * self.group


@dataclass(frozen=True)
class Update:
    """What an update found in the samples that it learned from, and what it did.

    divergence, entropy: nats per written token, before the update. clipped: the share of tokens
    whose ratio was beyond the clip in the last pass. flat: the share of groups whose rewards are
    all equal. gradient: its length in the first pass. first: the samples of the first prompt.
    """

    step: int
    reward: float
    divergence: float
    entropy: float
    length: float  # tokens of a text
    clipped: float
    flat: float
    gradient: float
    seconds: float  # so far
    first: tuple[tuple[int, ...], tuple[tuple[tuple[int, ...], float, float], ...]]


def frozen_copy(model: Any) -> Any:
    """Return a copy of a model that learns nothing."""
    return copy.deepcopy(model).eval().requires_grad_(False)


def log_probabilities(model: Any, written: policy.Written) -> torch.Tensor:
    """Return ln of the probability of every token at every place (B, T, V)."""
    return model(written.inputs)[0].log_softmax(-1)


def learn_from_rewards(
    model: Any,
    prompts: Callable[[int, int], Sequence[Prompt]],
    reward: Reward,
    end: int,
    config: RewardConfig,
) -> Iterator[Update]:
    """Train a model; yield what each update found.

    prompts: of an update's number, from 1, and how many are wanted, the prompts. end: the token
    that ends a text. Raises ValueError where a reward is no finite number.
    """
    base, how = frozen_copy(model), config.how
    optimizer = torch.optim.AdamW(model.parameters(), config.rate, weight_decay=0.0)
    begun = time.perf_counter()
    for step in range(1, config.updates + 1):
        drawn = prompts(step, config.prompts)
        model.eval()
        seed = config.seed_of(step)
        groups = sample_groups(model, drawn, config.group, config.longest, end, seed)
        rewards = torch.tensor(
            [
                [float(reward(prompt, text)) for text in group]
                for prompt, group in zip(drawn, groups, strict=True)
            ]
        )
        better = policy.advantages(rewards, how.advantage)  # (P, G)
        rows = [list(prompt) for prompt in drawn for _ in range(config.group)]
        written = policy.Written.of(rows, [text for group in groups for text in group], end)
        with torch.no_grad():
            reference = log_probabilities(base, written)
            before = log_probabilities(model, written)
        old, theirs = written.chosen(before), written.chosen(reference)
        length, clipped = 0.0, 0.0
        for number in range(how.passes):
            now = written.chosen(log_probabilities(model, written))
            steps = policy.policy_steps(
                now, old, theirs, better.flatten(), written.mask, how, config.beta
            )
            optimizer.zero_grad()
            steps.loss.backward()
            size = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            length = length if number else float(size)
            clipped = float((steps.ratio != steps.clipped).sum() / written.mask.sum())
            optimizer.step()
        stands = policy.distances(before, reference, written)
        yield Update(
            step,
            float(rewards.mean()),
            stands.divergence,
            stands.entropy,
            float(written.mask.sum(1).float().mean()),
            clipped,
            float((rewards.amax(1) == rewards.amin(1)).float().mean()),
            length,
            time.perf_counter() - begun,
            (
                tuple(drawn[0]),
                tuple(
                    (tuple(text), float(paid), float(gained))
                    for text, paid, gained in zip(groups[0], rewards[0], better[0], strict=True)
                ),
            ),
        )
