"""The text as skip-gram training reads it: stretches of words with their surroundings.

B stretches, M centers in each, S = M + 2·window words that may be neighbours, N shared negatives,
V vocabulary, T words of the text.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from llmviz.config import Config
from llmviz.models.word2vec import SkipGramConfig, keep_probabilities, negative_probabilities

STRETCH = 32  # M, centers that share their negatives
SHARED = 32  # N, negatives of a stretch


@dataclass(frozen=True)
class SkipGramTraining(Config):
    """How the vectors are trained."""

    epochs: int = 5  # times that the text is read
    learning_rate: float = 0.025  # at the start; falls in a straight line to a 250th of it
    subsample: float = 1e-3  # frequency from which words are thinned out; 0 keeps all
    batch_words: int | None = None  # centers between updates; None: V/2, from 32 to 1,024
    snapshots: int = 50  # records after the one before training; the last at the end
    crowding: float = 1.0  # record k comes after (k / snapshots)^this of the text; 1: evenly
    threads: int = 1  # with more, updates may cross and two runs differ a little
    seed: int = 0

    def __post_init__(self) -> None:
        self.require_positive("epochs", "snapshots", "threads")
        self.require_at_least(0, "seed")
        if self.batch_words is not None:
            self.require_positive("batch_words")
        self.require_above_zero("learning_rate", "crowding")
        self.require_fraction("subsample")
        if not 1 <= self.crowding <= 8:
            raise ValueError(f"crowding must be from 1 to 8; got {self.crowding}")

    def record_due(self, number: int, total: int) -> float:
        """After how many of `total` words record `number` is due; number 0 is before training."""
        return total * (number / self.snapshots) ** self.crowding


class Batch(NamedTuple):
    """Stretches of text as arrays."""

    centers: Tensor  # (B, M) word ids
    around: Tensor  # (B, S) word ids, centers and their surroundings
    pairs: Tensor  # (B, M, S) 1.0 where a center and a neighbour make a pair
    negatives: Tensor  # (B, N) word ids


class Reading(NamedTuple):
    """What the first stretch of a training is made of; places count words from the beginning."""

    centers: np.ndarray  # (M,) places, in order
    pairs: np.ndarray  # (P, 2) places of center and neighbour
    kept: np.ndarray  # (T,) bool: which words of the text are read this first time
    negatives: np.ndarray  # (N,) ids of the random words of this stretch


def first_reading(
    config: SkipGramConfig, documents: Sequence[Sequence[int]], settings: SkipGramTraining
) -> Reading:
    """Return the pairs that `train_skip_gram` begins with, under the same settings.

    Raises: as `train_skip_gram` for the text.
    """
    text, document = flatten(documents, config.vocab_size, config.window)
    counts = np.bincount(text, minlength=config.vocab_size)
    places = _places(text, counts, settings, np.random.default_rng(settings.seed))
    _, batches = next(groups(config, text, document, settings))
    center, near = np.nonzero(batches[0].pairs[0].numpy())
    pairs = np.stack((places[center], places[near - config.window]), axis=1)
    kept = np.zeros(len(text), dtype=bool)
    kept[places] = True
    return Reading(places[:STRETCH], pairs, kept, batches[0].negatives[0].numpy())


def flatten(
    documents: Sequence[Sequence[int]], vocab_size: int, window: int
) -> tuple[np.ndarray, np.ndarray]:
    """All words in a row (T,), and the document of each (T,)."""
    lengths = [len(words) for words in documents]
    text = np.fromiter((i for words in documents for i in words), np.int64, sum(lengths))
    if len(text) <= window or max(lengths) < 2:
        raise ValueError(
            f"the text must have more words than the window of {window}, and a document of two "
            f"words; words in all: {len(text)}, in the longest document: {max(lengths, default=0)}"
        )
    if text.min() < 0 or text.max() >= vocab_size:
        raise ValueError(
            f"word ids must be from 0 to {vocab_size - 1}; got {text.min()} to {text.max()}"
        )
    return text, np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)


def groups(
    config: SkipGramConfig, text: np.ndarray, document: np.ndarray, settings: SkipGramTraining
) -> Iterator[tuple[int, list[Batch]]]:
    """(words read so far, batches that may be worked on at once), through all epochs."""
    rng = np.random.default_rng(settings.seed)
    window = config.window
    counts = np.bincount(text, minlength=config.vocab_size)
    ladder = np.cumsum(negative_probabilities(counts))
    batch_words = settings.batch_words or min(1024, config.vocab_size // 2)
    per_batch = max(1, batch_words // STRETCH) * STRETCH
    for epoch in range(settings.epochs):
        places = _places(text, counts, settings, rng)
        step = per_batch * settings.threads
        for start in range(0, len(places), step):
            batches = [
                batch_at(text, document, places, at, per_batch, window, ladder, rng)
                for at in range(start, min(start + step, len(places)), per_batch)
            ]
            end = start + step
            read = int(places[end]) if end < len(places) else len(text)
            yield epoch * len(text) + read, batches


def _places(
    text: np.ndarray, counts: np.ndarray, settings: SkipGramTraining, rng: np.random.Generator
) -> np.ndarray:
    """Where the words stand that are read this time; the others are thinned out."""
    keep = keep_probabilities(counts, settings.subsample)[text]
    places = np.flatnonzero(rng.random(len(text)) < keep)
    return places if len(places) else np.arange(len(text))


def batch_at(
    text: np.ndarray,
    document: np.ndarray,
    places: np.ndarray,
    start: int,
    size: int,
    window: int,
    ladder: np.ndarray,
    rng: np.random.Generator,
) -> Batch:
    """The stretches whose centers are places[start : start + size], with their surroundings."""
    n = math.ceil(min(size, len(places) - start) / STRETCH)
    at = np.arange(start - window, start + n * STRETCH + window)
    inside = (at >= start - window) & (at >= 0) & (at < len(places))
    place = places[np.where(inside, at, 0)]
    ids, owner = text[place], np.where(inside, document[place], -1)
    width = STRETCH + 2 * window
    around = np.lib.stride_tricks.sliding_window_view(ids, width)[::STRETCH]  # (B, S)
    owners = np.lib.stride_tricks.sliding_window_view(owner, width)[::STRETCH]
    reach = rng.integers(1, window + 1, (n, STRETCH, 1), dtype=np.int8)
    distance = abs(np.arange(width)[None, :] - np.arange(window, window + STRETCH)[:, None])
    distance[distance == 0] = 127  # a word is not its own neighbour
    pairs = distance.astype(np.int8) <= reach  # (B, M, S)
    mine = owners[:, window:-window, None]
    pairs &= (owners[:, None, :] == mine) & (mine >= 0)
    drawn = np.searchsorted(ladder, rng.random((n, SHARED)), side="right")
    return Batch(
        torch.from_numpy(around[:, window:-window].copy()),
        torch.from_numpy(around.copy()),
        torch.from_numpy(pairs).float(),
        torch.from_numpy(np.minimum(drawn, len(ladder) - 1)),
    )
