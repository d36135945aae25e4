"""BM25: how well a passage fits the words of a question. W words of the question, D passages."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

K1, B = 1.5, 0.75


@dataclass(frozen=True, eq=False)
class BM25:
    """The arithmetic of the scores of D passages for the W different words of a question.

    times (W,): how often the question has the word. df (W,): passages that have it. idf (W,).
    tf (W, D): how often the passage has it. lengths (D,): words of each passage. stretch (D,):
    1 − b + b · length / mean length. parts (W, D): tf · (k1 + 1) / (tf + k1 · stretch).
    terms (W, D): times · idf · parts. scores (D,): their sums.
    """

    words: tuple[str, ...]
    times: np.ndarray
    df: np.ndarray
    idf: np.ndarray
    tf: np.ndarray
    lengths: np.ndarray
    mean_length: float
    stretch: np.ndarray
    parts: np.ndarray
    terms: np.ndarray
    scores: np.ndarray


def bm25(
    passages: Sequence[Sequence[str]], question: Sequence[str], k1: float = K1, b: float = B
) -> BM25:
    """Score passages, each a list of words, for the words of a question.

    k1, at least 0: how much a word counts that comes again. b, from 0 to 1: how much a passage
    loses that is longer than the others. A question without words gives each passage 0.

    Reference: Robertson and Zaragoza 2009, "The Probabilistic Relevance Framework", eq. 3.15. The
    idf is ln(1 + (D − df + ½) / (df + ½)), as in Lucene: theirs, without the 1, is below 0 for a
    word of more than half of the passages.
    Raises ValueError without a word in any passage, and for k1 or b out of their range.
    """
    if k1 < 0 or not 0 <= b <= 1:
        raise ValueError(f"k1 must be at least 0 and b from 0 to 1; got k1={k1:g}, b={b:g}")
    lengths = np.array([len(words) for words in passages], float)
    if not lengths.any():
        raise ValueError("BM25 needs passages with at least one word; got none")
    query = Counter(question)
    counts = [Counter(words) for words in passages]
    tf = np.array([[count[word] for count in counts] for word in query], float)
    tf = tf.reshape(len(query), len(passages))
    df = (tf > 0).sum(1)
    idf = np.array([math.log1p((len(passages) - n + 0.5) / (n + 0.5)) for n in df])
    mean = float(lengths.mean())
    stretch = 1 - b + b * lengths / mean
    below = tf + k1 * stretch
    # Where there is nothing to divide by, k1 or the stretch is 0, and the word is not there.
    parts = np.divide(tf * (k1 + 1), below, out=np.zeros_like(tf), where=tf > 0)
    times = np.array(list(query.values()), float)
    terms = (times * idf)[:, None] * parts
    return BM25(
        tuple(query), times, df, idf, tf, lengths, mean, stretch, parts, terms, terms.sum(0)
    )
