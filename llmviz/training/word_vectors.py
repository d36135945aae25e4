"""Word vectors from a text, as a film: the plan of a training, its frames, and their folder.

N words shown, V vocabulary, C numbers in a vector, F frames.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import torch

from llmviz.corpus import corpus_from_text, load_corpus, word_categories
from llmviz.models.word2vec import SkipGram, SkipGramConfig
from llmviz.models.word2vec_reading import SkipGramTraining
from llmviz.models.word2vec_training import train_skip_gram
from llmviz.tokenizers import WordTokenizer

MOST_WORDS = 20_000  # the vocabulary of a text; rarer words become <|unk|>
A_CATEGORY = 24  # words of one category that a film shows


@dataclass(frozen=True)
class WordVectorPlan:
    """What to learn from, and how; plain values, so that it can be kept in config.json."""

    corpus: str = "tiny-world"  # a bundled name; not read where a text is given
    characters: int | None = 1_000_000  # how much tiny-world writes
    model_options: dict[str, Any] = field(default_factory=dict)  # of SkipGramConfig
    shown: int = 500  # N, words that the frames hold
    also: tuple[str, ...] = ()  # words that must be among them
    train: SkipGramTraining = field(default_factory=SkipGramTraining)

    model = "word2vec"
    tokenizer = "word"

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> WordVectorPlan:
        """From `to_dict`."""
        train = SkipGramTraining.from_dict(values["train"])
        return cls(**{**values, "also": tuple(values.get("also", ())), "train": train})


class Text(NamedTuple):
    """A text as word ids."""

    tokenizer: WordTokenizer
    documents: list[list[int]]
    counts: np.ndarray  # (V,) how often each word stands there


class Frame(NamedTuple):
    """One moment of a training."""

    read: int  # words so far
    total: int
    loss: float  # nats a pair since the frame before; NaN before the first update
    rate: float  # learning rate
    seconds: float
    vectors: np.ndarray  # (N, C) float32, of the words shown


class Beginning(NamedTuple):
    """What is known before the first frame."""

    tokenizer: WordTokenizer
    rows: np.ndarray  # (N,) ids of the words shown
    counts: np.ndarray  # (V,)
    documents: int


class End(NamedTuple):
    """The tables after the last frame."""

    word: np.ndarray  # (V, C)
    neighbour: np.ndarray  # (V, C)


@dataclass(frozen=True)
class Film:
    """The frames of a training: `vectors` (F, N, C) of the words `rows` (N,), and when they were.

    `read` (F,) words so far, of `total`; `loss` (F,) nats a pair, NaN at first; `rate` (F,).
    """

    rows: np.ndarray
    vectors: np.ndarray
    read: np.ndarray
    total: int
    loss: np.ndarray
    rate: np.ndarray


def read_text(plan: WordVectorPlan, text: str | None = None) -> Text:
    """Return the corpus of a plan, or a text of the learner, as word ids.

    Raises ValueError for a text without a word.
    """
    if text is None:
        corpus = load_corpus(plan.corpus, characters=plan.characters)
    else:
        corpus = corpus_from_text(text)
    tokenizer = WordTokenizer.train(corpus.documents, vocab_size=None)
    if tokenizer.vocab_size > MOST_WORDS:
        tokenizer = WordTokenizer.train(corpus.documents, vocab_size=MOST_WORDS)
    documents = [tokenizer.encode(document) for document in corpus.documents]
    counts = np.bincount([i for words in documents for i in words], minlength=tokenizer.vocab_size)
    return Text(tokenizer, documents, counts)


def words_shown(text: Text, limit: int, also: Sequence[str] = ()) -> np.ndarray:
    """Return the ids (N,) of the words that a film shows, at most `limit`.

    First those asked for in `also`; then the words that `word_categories` knows, the most frequent
    24 of each; then the most frequent others that are words. Ties go by id. Raises ValueError for
    a word asked for that the text does not have.
    """
    known = {text.tokenizer.vocabulary[i]: i for i in range(len(text.tokenizer.vocabulary))}
    order = Counter({i: int(n) for i, n in enumerate(text.counts) if n})
    for word in also:
        if word not in known:
            raise ValueError(f"{word!r} is not in the text, so the film cannot follow it")
    chosen: list[int] = [known[word] for word in dict.fromkeys(also)]
    wanted = set(chosen)
    for words in word_categories().values():
        there = sorted((known[w] for w in words if w in known), key=lambda i: (-order[i], i))
        chosen += [i for i in there[:A_CATEGORY] if i not in wanted]
    taken = set(chosen)
    others = sorted((i for i in order if i not in taken), key=lambda i: (-order[i], i))
    names = text.tokenizer.vocabulary
    chosen += [i for i in others if i < len(names) and names[i][0].isalnum()]
    return np.array(chosen[:limit], dtype=np.int64)


def film(plan: WordVectorPlan, text: str | None = None) -> Iterator[Beginning | Frame | End]:
    """Train by a plan and yield the beginning, the frames and the end.

    text: a text of the learner, instead of the plan's corpus. One seed gives one film where one
    thread works. Raises: as `train_skip_gram`; ValueError for a text without a word.
    """
    read = read_text(plan, text)
    rows = words_shown(read, plan.shown, plan.also)
    if len(rows) == 0:
        raise ValueError("the text has no words; it must have letters or digits in it")
    yield Beginning(read.tokenizer, rows, read.counts, len(read.documents))
    model = new_model(plan, read.tokenizer.vocab_size)
    for record in train_skip_gram(model, read.documents, plan.train):
        yield Frame(
            record.words,
            record.total_words,
            record.loss,
            record.learning_rate,
            record.seconds,
            record.vectors[rows],
        )
    yield End(model.vectors(), model.neighbour.weight.detach().numpy().copy())


def new_model(plan: WordVectorPlan, vocab_size: int) -> SkipGram:
    """Return the untrained model of a plan, from its seed; torch's own seed stays as it was."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(plan.train.seed)
        return SkipGram(SkipGramConfig.from_dict({**plan.model_options, "vocab_size": vocab_size}))


def film_of(rows: np.ndarray, frames: Sequence[Frame]) -> Film:
    """Return the frames of a training as arrays."""
    return Film(
        rows,
        np.stack([frame.vectors for frame in frames]),
        np.array([frame.read for frame in frames]),
        frames[-1].total,
        np.array([frame.loss for frame in frames], dtype=np.float32),
        np.array([frame.rate for frame in frames], dtype=np.float32),
    )
