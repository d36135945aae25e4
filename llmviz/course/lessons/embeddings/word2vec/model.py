"""Films of word2vec: the vectors of some words, frame by frame, as a training changed them.

F frames, N words followed, C numbers in a vector, K random words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from llmviz.course.lessons.embeddings.word_maps import word_kinds
from llmviz.similarity.film import film_maps, frame_map

if TYPE_CHECKING:
    from llmviz.training.word_vectors import Beginning, Frame, Text


@dataclass(frozen=True, eq=False)  # one film is itself: what is kept of it is found by that
class WordFilm:
    """A film ready to be drawn.

    words: N. kinds: (N,) of `word_categories`, -1 for none. vectors: (F, N, C). maps: (F, N, 2).
    read: (F,) words of the text read so far, of `total`. loss: (F,) nats a pair, NaN at first.
    rate: (F,) learning rates. counts: (N,) how often each word stands in the text. vocabulary:
    words of the text, most of which the film may leave out.
    """

    words: list[str]
    kinds: np.ndarray
    vectors: np.ndarray
    maps: np.ndarray
    read: np.ndarray
    total: int
    loss: np.ndarray
    rate: np.ndarray
    counts: np.ndarray | None = None
    vocabulary: int = 0

    @property
    def frames(self) -> int:
        """F."""
        return len(self.vectors)

    @cached_property
    def beginning(self) -> WordFilm:
        """The film of its first frame alone."""
        parts = ("vectors", "maps", "read", "loss", "rate")
        return replace(self, **{part: getattr(self, part)[:1] for part in parts})


class FilmBuilder:
    """A film that grows frame by frame, while its training goes on."""

    def __init__(self, beginning: Beginning) -> None:
        vocabulary = beginning.tokenizer.vocabulary
        self.words = [vocabulary[i] for i in beginning.rows]
        self.kinds = word_kinds(self.words)
        self.counts = beginning.counts[beginning.rows]
        self.vocabulary = how_many_words(vocabulary)
        self.frames: list[Frame] = []
        self._maps: list[np.ndarray] = []

    def add(self, frame: Frame) -> None:
        """Take a frame in, turned to lie as the one before; one that diverged is left out."""
        if np.isfinite(frame.vectors).all():  # a run that diverged may end in infinity
            before = self._maps[-1] if self._maps else None
            self._maps.append(frame_map(frame.vectors, before, self.kinds))
            self.frames.append(frame)

    def film(self) -> WordFilm | None:
        """Return the film so far; None before its first frame."""
        if not self.frames:
            return None
        return WordFilm(
            self.words,
            self.kinds,
            np.stack([frame.vectors for frame in self.frames]),
            np.stack(self._maps),
            np.array([frame.read for frame in self.frames]),
            self.frames[-1].total,
            np.array([frame.loss for frame in self.frames]),
            np.array([frame.rate for frame in self.frames]),
            self.counts,
            self.vocabulary,
        )


@lru_cache(maxsize=2)
def read_film(folder: str, vocabulary: tuple[str, ...]) -> WordFilm:
    """Return the film in a folder.

    Raises ValueError: it is damaged.
    """
    from llmviz.training.word_vectors import load_film

    film = load_film(folder)
    words = [vocabulary[i] for i in film.rows]
    return WordFilm(
        words,
        word_kinds(words),
        film.vectors,
        film_maps(list(film.vectors)),
        film.read,
        film.total,
        film.loss,
        film.rate,
        vocabulary=how_many_words(vocabulary),
    )


def how_many_words(vocabulary: Sequence[str]) -> int:
    """Return how many entries of a vocabulary are words, and no marks.

    >>> how_many_words(["<|unk|>", ".", "cat"])
    1
    """
    return sum(word[0].isalnum() for word in vocabulary)


def companion(text: Text, word: str) -> str | None:
    """Return the word that stands most often right beside a word; None for a tie or none."""
    names = text.tokenizer.vocabulary
    if word not in names:
        return None
    row = names.index(word)
    tally: Counter[int] = Counter()
    for document in text.documents:
        if row not in document:
            continue
        for at, token in enumerate(document):
            if token == row:
                tally.update(document[max(0, at - 1) : at] + document[at + 1 : at + 2])
    beside = [(i, n) for i, n in tally.most_common() if i < len(names) and names[i][0].isalnum()]
    if not beside or [n for _, n in beside].count(beside[0][1]) > 1:
        return None
    return names[beside[0][0]]


def meetings(text: Text, word: str, other: str, window: int) -> tuple[int, int]:
    """Return at how many places a word stands, and at how many another stands within a window."""
    row, second = (text.tokenizer.vocabulary.index(name) for name in (word, other))
    times = met = 0
    for document in text.documents:
        if row in document:
            for at in (at for at, token in enumerate(document) if token == row):
                times += 1
                met += second in document[max(0, at - window) : at + window + 1]
    return times, met


class PairCost(NamedTuple):
    """What one pair costs a skip-gram with random words: each column (1 + K, 1), nats."""

    scores: np.ndarray  # dot products of the word's vector with the second vectors
    sign: np.ndarray  # 1 for the neighbour, -1 for the random words
    probability: np.ndarray  # σ(sign × score)
    costs: np.ndarray  # −ln of it


def pair_cost(word: np.ndarray, seconds: np.ndarray) -> PairCost:
    """Return the loss of a pair from a word's vector (1, C) and second vectors (1 + K, C).

    The first of `seconds` is the neighbour's, the others are those of random words.

    Reference: Mikolov et al. 2013, "Distributed Representations of Words and Phrases", eq. 4.
    """
    scores = seconds @ word.T
    sign = np.array([[1.0]] + [[-1.0]] * (len(seconds) - 1))
    signed = sign * scores
    return PairCost(scores, sign, 1 / (1 + np.exp(-signed)), np.logaddexp(0, -signed))
