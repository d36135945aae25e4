"""One place of a story: what a student is told there, by the token that came and by a teacher.

K columns: the most probable tokens, and all others together. V vocabulary.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from llmviz.corpus.next_tokens import NextTokens
from llmviz.sampling.steps import softmax

SHOWN = 7  # tokens with a column of their own


@dataclass(frozen=True)
class Place:
    """Targets and pulls of one place, each (K,); the last column is all other tokens together.

    ids: those of the columns but the last. true: the grammar's probabilities. hard: 1 for the token
    that came. soft: the teacher's at the temperature. student: the student's at temperature 1, and
    heated: at the teacher's. hard_pull, soft_pull: the gradient of either loss on the student's
    logits, student − hard and T · (heated − soft).
    bits: how open each target leaves the next token, its entropy in bits. outside: the share of the
    soft target on tokens that the grammar cannot write here. noise: the mean squared distance of
    the gradient by a token that is drawn from the grammar from that by the grammar's distribution;
    off: the same of the gradient by the teacher's distribution at temperature 1.
    """

    ids: np.ndarray
    true: np.ndarray
    hard: np.ndarray
    soft: np.ndarray
    student: np.ndarray
    heated: np.ndarray
    hard_pull: np.ndarray
    soft_pull: np.ndarray
    bits: dict[str, float]
    outside: float
    noise: float
    off: float


def place_of(
    teacher: np.ndarray, student: np.ndarray, truth: NextTokens, came: int, temperature: float
) -> Place:
    """Return what is told at a place; teacher, student (V,): logits. came: the token.

    Raises ValueError for logits of different lengths, or a temperature that is no positive number.
    """
    if teacher.shape != student.shape:
        raise ValueError(
            f"{teacher.shape} logits of the teacher and {student.shape} of the student"
        )
    if not (math.isfinite(temperature) and temperature > 0):
        raise ValueError(f"the temperature must be a positive number; got {temperature}")
    true, hard = truth.dense(len(teacher)), np.eye(1, len(teacher), came)[0]
    plain, soft = softmax(teacher), softmax(teacher / temperature)
    own, heated = softmax(student), softmax(student / temperature)
    best = np.argsort(-np.maximum.reduce([true, plain, hard]), kind="stable")[:SHOWN]
    best = best[np.argsort(-plain[best], kind="stable")]

    def columns(values: np.ndarray) -> np.ndarray:
        rest = np.ones(len(values), bool)
        rest[best] = False
        return np.append(values[best], values[rest].sum())

    return Place(
        best,
        columns(true),
        columns(hard),
        columns(soft),
        columns(own),
        columns(heated),
        columns(own - hard),
        columns(temperature * (heated - soft)),
        {"hard": 0.0, "plain": bits(plain), "soft": bits(soft), "true": bits(true)},
        float(soft[true == 0].sum()),
        float(1 - (true**2).sum()),
        float(((plain - true) ** 2).sum()),
    )


def bits(probabilities: np.ndarray) -> float:
    """Return the entropy of a distribution in bits."""
    some = probabilities[probabilities > 0]
    return max(0.0, -float(some @ np.log2(some)))
