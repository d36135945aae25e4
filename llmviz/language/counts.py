"""The plain start: how often each word and n-gram comes, Zipf's line, tf-idf."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


def ngrams(words: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    """Count the runs of n words; none where the text is shorter.

    >>> ngrams(["a", "b", "a", "b"], 2).most_common(1)
    [(('a', 'b'), 2)]

    Raises ValueError for an n below 1.
    """
    if n < 1:
        raise ValueError(f"n must be at least 1; got {n}")
    return Counter(zip(*(words[start:] for start in range(n)), strict=False))


class ZipfLine(NamedTuple):
    """Words by rank, and the straight line through them where both axes are logarithmic.

    frequency ≈ e^intercept · rank^slope; Zipf's law says a slope near −1.
    """

    words: tuple[str, ...]
    ranks: np.ndarray  # (N,) 1, 2, …
    frequencies: np.ndarray  # (N,) how often each word comes, the most frequent first
    slope: float
    intercept: float

    def at(self, rank: float) -> float:
        """Return the frequency that the line gives a rank."""
        return math.exp(self.intercept + self.slope * math.log(rank))


def zipf(words: Sequence[str]) -> ZipfLine:
    """Return the words by frequency with the least-squares line through (ln rank, ln frequency).

    Of words of one frequency the first in the alphabet comes first. Reference: Zipf 1935.
    Raises ValueError for fewer than two different words: no line goes through one point.
    """
    counted = sorted(Counter(words).items(), key=lambda pair: (-pair[1], pair[0]))
    if len(counted) < 2:
        raise ValueError(f"a line needs at least two different words; got {len(counted)}")
    ranks = np.arange(1, len(counted) + 1)
    frequencies = np.array([count for _, count in counted])
    slope, intercept = np.polyfit(np.log(ranks), np.log(frequencies), 1)
    return ZipfLine(
        tuple(word for word, _ in counted), ranks, frequencies, float(slope), float(intercept)
    )


class TfIdf(NamedTuple):
    """The weight of each word in each document: D documents, V words."""

    words: tuple[str, ...]
    tf: np.ndarray  # (D, V) how often the word comes in the document
    df: np.ndarray  # (V,) in how many documents it comes
    idf: np.ndarray  # (V,) ln(D / df): 0 for a word of every document
    weights: np.ndarray  # (D, V) tf · idf


def tf_idf(documents: Sequence[Sequence[str]]) -> TfIdf:
    """Weigh words up that come often in a document, and down that come in many documents.

    Reference: Spärck Jones 1972. scikit-learn's variant adds 1 to the idf, so that no word is
    left out, and divides each row by its length; this one does neither.
    Raises ValueError without a word.
    """
    words = sorted({word for document in documents for word in document})
    if not words:
        raise ValueError("tf-idf needs at least one word; got none")
    column = {word: v for v, word in enumerate(words)}
    tf = np.zeros((len(documents), len(words)))
    for d, document in enumerate(documents):
        for word, count in Counter(document).items():
            tf[d, column[word]] = count
    df = (tf > 0).sum(0)
    idf = np.array([math.log(len(documents) / n) for n in df])
    return TfIdf(tuple(words), tf, df, idf, tf * idf)
