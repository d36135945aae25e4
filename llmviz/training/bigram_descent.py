"""A real language model that is small enough to be trained at many learning rates at once.

One layer of 27 × 27 logits on the letter pairs of 32,033 names, all of them in every step. The
lowest loss it can have is known: that of the counted bigram.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class BigramLoss:
    """Loss and gradient of the logits (…, V·V) of a bigram on counted pairs, in nats per pair."""

    counts: Tensor  # (V, V) how often column followed row

    @property
    def floor(self) -> float:
        """The loss of the bigram that was counted on these pairs: no logits do better."""
        shares = self.counts / self.counts.sum(1, keepdim=True).clamp(min=1)
        seen = self.counts > 0
        return -float((self.counts[seen] * shares[seen].log()).sum() / self.counts.sum())

    def start(self) -> Tensor:
        """Logits of zero, (V·V,): every letter as likely as any other."""
        return torch.zeros(self.counts.numel(), dtype=torch.float64)

    def height(self, w: Tensor) -> Tensor:
        """Mean −ln p of the pairs, (…,)."""
        log_p = self._square(w).log_softmax(-1)
        return -(log_p * self.counts).sum((-1, -2)) / self.counts.sum()

    def gradient(self, w: Tensor, step: int = 0) -> Tensor:
        """(how often the row came) × (its probabilities − its shares), over all pairs, (…, V·V)."""
        p = self._square(w).softmax(-1)
        rows = self.counts.sum(1, keepdim=True)
        return ((rows * p - self.counts) / self.counts.sum()).flatten(-2)

    def _square(self, w: Tensor) -> Tensor:
        return w.unflatten(-1, self.counts.shape)


def names_bigram() -> BigramLoss:
    """The bigram of the bundled letter pairs."""
    from llmviz.corpus import letter_pair_counts

    return BigramLoss(torch.from_numpy(letter_pair_counts()).to(torch.float64))
