"""Small models that read some sentences once and some a thousand times, and what they keep of them.

`python -m experiments make planted` trains the bundled ones again, five minutes on one core, and
writes `data/experiments/planted.json`. Reading it needs no torch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from llmviz.corpus.planted import MOST_WORDS, Field, Planted, field
from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.records import Recorded, typed

if TYPE_CHECKING:
    from llmviz.course.lessons.errors.small_reader import Reader

FILE = "planted.json"
COMMAND = "python -m experiments make planted"
SEEDS = (0, 1, 2)
PASSES = (1, 4)  # how often the bundled models read their text
CONTEXT = 24  # tokens: more than a planted sentence has
OWN_CONTEXT = 2 * MOST_WORDS  # a learner's words may be several tokens each
OWN_PASSES = 2


@dataclass(frozen=True)
class Kept:
    """What a model keeps of a planted sentence.

    tokens: the sentence in its tokens. needed: how many of them must be given until the most
    probable tokens are all others. loss: nats per token, its end included.
    written: for each number of given tokens, from 1, what the model writes after them.
    """

    times: int
    tokens: list[str]
    needed: int
    loss: float
    written: list[list[str]]


@dataclass(frozen=True)
class Remembered:
    """What one model remembers of its text; losses are nats per token of one sentence each."""

    planted: list[Kept]
    read: list[float]  # of plain sentences that stood once in the text
    fresh: list[float]  # of plain sentences that did not
    unread: float  # mean of sentences of random words that did not


def needed(matches: Sequence[bool]) -> int:
    """Return how many first tokens must be given so that all others are the most probable ones.

    matches: for each token, whether it is the most probable one after those before it.

    >>> needed([False, True, False, True, True])
    3
    """
    count = len(matches)
    while count and matches[count - 1]:
        count -= 1
    return count


def area(read: Sequence[float], fresh: Sequence[float]) -> float:
    """Return how often a sentence that was read has the lower loss of a pair; ties count half.

    That is the area under the curve of hits over false alarms.
    """
    ordered = np.sort(fresh)
    below = np.searchsorted(ordered, read, side="left")
    upto = np.searchsorted(ordered, read, side="right")
    wins = len(ordered) - upto + (upto - below) / 2
    return float(wins.mean() / len(ordered))


def caught(read: Sequence[float], fresh: Sequence[float], threshold: float) -> tuple[float, float]:
    """Return hits and false alarms where a loss below the threshold is taken for "it was read"."""
    return (
        float((np.asarray(read) < threshold).mean()),
        float((np.asarray(fresh) < threshold).mean()),
    )


def remembered(reader: Reader, text: Field) -> Remembered:
    from llmviz.course.lessons.errors.small_reader import losses

    def means(texts: Sequence[str]) -> list[float]:
        return [round(float(loss.mean()), 4) for loss in losses(reader, texts)]

    return Remembered(
        [kept(reader, sentence) for sentence in text.planted],
        means(text.plain[: len(text.fresh)]),
        means(text.fresh),
        float(np.mean(means(text.unread))),
    )


def kept(reader: Reader, planted: Planted, most: int = CONTEXT) -> Kept:
    """Return what a model keeps of one sentence; most: tokens that it may write."""
    import torch

    from llmviz.course.lessons.errors.small_reader import losses, rows_of

    row = rows_of(reader, [planted.text])[0]
    names = [reader.tokenizer.decode([token]) for token in row[1:-1]]
    reader.model.eval()
    with torch.no_grad():
        best = reader.model(torch.tensor([row[:-1]]))[0][0].argmax(-1).tolist()
        written = []
        for given in range(1, len(names) + 1):
            ids = row[: given + 1]
            while len(ids) <= len(names) and len(ids) < most:
                ids.append(int(reader.model(torch.tensor([ids]))[0][0, -1].argmax()))
            written.append([reader.tokenizer.decode([token]) for token in ids[given + 1 :]])
    matches = [guess == token for guess, token in zip(best[:-1], row[1:-1], strict=True)]
    loss = float(losses(reader, [planted.text])[0].mean())
    return Kept(planted.times, names, needed(matches), round(loss, 4), written)


@dataclass(frozen=True)
class Progress:
    """How far a training is, and what the model keeps of the learner's sentence at this step."""

    step: int
    steps: int
    own: Kept


def read_own(own: Planted, seed: int = 0, passes: int = OWN_PASSES) -> Iterator[Progress]:
    """Train a model on a text with a sentence of the learner's, and yield what it keeps of it."""
    from llmviz.course.lessons.errors.small_reader import read_text

    text = field(seed)
    documents = text.documents(own=own)
    for reader in read_text(
        documents, words=own.text, passes=passes, seed=seed, context=OWN_CONTEXT
    ):
        yield Progress(reader.step, reader.steps, kept(reader, own, OWN_CONTEXT))


def train_one(seed: int, passes: int, *, repeats: bool) -> Remembered:
    """Train one of the bundled models and return what it remembers."""
    from llmviz.course.lessons.errors.small_reader import read_text

    text = field(seed)
    words = " ".join(text.fresh)
    documents = text.documents(repeats=repeats)
    *_, reader = read_text(documents, words=words, passes=passes, seed=seed, context=CONTEXT)
    return remembered(reader, text)


def run_name(seed: int, passes: int, *, repeats: bool) -> str:
    return f"{'repeated' if repeats else 'once'}.passes-{passes}.seed-{seed}"


@cache
def bundled(
    seed: int, passes: int, *, repeats: bool = True, folder: Path = EXPERIMENT_FOLDER
) -> Remembered:
    """Return what a bundled model remembers. Raises ValueError where it is not in this copy."""
    with Recorded(folder / FILE, COMMAND) as content:
        return typed(content["runs"][run_name(seed, passes, repeats=repeats)], Remembered)
