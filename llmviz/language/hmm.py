"""A hidden Markov model of parts of speech: counted, smoothed, and read by Viterbi's lattice.

T words, K tags. The model supposes that a tag depends on the tag before it alone, and a word on its
tag alone. Reference: Jurafsky and Martin, "Speech and Language Processing", chapter on sequence
labelling; Viterbi 1967.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np


@dataclass(frozen=True)
class HMM:
    """Tables of probabilities, each row summing to 1; all are above 0 after smoothing.

    start (K,): the tag of a sentence's first word. transition (K, K): the tag in the column after
    that in the row. emission (K, V + 1): the word of each tag; the last column is for all words
    that were not in the training text.
    """

    tags: tuple[str, ...]
    words: dict[str, int]  # word -> column
    start: np.ndarray
    transition: np.ndarray
    emission: np.ndarray

    def knows(self, word: str) -> bool:
        """Whether a word was in the training text."""
        return word in self.words

    def column(self, word: str) -> np.ndarray:
        """P(word | tag) for each tag, (K,); for a word never seen, that of all such words."""
        return self.emission[:, self.words.get(word, -1)]


def count_hmm(
    sentences: Sequence[Sequence[tuple[str, str]]],
    tags: Sequence[str],
    smoothing: float = 0.01,
) -> HMM:
    """Count (word, tag) sentences into an HMM.

    smoothing: added to every count (Lidstone 1920), so that what was never seen has a small
      probability and not none.
    Raises ValueError without a word, for a tag that is not in `tags`, or a smoothing not above 0.
    """
    if not 0 < smoothing < math.inf:
        raise ValueError(f"smoothing must be a number above 0; got {smoothing}")
    number = {tag: k for k, tag in enumerate(tags)}
    pairs = [pair for sentence in sentences for pair in sentence]
    if not pairs:
        raise ValueError("there must be at least one word to count; got none")
    if unknown := next((tag for _, tag in pairs if tag not in number), None):
        raise ValueError(f"tag must be one of {', '.join(tags)}; got {unknown!r}")
    words = {word: v for v, word in enumerate(sorted({word for word, _ in pairs}))}
    start = np.full(len(tags), smoothing)
    transition = np.full((len(tags), len(tags)), smoothing)
    emission = np.full((len(tags), len(words) + 1), smoothing)
    for sentence in sentences:
        own = [number[tag] for _, tag in sentence]
        if own:
            start[own[0]] += 1
        for before, after in pairwise(own):
            transition[before, after] += 1
    for (word, tag), count in Counter(pairs).items():
        emission[number[tag], words[word]] += count
    rows = (table / table.sum(-1, keepdims=True) for table in (start, transition, emission))
    return HMM(tuple(tags), words, *rows)


class Cell(NamedTuple):
    """The arithmetic of one cell of the lattice, in nats.

    The cell's score is the largest of `sums`, plus the emission.
    """

    sums: np.ndarray  # (K,) score of the word before + ln P(this tag | its tag); (1,) of the start
    best: int  # which of them is the largest: the tag before, −1 for the first word
    emission: float  # ln P(word | tag)
    score: float


@dataclass(frozen=True)
class Lattice:
    """Every score of Viterbi's algorithm for one sentence.

    scores (T, K): the natural logarithm of the largest probability with which the words so far come
    with some tags of which the last is that of the column. back (T, K): which tag before that was,
    −1 for the first word. path: the best tags. seen: whether each word was in the training text;
    for one that was not, only smoothing and the neighbouring tags decide.
    """

    words: tuple[str, ...]
    hmm: HMM
    scores: np.ndarray
    back: np.ndarray
    path: tuple[int, ...]
    seen: tuple[bool, ...]

    @property
    def tags(self) -> tuple[str, ...]:
        """The best tag of each word."""
        return tuple(self.hmm.tags[k] for k in self.path)

    @property
    def log_prob(self) -> float:
        """ln P(words and best tags)."""
        return float(self.scores[-1].max())

    def cell(self, t: int, k: int) -> Cell:
        """How the score of word `t` with tag `k` came about."""
        emission = float(np.log(self.hmm.column(self.words[t])[k]))
        if t == 0:
            first = np.log(self.hmm.start[k : k + 1])
            return Cell(first, -1, emission, float(first[0]) + emission)
        sums = self.scores[t - 1] + np.log(self.hmm.transition[:, k])
        best = int(sums.argmax())
        return Cell(sums, best, emission, float(sums[best]) + emission)


def viterbi(hmm: HMM, words: Sequence[str]) -> Lattice:
    """Find the most probable tags of a sentence; of equally probable ones the first in order.

    It costs T·K² sums, where trying all sequences of tags would cost K to the power of T.
    Raises ValueError for no word.
    """
    if not words:
        raise ValueError("there must be at least one word to tag; got none")
    transition = np.log(hmm.transition)
    scores = np.empty((len(words), len(hmm.tags)))
    back = np.full(scores.shape, -1)
    scores[0] = np.log(hmm.start) + np.log(hmm.column(words[0]))
    for t in range(1, len(words)):
        sums = scores[t - 1][:, None] + transition  # (K before, K)
        back[t] = sums.argmax(0)
        scores[t] = sums.max(0) + np.log(hmm.column(words[t]))
    path = [int(scores[-1].argmax())]
    for t in range(len(words) - 1, 0, -1):
        path.append(int(back[t, path[-1]]))
    seen = tuple(hmm.knows(word) for word in words)
    return Lattice(tuple(words), hmm, scores, back, tuple(reversed(path)), seen)


def log_probability(hmm: HMM, words: Sequence[str], tags: Sequence[int]) -> float:
    """ln P(words and these tags), the tags as numbers."""
    total = math.log(hmm.start[tags[0]])
    for before, after in pairwise(tags):
        total += math.log(hmm.transition[before, after])
    return total + sum(math.log(hmm.column(w)[k]) for w, k in zip(words, tags, strict=True))
