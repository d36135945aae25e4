"""Word2vec: skip-gram with negative sampling. A word's vector is what predicts its neighbours.

V vocabulary, C = n_embd, P pairs, K negatives for each pair.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch.nn.functional as F
from torch import Tensor, nn

from llmviz.models.base import LanguageModel
from llmviz.models.settings import SkipGramConfig
from llmviz.trace import Tap


class SkipGramScores(NamedTuple):
    """How well each center goes with its neighbour, and with random words."""

    positive: Tensor  # (P,)
    negative: Tensor  # (P, K)


class SkipGram(LanguageModel):
    """Two tables of vectors: `word`, which is kept, and `neighbour`, which is predicted with.

    An exception to the models' contract: `forward` takes pairs and gives scores.
    Taps: word, neighbour, positive, negative.

    Reference: Mikolov et al. 2013, "Distributed Representations of Words and Phrases", eq. 4.
    """

    config: SkipGramConfig

    def __init__(self, config: SkipGramConfig):
        super().__init__(config)
        self.word = nn.Embedding(config.vocab_size, config.n_embd)
        self.neighbour = nn.Embedding(config.vocab_size, config.n_embd)
        nn.init.uniform_(self.word.weight, -0.5 / config.n_embd, 0.5 / config.n_embd)
        nn.init.zeros_(self.neighbour.weight)
        self.tap_word, self.tap_neighbour = Tap("word"), Tap("neighbour")
        self.tap_positive, self.tap_negative = Tap("positive"), Tap("negative")
        self.finish()

    def forward(
        self, centers: Tensor, neighbours: Tensor, negatives: Tensor
    ) -> tuple[SkipGramScores, Tensor]:
        """Scores of pairs (P,), (P,) against random words (P, K), and the mean loss of a pair.

        loss = −log σ(w·n) − Σ_k log σ(−w·n_k), in nats. Raises ValueError for unknown ids.
        """
        try:
            w = self.tap_word(self.word(centers))  # (P, C)
            n = self.tap_neighbour(self.neighbour(neighbours))  # (P, C)
            k = self.neighbour(negatives)  # (P, K, C)
        except IndexError as error:
            last = self.config.vocab_size - 1
            raise ValueError(f"word ids must be from 0 to {last}") from error
        positive = self.tap_positive((w * n).sum(-1))
        negative = self.tap_negative((k @ w[..., None]).squeeze(-1))
        loss = -F.logsigmoid(positive).mean() - F.logsigmoid(-negative).sum(-1).mean()
        return SkipGramScores(positive, negative), loss

    def vectors(self) -> np.ndarray:
        """A copy of the word vectors, (V, C) float32."""
        return self.word.weight.detach().numpy().copy()


def skip_gram_pairs(
    ids: Sequence[int] | np.ndarray, window: int | Sequence[int] | np.ndarray
) -> np.ndarray:
    """All (center, neighbour) positions of one text, in reading order: (P, 2).

    window: reach to either side, one number, or one for each center.

    >>> skip_gram_pairs([7, 8, 9], 1).tolist()
    [[0, 1], [1, 0], [1, 2], [2, 1]]
    """
    t = len(ids)
    reach = np.broadcast_to(np.asarray(window), t)
    if t and reach.min() < 1:
        raise ValueError(f"window must be at least 1 word; got {reach.min()}")
    most = min(int(reach.max()), t - 1) if t else 0
    offsets = np.array([d for d in range(-most, most + 1) if d], dtype=np.int64)
    centers = np.repeat(np.arange(t), len(offsets))
    neighbours = centers + np.tile(offsets, t)
    inside = (neighbours >= 0) & (neighbours < t) & (abs(neighbours - centers) <= reach[centers])
    return np.stack((centers[inside], neighbours[inside]), axis=1)


def negative_probabilities(counts: np.ndarray, power: float = 0.75) -> np.ndarray:
    """How often each word is drawn as a negative: its count to the power, normalized, (V,).

    Reference: Mikolov et al. 2013, section 2.2.
    """
    weights = np.asarray(counts, dtype=np.float64) ** power
    weights[np.asarray(counts) == 0] = 0.0
    return weights / weights.sum()


def keep_probabilities(counts: np.ndarray, threshold: float = 1e-3) -> np.ndarray:
    """How often an occurrence of each word is used: frequent words are thinned out, (V,).

    threshold: frequency from which a word is thinned; 0 keeps all.

    Reference: Mikolov et al. 2013, eq. 5. Deviation: √(t/f) + t/f, as in the published program.
    """
    frequency = np.asarray(counts, dtype=np.float64) / max(1, np.sum(counts))
    if threshold <= 0:
        return np.ones_like(frequency)
    ratio = threshold / np.maximum(frequency, np.finfo(float).tiny)
    return np.minimum(1.0, np.sqrt(ratio) + ratio)
