"""Batches for word2vec: pairs of words that stand near each other, and random words beside them.

B rows of text, T words in a row, P pairs, K = negatives, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from llmviz.models import word2vec
from llmviz.training.derived_data import DerivedData

Pairs = tuple[Tensor, Tensor, Tensor]
# What a batch's randomness is for, beside (seed, step).
TRAINING, VALIDATION = 2, 3


@dataclass(frozen=True)
class WordPairs(DerivedData):
    """The rows of a text as skip-gram reads it; what a batch holds follows from (seed, step) alone.

    A pair is a center and a neighbour at most `config.window` words away in the same document; the
    reach is drawn anew for each center. Frequent words are thinned out. The words that a pair is
    compared with are drawn by their frequency to the power of 3/4.

    Reference: Mikolov et al. 2013, "Distributed Representations of Words and Phrases", section 2.
    """

    end: int  # id that stands between documents
    config: word2vec.SkipGramConfig
    subsample: float = 1e-3  # frequency from which words are thinned out; 0 keeps all
    _drawn: dict[str, np.ndarray] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        counts = np.bincount(self.text.train.ids, minlength=self.config.vocab_size)
        counts[self.end] = 0
        self._drawn["keep"] = word2vec.keep_probabilities(counts, self.subsample)
        self._drawn["ladder"] = np.cumsum(word2vec.negative_probabilities(counts))
        for split in ("train", "validation"):
            ids = getattr(self.text, split).ids
            side_by_side = np.flatnonzero((ids[:-1] != self.end) & (ids[1:] != self.end))
            if not len(side_by_side):
                raise ValueError(
                    f"the {split} text has no document of two words, so there is no pair to learn"
                )
            self._drawn[split] = side_by_side

    def count(self, batch: tuple[Tensor, ...]) -> int:
        """How many pairs."""
        return len(batch[0])

    def batch(self, step: int, rows: int) -> Pairs:
        """Centers (P,), neighbours (P,) and random words (P, K) of update `step`, P >= rows."""
        words = self.text.batch(step, rows)[0].numpy()
        return self._pairs(words, "train", np.random.default_rng((self.text.seed, TRAINING, step)))

    def validation_batches(self, rows: int, count: int) -> Iterator[Pairs]:
        """The same `count` batches each time it is called; 0 = all there is."""
        for number, (words, _) in enumerate(self.text.validation_batches(rows, count), 1):
            rng = np.random.default_rng((self.text.seed, VALIDATION, number))
            yield self._pairs(words.numpy(), "validation", rng)

    def _pairs(self, words: np.ndarray, split: str, rng: np.random.Generator) -> Pairs:
        """All pairs of rows of words (B, T), topped up so that no part of a batch is empty."""
        document = np.cumsum(words == self.end, axis=1)
        document += np.arange(len(words))[:, None] * (words.shape[1] + 1)  # rows are apart, too
        read = (words != self.end) & (rng.random(words.shape) < self._drawn["keep"][words])
        ids, owner = words[read], document[read]
        places = word2vec.skip_gram_pairs(ids, rng.integers(1, self.config.window + 1, len(ids)))
        places = places[owner[places[:, 0]] == owner[places[:, 1]]]
        centers, neighbours = ids[places].T
        missing = len(words) - len(centers)
        if missing > 0:
            stream = getattr(self.text, split).ids
            at = rng.choice(self._drawn[split], missing)
            centers = np.concatenate((centers, stream[at]))
            neighbours = np.concatenate((neighbours, stream[at + 1]))
        drawn = rng.random((len(centers), self.config.negatives))
        random_words = np.searchsorted(self._drawn["ladder"], drawn, side="right")
        random_words = np.minimum(random_words, self.config.vocab_size - 1)
        first, second, third = (
            torch.from_numpy(np.ascontiguousarray(part, dtype=np.int64))
            for part in (centers, neighbours, random_words)
        )
        return first, second, third
