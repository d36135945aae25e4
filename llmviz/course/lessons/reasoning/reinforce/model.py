"""One group of samples and one update from it, down to each token: before, after, and what pulled.

G samples; T tokens of a sample.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from llmviz.course.lessons.reasoning.reward_runs import RATE, config_of, right_reward
from llmviz.course.lessons.reasoning.sum_texts import END, LONGEST, Sum, decode, encode, question_of

MOST = 16  # samples of a group


@dataclass(frozen=True)
class Sample:
    """A written text: its reward, its advantage, and numbers of each of its tokens, (T,).

    before, after: ln of the token's probability before and after the update. pull: how much the
    loss falls, at the beginning, where ln of this token's probability grows by 1.
    """

    text: str
    reward: float
    advantage: float
    before: np.ndarray
    after: np.ndarray
    pull: np.ndarray

    @property
    def times(self) -> float:
        """How many times as probable the whole text is after the update."""
        return float(np.exp((self.after - self.before).sum()))


@dataclass(frozen=True)
class Group:
    """The samples of one question, and how the update from them was made."""

    numbers: Sum
    way: str
    clip: float | None
    passes: int
    samples: tuple[Sample, ...]

    @property
    def rewards(self) -> np.ndarray:
        """Of each sample, (G,)."""
        return np.array([sample.reward for sample in self.samples])

    @property
    def flat(self) -> bool:
        """Whether all rewards are equal."""
        return len(set(self.rewards.tolist())) == 1


def group_update(
    model: Any, numbers: Sum, way: str, group: int, seed: int = 0, rate: float = RATE
) -> Group:
    """Let a copy of a model write a group of answers and learn from it as a way of METHODS does.

    Raises ValueError for numbers that do not have two digits, for a way that is not there, and for
    a group of one where samples are compared.
    """
    import torch

    from llmviz.finetuning.policy import Written, advantages, policy_steps
    from llmviz.finetuning.rewarded import log_probabilities
    from llmviz.finetuning.rollouts import sample_groups

    config, prompt = config_of(way, group=group, prompts=1), encode(question_of(numbers))
    how, learner = config.how, copy.deepcopy(model).eval()
    (texts,) = sample_groups(learner, [prompt], group, LONGEST, END, seed * MOST)
    paid = torch.tensor([[right_reward(prompt, ids) for ids in texts]])
    better = advantages(paid, how.advantage)[0]
    written = Written.of([prompt] * group, texts, END)
    optimizer = torch.optim.AdamW(learner.parameters(), rate, weight_decay=0.0)
    old = pull = torch.empty(0)
    for number in range(how.passes):
        now = written.chosen(log_probabilities(learner, written))
        if not number:
            old = now.detach()
            now.retain_grad()
        policy_steps(now, old, old, better, written.mask, how).loss.backward()
        if not number:
            assert now.grad is not None
            pull = -now.grad
        torch.nn.utils.clip_grad_norm_(learner.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
    with torch.no_grad():
        after = written.chosen(log_probabilities(learner, written))
    first = len(prompt) - 1
    samples = []
    for row, ids in enumerate(texts):
        places = slice(first, first + len(ids))
        parts = [part[row, places].double().numpy() for part in (old, after, pull)]
        samples.append(Sample(decode(ids), float(paid[0, row]), float(better[row]), *parts))
    return Group(numbers, way, how.clip, how.passes, tuple(samples))
