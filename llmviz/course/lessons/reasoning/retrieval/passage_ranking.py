"""Passages put in order for a question: by BM25, by the cosine of tf-idf, by the mean of vectors.

How often the right passage is among the first is measured again by `python -m experiments make
passage-recall`, under a minute, which writes `data/experiments/passage-recall.json`.
D passages, W words of the question. No torch.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.language.counts import tf_idf
from llmviz.records import Recorded, typed
from llmviz.similarity import BM25, Passage, VectorTable, bm25, row_cosines, search_words
from llmviz.similarity.bm25 import K1, B
from llmviz.similarity.table import WHOLE
from llmviz.tokenizers import UNKNOWN

BM, TFIDF, VECTORS = "bm25", "tfidf", "vectors"
RANKINGS = (BM, TFIDF, VECTORS)


@dataclass(frozen=True, eq=False)
class Ranked:
    """The scores (D,) of all passages in each way, and the arithmetic of BM25.

    A passage without a word of the vectors has NaN there. unknown: words of the question and of
    the passages that have no vector, each once.
    """

    passages: tuple[Passage, ...]
    terms: BM25
    scores: dict[str, np.ndarray]
    unknown: tuple[str, ...]

    def order(self, way: str) -> list[int]:
        """The passages from the best to the worst; of equal ones, the one that stands first."""
        return order_of(self.scores[way])


def order_of(scores: np.ndarray) -> list[int]:
    """Return the places of scores (D,) from the highest; NaN last, equal ones in their order.

    >>> order_of(np.array([0.0, 2.0, np.nan, 2.0]))
    [1, 3, 0, 2]
    """
    # What differs by rounding alone is equal: passages with the same words are not put apart.
    rounded = np.round(np.nan_to_num(scores, nan=-math.inf), 10)
    return [int(at) for at in np.argsort(-rounded, kind="stable")]


def rank(
    passages: Sequence[Passage], question: str, means: Means, k1: float = K1, b: float = B
) -> Ranked:
    """Score passages for a question; means: those of the passages, in the same order.

    Raises ValueError where no passage has a word.
    """
    cut = [search_words(passage.text) for passage in passages]
    query = search_words(question)
    terms = bm25(cut, query, k1, b)
    vectors, unknown = means.cosines(question)
    scores = {BM: terms.scores, TFIDF: tf_idf_cosines(cut, query), VECTORS: vectors}
    return Ranked(tuple(passages), terms, scores, unknown)


def tf_idf_cosines(passages: Sequence[Sequence[str]], question: Sequence[str]) -> np.ndarray:
    """Return the cosine (D,) of the weights of each passage with those of the question.

    The question is weighed like a passage: how often it has a word, times the word's idf. Where one
    of the two has only words of weight 0, the cosine is 0.
    """
    weighed = tf_idf(passages)
    column = {word: at for at, word in enumerate(weighed.words)}
    query = np.zeros(len(column))
    for word in question:
        if word in column:
            query[column[word]] += weighed.idf[column[word]]
    lengths = np.linalg.norm(weighed.weights, axis=1) * np.linalg.norm(query)
    products = weighed.weights @ query
    return np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0)


@dataclass(frozen=True, eq=False)
class Means:
    """The mean vector of each passage (D, C), NaN where no token of it has a vector.

    unknown: the words without a vector, each once, in their order.
    """

    table: VectorTable
    rows: np.ndarray
    unknown: tuple[str, ...]

    @classmethod
    def of(cls, passages: Sequence[str], table: VectorTable) -> Means:
        """Read passages with the tokens of a table."""
        missing: dict[str, None] = {}
        rows = [_mean(text, table, missing) for text in passages]
        return cls(table, np.array(rows).reshape(-1, table.width), tuple(missing))

    def cosines(self, question: str) -> tuple[np.ndarray, tuple[str, ...]]:
        """Return the cosine (D,) of each row with the mean of a question, and all unknown words.

        NaN where a passage, or the question, has no token with a vector.
        """
        missing: dict[str, None] = {}
        query = _mean(question, self.table, missing)
        found = np.full(len(self.rows), np.nan)
        known = ~np.isnan(self.rows[:, 0])
        if known.any() and not np.isnan(query[0]):
            rows = self.rows[known]
            found[known] = row_cosines(rows, np.broadcast_to(query, rows.shape))
        return found, tuple(dict.fromkeys([*missing, *self.unknown]))


def _mean(text: str, table: VectorTable, missing: dict[str, None]) -> np.ndarray:
    """Return the mean of a text's vectors (C,); words without a vector go into `missing`."""
    unknown = table.tokenizer.special_tokens.get(UNKNOWN)
    by_word = table.tokenizer.kind in WHOLE
    ids = []
    for token in table.tokenizer.tokens(text):
        word = text[token.char_start : token.char_end]
        if by_word and not any(map(str.isalnum, word)):
            continue  # a sign
        if token.id == unknown:
            missing[word.lower()] = None
        else:
            ids.append(token.id)
    return table.mean(ids) if ids else np.full(table.width, np.nan)


FILE = "passage-recall.json"
COMMAND = "python -m experiments make passage-recall"
PIECES = "pieces"  # the mean of the story model's embeddings, which cut any word into tokens
WAYS = (BM, TFIDF, VECTORS, PIECES)
TABLES = {VECTORS: "tiny-world-word2vec", PIECES: "tiny-world-gpt"}
AMONG = (1, 2, 3, 5, 10)  # how many passages are taken
PARTS, STORIES = (0, 1, 2), 60  # of tiny-world, and stories in each
WORLD, STORY = "tiny-world", "story"


@dataclass(frozen=True)
class Recall:
    """For how many questions of a text the right passage is among the first AMONG ones, by way."""

    text: str
    part: int
    passages: int
    questions: int
    hits: dict[str, tuple[int, ...]]


@cache
def recorded(folder: Path = EXPERIMENT_FOLDER) -> dict[str, list[Recall]]:
    """Return what was measured, by text. ValueError where the file is missing or damaged."""
    with Recorded(folder / FILE, COMMAND) as content:
        found = typed(content["texts"], list[Recall])
        texts = {name: [part for part in found if part.text == name] for name in (WORLD, STORY)}
        if [len(texts[WORLD]), len(texts[STORY])] != [len(PARTS), 1]:
            raise ValueError("texts are missing")
        return texts


def share(name: str, way: str, among: int) -> float:
    """Return recall among so many passages, over all parts of a text together."""
    at = AMONG.index(among)
    those = recorded()[name]
    return sum(part.hits[way][at] for part in those) / sum(part.questions for part in those)
