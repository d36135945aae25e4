"""Direct preference optimisation: learn from pairs which of two texts is the better one.

B pairs, T tokens, V vocabulary. π is the model in training, π₀ the one it began from.

Reference: Rafailov et al. 2023, "Direct Preference Optimization", eq. 7.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from llmviz.finetuning.masked import Scored, masked_batch
from llmviz.finetuning.preferences import Pair
from llmviz.models.base import LanguageModel
from llmviz.nn.loss import IGNORED
from llmviz.training.data import Epochs, end_id

BETA = 0.1  # as in the paper's experiments; a larger one keeps the model nearer to where it began


class DPOSteps(NamedTuple):
    """Every step of the loss, for B pairs; in nats, but for the probability."""

    gain_better: Tensor  # (B,) ln π − ln π₀ of the better text: how much likelier it became
    gain_worse: Tensor  # (B,) the same of the worse one
    margin: Tensor  # (B,) β times their difference
    probability: Tensor  # (B,) σ(margin), that the better one is preferred
    nats: Tensor  # (B,) minus its logarithm
    loss: Tensor  # () their mean


def dpo_steps(
    better: Tensor,
    worse: Tensor,
    reference_better: Tensor,
    reference_worse: Tensor,
    beta: float = BETA,
) -> DPOSteps:
    """−ln σ(β·((ln π(better) − ln π₀(better)) − (ln π(worse) − ln π₀(worse)))), step by step.

    The four arguments (B,) are log-probabilities of whole texts, in nats.
    At the start π is π₀, the margin 0, the probability a half and the loss ln 2.

    >>> zero = torch.zeros(1)
    >>> dpo_steps(zero, zero, zero, zero).loss
    tensor(0.6931)

    Raises ValueError for a β that is not above 0.
    """
    if not 0 < beta < float("inf"):
        raise ValueError(f"beta must be a number above 0; got {beta}")
    gain_better, gain_worse = better - reference_better, worse - reference_worse
    margin = beta * (gain_better - gain_worse)
    nats = -F.logsigmoid(margin)
    return DPOSteps(gain_better, gain_worse, margin, margin.sigmoid(), nats, nats.mean())


def text_log_probs(logits: Tensor, targets: Tensor) -> Tensor:
    """ln P of each row's scored tokens: logits (…, T, V), targets (…, T) with −1, to (…,)."""
    scored = targets != IGNORED
    log_p = logits.log_softmax(-1).gather(-1, targets.clamp(min=0)[..., None])[..., 0]
    return (log_p * scored).sum(-1)


class Preference(nn.Module):
    """A language model with the loss of DPO, as `train` calls it."""

    def __init__(self, model: LanguageModel, beta: float = BETA):
        super().__init__()
        self.model, self.beta = model, beta

    @property
    def context_length(self) -> int:
        """That of the model."""
        return self.model.context_length

    def steps(self, inputs: Tensor, reference: Tensor, targets: Tensor) -> DPOSteps:
        """inputs and targets (B, 2, T), better text first; reference (B, 2), from π₀."""
        logits = self.model(inputs.flatten(0, 1))[0]  # (2B, T, V)
        own = text_log_probs(logits, targets.flatten(0, 1)).view(-1, 2)  # (B, 2)
        (better, worse), (ours, theirs) = own.unbind(1), reference.unbind(1)
        return dpo_steps(better, worse, ours, theirs, self.beta)

    def forward(self, inputs: Tensor, reference: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
        """The margins (B,) and the loss in nats per pair."""
        steps = self.steps(inputs, reference, targets)
        return steps.margin, steps.loss


@dataclass(frozen=True)
class PairData:
    """Encoded pairs with the reference's log-probabilities, which are computed once.

    rows: (better, worse) token by token. reference: (N, 2).
    """

    rows: tuple[tuple[tuple[Scored, ...], tuple[Scored, ...]], ...]
    reference: Tensor
    held_out: tuple[tuple[tuple[Scored, ...], tuple[Scored, ...]], ...]
    held_out_reference: Tensor
    filler: int
    vocab_size: int
    context_length: int
    seed: int = 0

    @cached_property
    def _epochs(self) -> Epochs:
        return Epochs(len(self.rows), self.seed)

    def batch(self, step: int, rows: int) -> tuple[Tensor, Tensor, Tensor]:
        """The pairs of update `step` (from 1), each once an epoch."""
        return self._tensors(self.rows, self.reference, self._epochs.rows(step, rows))

    def validation_batches(self, rows: int, count: int) -> Iterator[tuple[Tensor, ...]]:
        """The first `count` batches (0 = all) of the held-out pairs."""
        parts = torch.arange(len(self.held_out)).split(rows)
        for part in parts[: count or None]:
            yield self._tensors(self.held_out, self.held_out_reference, part.numpy())

    def count(self, batch: tuple[Tensor, ...]) -> int:
        """How many pairs."""
        return len(batch[0])

    def _tensors(
        self, rows: Sequence[Any], reference: Tensor, chosen: np.ndarray
    ) -> tuple[Tensor, Tensor, Tensor]:
        flat = [text for i in chosen for text in rows[i]]
        inputs, targets = (batch.unflatten(0, (-1, 2)) for batch in masked_batch(flat, self.filler))
        return inputs, reference[torch.as_tensor(chosen)], targets


def pair_tokens(tokenizer: Any, pair: Pair) -> tuple[tuple[Scored, ...], tuple[Scored, ...]]:
    """Return the better and the worse text token by token; the endings count, the story not."""
    end = end_id(tokenizer)
    story = tuple(Scored(token, False) for token in tokenizer.encode_from_start(pair.story))
    both = ((*tokenizer.encode(f" {ending}"), end) for ending in (pair.better, pair.worse))
    better, worse = (story + tuple(Scored(token, True) for token in ids) for ids in both)
    return better, worse


def prepare_pairs(
    model: LanguageModel,
    tokenizer: Any,
    train: Sequence[Pair],
    held_out: Sequence[Pair],
    seed: int = 0,
) -> PairData:
    """Encode pairs and ask the model as it is now, π₀, for the probability of each text.

    Pairs longer than the context are left out. Raises ValueError where none is left.
    """
    end, most = end_id(tokenizer), model.context_length + 1
    parts, references = [], []
    for some in (train, held_out):
        encoded = [pair_tokens(tokenizer, pair) for pair in some]
        fitting = tuple(two for two in encoded if max(map(len, two)) <= most)
        if not fitting:
            raise ValueError(f"no pair fits into a context of {model.context_length}")
        parts.append(fitting)
        references.append(_reference(model, fitting, end))
    sizes = (end, tokenizer.vocab_size, model.context_length)
    return PairData(parts[0], references[0], parts[1], references[1], *sizes, seed)


@torch.no_grad()
def _reference(model: LanguageModel, rows: Sequence[Any], filler: int) -> Tensor:
    """ln π₀ of each text of the pairs, (N, 2)."""
    model.eval()
    log_probs = []
    for first in range(0, len(rows), 16):
        flat = [text for two in rows[first : first + 16] for text in two]
        inputs, targets = masked_batch(flat, filler)
        log_probs.append(text_log_probs(model(inputs)[0], targets).view(-1, 2))
    return torch.cat(log_probs)


@torch.no_grad()
def divergence(logits: Tensor, reference: Tensor, targets: Tensor) -> Tensor:
    """KL(π ‖ π₀) in nats per token: how far the model has moved, at the scored positions.

    logits, reference (…, T, V) on the same texts; targets (…, T) with −1 where not scored.
    It is the mean of Σ π·(ln π − ln π₀) over the vocabulary, and 0 where nothing has changed.
    """
    log_p, log_q = logits.log_softmax(-1), reference.log_softmax(-1)
    each = (log_p.exp() * (log_p - log_q)).sum(-1)  # (…, T)
    scored = targets != IGNORED
    return each[scored].mean()
