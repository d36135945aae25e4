"""Fast training of skip-gram vectors, with the gradient written by hand.

The text is read as stretches of words with their surroundings. Neighbours stand next to their
centers, so the scores of a whole stretch are a band of one matrix product. B stretches, M centers
in each, S = M + 2·window words that may be neighbours, N shared negatives, C = n_embd, V
vocabulary, T words of the text.
"""

import math
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from llmviz.config import Config
from llmviz.models.word2vec import (
    SkipGram,
    SkipGramConfig,
    keep_probabilities,
    negative_probabilities,
)

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


MOST_RATE = 4.0  # of one word in one update, summed over the terms it is in
GENTLE_RATE = 0.25  # up to this learning rate; a greater one is let do what it does
DIVERGED = 3.0  # times the loss of untrained vectors, where a run is given up


class Diverged(ValueError):
    """The loss ran away: the learning rate is too high."""


class SkipGramRecord(NamedTuple):
    """What is known at one moment of the training."""

    words: int  # read so far, thinned-out ones included
    total_words: int
    loss: float  # mean of a pair since the last record, in nats; NaN before the first update
    learning_rate: float
    seconds: float  # since the start, snapshots not counted
    vectors: np.ndarray  # (V, C), a copy


class Gradient(NamedTuple):
    """Of the summed loss of a batch, by occurrence; O = S + N are all that is predicted with."""

    center_ids: Tensor  # (B·M,)
    centers: Tensor  # (B·M, C)
    center_terms: Tensor  # (B·M,) how many terms of the loss each occurrence is in
    output_ids: Tensor  # (B·O,)
    outputs: Tensor  # (B·O, C)
    output_terms: Tensor  # (B·O,)
    loss: Tensor  # nats, summed over pairs
    pairs: Tensor  # how many


def gradient(word: Tensor, neighbour: Tensor, batch: Batch, negatives: int) -> Gradient:
    """Loss and gradient of a batch from the two tables (V, C).

    Each pair should meet `negatives` random words of its own; here a stretch shares N of them, and
    each counts negatives/N times, which is the same on average.
    """
    c = word.shape[1]
    output_ids = torch.cat((batch.around, batch.negatives), dim=1)  # (B, O)
    w = word.index_select(0, batch.centers.flatten()).view(*batch.centers.shape, c)
    n = neighbour.index_select(0, output_ids.flatten()).view(*output_ids.shape, c)
    scores = torch.bmm(w, n.transpose(1, 2))  # (B, M, O)
    s, shared = batch.around.shape[1], batch.negatives.shape[1]
    count = batch.pairs.sum(-1, keepdim=True)  # (B, M, 1) pairs of each center
    share = (count * (negatives / shared)).expand(-1, -1, shared)
    weight = torch.cat((batch.pairs, share), dim=2)  # (B, M, O)
    scores[:, :, :s].neg_()  # now softplus of a score is its term of the loss, on either side
    error = torch.sigmoid(scores).mul_(weight)
    loss = torch.vdot(F.softplus(scores).flatten(), weight.flatten())
    error[:, :, :s].neg_()
    return Gradient(
        batch.centers.flatten(),
        torch.bmm(error, n).view(-1, c),
        weight.sum(2).flatten(),
        output_ids.flatten(),
        torch.bmm(error.transpose(1, 2), w).view(-1, c),
        weight.sum(1).flatten(),
        loss,
        count.sum(),
    )


def train_skip_gram(
    model: SkipGram,
    documents: Sequence[Sequence[int]],
    settings: SkipGramTraining | None = None,
) -> Iterator[SkipGramRecord]:
    """Train the model's vectors in place, and yield a record now and then.

    documents: word ids; no pair crosses from one to the next. Closing the generator stops.
    Raises ValueError for ids outside the vocabulary and a text too short for a single pair or
    shorter than the window; Diverged, after a last record, when the loss has run away.

    Reference: Mikolov et al. 2013; shared negatives as in Ji et al. 2016, "Parallelizing Word2Vec
    in Shared and Distributed Memory".
    """
    settings = settings or SkipGramTraining()
    text, document = flatten(documents, model.config.vocab_size, model.config.window)
    return _run(model, text, document, settings)


def _run(
    model: SkipGram, text: np.ndarray, document: np.ndarray, settings: SkipGramTraining
) -> Iterator[SkipGramRecord]:
    word, neighbour = model.word.weight.detach(), model.neighbour.weight.detach()
    total = len(text) * settings.epochs
    words, loss, pairs, seconds, rate = 0, 0.0, 0.0, 0.0, settings.learning_rate

    def record() -> SkipGramRecord:
        mean = loss / pairs if pairs else math.nan
        return SkipGramRecord(words, total, mean, rate, seconds, model.vectors())

    def update(batch: Batch) -> tuple[Tensor, Tensor]:
        step = gradient(word, neighbour, batch, model.config.negatives)
        _descend(word, step.center_ids, step.centers, step.center_terms, rate)
        _descend(neighbour, step.output_ids, step.outputs, step.output_terms, rate)
        return step.loss, step.pairs

    yield record()
    due = 1
    untrained = (1 + model.config.negatives) * math.log(2)  # all scores are 0
    started = time.perf_counter()
    with ThreadPoolExecutor(settings.threads) as pool:
        for read, batches in groups(model.config, text, document, settings):
            rate = settings.learning_rate * max(1 / 250, 1 - words / total)
            done = map(update, batches) if settings.threads == 1 else pool.map(update, batches)
            for part_loss, part_pairs in done:
                loss, pairs = loss + float(part_loss), pairs + float(part_pairs)
            words = read
            diverged = pairs > 0 and not loss / pairs < DIVERGED * untrained
            if words >= settings.record_due(due, total) or words == total or diverged:
                seconds += time.perf_counter() - started
                yield record()
                if diverged:
                    raise Diverged(_runaway(loss / pairs, untrained, words, total, settings))
                while settings.record_due(due, total) <= words and due < settings.snapshots:
                    due += 1
                loss, pairs = 0.0, 0.0
                started = time.perf_counter()


def _runaway(
    loss: float, untrained: float, words: int, total: int, settings: SkipGramTraining
) -> str:
    now = f"{loss:,.1f} nats a pair" if math.isfinite(loss) else "no longer a number"
    return (
        f"the training diverged: after {words:,} of {total:,} words the loss is {now}, and that of "
        f"untrained vectors {untrained:.2f}; try a learning rate below {settings.learning_rate:g}"
    )


def _descend(table: Tensor, ids: Tensor, gradients: Tensor, terms: Tensor, rate: float) -> None:
    """One step of every row, the sum of its occurrences' gradients, in place.

    One after the other, the steps of a frequent word would each see the last; summed up, they
    overshoot. So the rates of all terms that a row is in sum to at most `MOST_RATE`; above
    `GENTLE_RATE` this bound grows with the learning rate, which is then really too high.
    """
    total = torch.bincount(ids, terms, len(table))
    most = MOST_RATE * max(1.0, rate / GENTLE_RATE)
    rates = (most / total).clamp_(max=rate).float()
    gradients.mul_(rates.index_select(0, ids).neg_()[:, None])
    table.scatter_add_(0, ids[:, None].expand_as(gradients), gradients)
