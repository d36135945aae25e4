"""Learning from rewards: advantages of groups, the clipped ratio, the penalty, step by step.

P prompts, G samples of each prompt (its group), B = P·G texts, T tokens.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from llmviz.finetuning.dpo import divergence
from llmviz.nn.loss import IGNORED

PLAIN, OTHERS, GROUP = "plain", "others", "group"
ADVANTAGES = (PLAIN, OTHERS, GROUP)
"""What a reward is compared with: with nothing; with the mean of the others of its group; or with
the mean of its group, in units of the group's standard deviation."""
TEXT, TOKENS, EACH = "text", "tokens", "each"
AVERAGES = (TEXT, TOKENS, EACH)
"""How the terms of tokens are put together: summed in each text, and the mean over texts; the mean
over all tokens; or the mean in each text, and the mean over texts."""
SMALL = 1e-4  # added to a group's standard deviation, which may be 0


@dataclass(frozen=True)
class Method:
    """What makes a way to learn from rewards.

    advantage: of ADVANTAGES. average: of AVERAGES. clip: how far the ratio may go from 1 before
    more brings nothing; None: any. passes: updates of the weights with the same samples.
    """

    advantage: str
    average: str
    clip: float | None = None
    passes: int = 1

    @property
    def compares(self) -> bool:
        """Whether a sample needs others of its group."""
        return self.advantage != PLAIN


METHODS = {
    "reinforce": Method(PLAIN, TEXT),
    "baseline": Method(OTHERS, TEXT),
    "ppo": Method(OTHERS, TOKENS, 0.2, 3),
    "grpo": Method(GROUP, EACH, 0.2, 3),
}
"""REINFORCE without and with a baseline (Williams 1992; the mean of the others: Kool et al. 2019,
"Buy 4 REINFORCE Samples, Get a Baseline for Free!"), PPO's clipped ratio (Schulman et al. 2017,
equation 7; the baseline is that of the others here, where they train a second network for it), and
GRPO (Shao et al. 2024, "DeepSeekMath", equations 3 and 4)."""


def advantages(rewards: Tensor, kind: str) -> Tensor:
    """Return the advantage of each sample, (P, G), from rewards (P, G).

    Where all rewards of a group are equal, a comparison gives 0. Raises ValueError for a kind that
    is not in ADVANTAGES, for rewards that are no finite numbers, and for groups of one, where there
    is nothing to compare with.

    >>> advantages(torch.tensor([[1.0, 0.0, 0.0]]), "others").round(decimals=3).tolist()
    [[1.0, -0.5, -0.5]]
    """
    if kind not in ADVANTAGES:
        raise ValueError(f"advantage must be one of {', '.join(ADVANTAGES)}; got {kind!r}")
    if not rewards.isfinite().all():
        raise ValueError("rewards must be finite numbers")
    if kind == PLAIN:
        return rewards
    count = rewards.shape[1]
    if count < 2:
        raise ValueError("a group of one has no other sample to compare with; take at least 2")
    mean = rewards.mean(1, keepdim=True)
    # Equal rewards are compared as equal, though their mean may be rounded.
    flat = rewards.amax(1, keepdim=True) == rewards.amin(1, keepdim=True)
    apart = (rewards - mean).masked_fill(flat, 0.0)
    if kind == OTHERS:  # r − (sum − r) / (G − 1) = (r − mean) · G / (G − 1)
        return apart * (count / (count - 1))
    return apart / (rewards.std(1, keepdim=True).masked_fill(flat, 0.0) + SMALL)


class PolicySteps(NamedTuple):
    """Every step of the loss, (B, T); 0 where no token was written.

    ratio: π(token) by the policy that wrote it. gain: what the loss asks to make large. penalty: an
    unbiased estimate of KL(π ‖ π₀) at the token, never below 0 (Schulman 2020, "Approximating KL
    Divergence"). terms: −gain + β · penalty.
    """

    ratio: Tensor
    clipped: Tensor
    gain: Tensor
    penalty: Tensor
    terms: Tensor
    loss: Tensor


def policy_steps(
    log_p: Tensor,
    old: Tensor,
    reference: Tensor,
    advantage: Tensor,
    written: Tensor,
    method: Method,
    beta: float = 0.0,
) -> PolicySteps:
    """Return the steps of the loss of B texts.

    log_p, old, reference: ln of the probability of each token by the policy in training, by the one
    that wrote the texts, and by the base, (B, T). advantage: (B,). written: (B, T), True where the
    policy wrote the token. beta: of the penalty.
    """
    weight = advantage[:, None]
    ratio = (log_p - old).exp()
    clipped = ratio if method.clip is None else ratio.clamp(1 - method.clip, 1 + method.clip)
    gain = torch.minimum(ratio * weight, clipped * weight)
    apart = reference - log_p
    penalty = apart.exp() - apart - 1
    terms = (beta * penalty - gain) * written
    ratio, clipped, gain, penalty = (term * written for term in (ratio, clipped, gain, penalty))
    return PolicySteps(
        ratio, clipped, gain, penalty, terms, averaged(terms, written, method.average)
    )


def averaged(terms: Tensor, written: Tensor, average: str) -> Tensor:
    """Return one number of terms (B, T), which are 0 where nothing was written."""
    if average == TOKENS:
        return terms.sum() / written.sum()
    if average == EACH:
        return (terms.sum(1) / written.sum(1)).mean()
    return terms.sum(1).mean()


class Written(NamedTuple):
    """Texts that a model wrote, as tensors: inputs (B, T), and targets with −1 for the prompt."""

    inputs: Tensor
    targets: Tensor

    @property
    def mask(self) -> Tensor:
        """(B, T), True where the model wrote the token."""
        return self.targets != IGNORED

    @classmethod
    def of(cls, prompts: list[list[int]], written: list[list[int]], filler: int) -> Written:
        """Put prompts and what was written behind them into rows of the same length."""
        longest = max(len(a) + len(b) for a, b in zip(prompts, written, strict=True)) - 1
        inputs = torch.full((len(prompts), longest), filler)
        targets = torch.full((len(prompts), longest), IGNORED)
        for row, (prompt, behind) in enumerate(zip(prompts, written, strict=True)):
            text = torch.tensor([*prompt, *behind])
            inputs[row, : len(text) - 1] = text[:-1]
            targets[row, len(prompt) - 1 : len(text) - 1] = text[len(prompt) :]
        return cls(inputs, targets)

    def chosen(self, log_p: Tensor) -> Tensor:
        """Of log-probabilities (B, T, V), that of each written token (B, T); 0 elsewhere."""
        ids = self.targets.clamp(min=0)[..., None]
        return log_p.gather(-1, ids)[..., 0] * self.mask


class Distances(NamedTuple):
    """How the policy stands at the places where it wrote: nats per token."""

    divergence: float  # KL(π ‖ π₀)
    entropy: float


@torch.no_grad()
def distances(log_p: Tensor, reference: Tensor, written: Written) -> Distances:
    """Return how far a policy is from the base and how open it is; both (B, T, V), in ln."""
    entropy = -(log_p.exp() * log_p).sum(-1)[written.mask].mean()
    return Distances(float(divergence(log_p, reference, written.targets)), float(entropy))
