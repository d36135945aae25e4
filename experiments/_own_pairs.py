"""Direct preference optimisation on a model's own samples, a better and a worse of each prompt."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from llmviz.finetuning import rewarded
from llmviz.finetuning.dpo import dpo_steps
from llmviz.finetuning.policy import Written
from llmviz.finetuning.rollouts import sample_groups


@dataclass(frozen=True)
class PairUpdate:
    """What an update found: its pairs, their mean margin and loss (nats a pair)."""

    step: int
    pairs: int
    margin: float
    loss: float


def learn_from_own_pairs(
    model: Any,
    prompts: Callable[[int, int], Sequence[rewarded.Prompt]],
    reward: rewarded.Reward,
    end: int,
    config: rewarded.RewardConfig,
    beta: float,
) -> Iterator[PairUpdate]:
    """Train a model on pairs of samples that the base wrote; yield what each update found.

    The base writes the samples that a run with rewards would begin with: the same prompts, the same
    seeds. Of each group the sample with the highest reward is the better one and that with the
    lowest is the worse one, drawn where there are several. A group of equal rewards gives no pair.
    beta: of DPO.
    """
    base = rewarded.frozen_copy(model)
    optimizer = torch.optim.AdamW(model.parameters(), config.rate, weight_decay=0.0)
    model.eval()
    for step in range(1, config.updates + 1):
        drawn = prompts(step, config.prompts)
        seed = config.seed_of(step)
        groups = sample_groups(base, drawn, config.group, config.longest, end, seed)
        chance = random.Random(seed)
        rows, texts = [], []
        for prompt, group in zip(drawn, groups, strict=True):
            paid = [float(reward(prompt, text)) for text in group]
            if max(paid) > min(paid):
                for wanted in (max(paid), min(paid)):
                    same = [text for text, pay in zip(group, paid, strict=True) if pay == wanted]
                    rows.append(list(prompt))
                    texts.append(chance.choice(same))
        if not rows:
            yield PairUpdate(step, 0, 0.0, 0.0)
            continue
        written = Written.of(rows, texts, end)
        now = written.chosen(rewarded.log_probabilities(model, written)).sum(1).view(-1, 2)
        with torch.no_grad():
            theirs = written.chosen(rewarded.log_probabilities(base, written)).sum(1).view(-1, 2)
        steps = dpo_steps(now[:, 0], now[:, 1], theirs[:, 0], theirs[:, 1], beta)
        optimizer.zero_grad()
        steps.loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        margin, loss = steps.margin.detach().mean(), steps.loss.detach()
        yield PairUpdate(step, len(now), float(margin), float(loss))
