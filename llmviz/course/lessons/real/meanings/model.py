"""Words as the model's table has them: who stands near whom, and sums of vectors.

V tokens, C width. Vectors are compared by their cosine.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from llmviz.course.lessons.real import words as lesson_words
from llmviz.course.lessons.real.reader import Choice, Reads, text_of

if TYPE_CHECKING:
    from torch import Tensor

CHOICES = 8


class Word(NamedTuple):
    """A word as it was typed, the token that stands for it, and whether that is all of it."""

    typed: str
    token: str
    whole: bool


class Sum(NamedTuple):
    """a − b + c, the tokens nearest to it without the three, and with them."""

    words: tuple[Word, Word, Word]
    near: tuple[Choice, ...]
    with_them: tuple[Choice, ...]


class Near(NamedTuple):
    """A word and the tokens nearest to it."""

    word: Word
    near: tuple[Choice, ...]


def table(reader: Reads) -> Tensor:
    """Return the vectors of all tokens, each of length 1, (V, C)."""
    import torch

    with torch.inference_mode():
        return torch.nn.functional.normalize(reader.model.token.weight.float(), dim=1)


def word_of(reader: Reads, typed: str) -> tuple[Word, int]:
    """Return the token of a word behind a space. Raises ValueError: there is no word."""
    text = typed.strip()
    if not text:
        raise ValueError(lesson_words.refused["word"])
    ids = reader.tokenizer.encode(" " + text)
    return Word(text, text_of(reader, ids[0]), len(ids) == 1), ids[0]


def add(reader: Reads, plus: str, minus: str, other: str) -> Sum:
    """Return plus − minus + other. Raises ValueError: a word is missing."""
    vectors = table(reader)
    words, tokens = zip(*(word_of(reader, word) for word in (plus, minus, other)), strict=True)
    a, b, c = (vectors[token] for token in tokens)
    cosines = _cosines(vectors, a - b + c)
    return Sum(words, nearest(reader, cosines, tokens), nearest(reader, cosines))


def near(reader: Reads, typed: str) -> Near:
    """Return the tokens nearest to a word, without itself. Raises ValueError: there is no word."""
    vectors = table(reader)
    word, token = word_of(reader, typed)
    return Near(word, nearest(reader, _cosines(vectors, vectors[token]), (token,)))


def _cosines(vectors: Tensor, x: Tensor) -> np.ndarray:
    return (vectors @ (x / x.norm().clamp_min(1e-12))).numpy()


def nearest(reader: Reads, cosines: np.ndarray, leave: Sequence[int] = ()) -> tuple[Choice, ...]:
    """Return the tokens with the largest cosines (V,), but for those left out."""
    cosines = cosines.copy()
    cosines[list(leave)] = -np.inf
    order = np.argsort(-cosines, kind="stable")[:CHOICES]
    return tuple(Choice(text_of(reader, int(at)), float(cosines[at])) for at in order)
