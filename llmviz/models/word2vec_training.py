"""Fast training of skip-gram vectors, with the gradient written by hand.

Neighbours stand next to their centers, so the scores of a whole stretch of text are a band of one
matrix product. B stretches, M centers in each, S = M + 2·window words that may be neighbours,
N shared negatives, C = n_embd, V vocabulary.
"""

import math
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from llmviz.models.word2vec import SkipGram
from llmviz.models.word2vec_reading import Batch, SkipGramTraining, flatten, groups

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
    words_per_second: float
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
        speed = words / seconds if seconds else 0.0
        return SkipGramRecord(words, total, mean, rate, seconds, speed, model.vectors())

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
