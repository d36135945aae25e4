"""Texts for learning the parity of bits: in three ways, and in two orders.

A text is: the bits, blanks up to SLOTS places, "=", the path, ":", the answer. B texts, T tokens.

Reference for short texts first: Bengio, Louradour, Collobert and Weston 2009, "Curriculum
Learning". Here only the longest length grows; each length up to it stays as likely as any other.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

TOKENS = "01_=.:"
BLANK, EQUALS, DOT, COLON = (TOKENS.index(sign) for sign in "_=.:")
DIRECT, DOTS, PATH = "direct", "dots", "path"
WAYS = (DIRECT, DOTS, PATH)
MIXED, SHORT_FIRST = "mixed", "short_first"
ORDERS = (MIXED, SHORT_FIRST)
SLOTS = 20  # places for bits
TRAINED = 16  # most bits of a text that is trained on
BATCH = 64


def parities(bits: np.ndarray) -> np.ndarray:
    """Return the running parity of bits along the last axis: 1 after an odd number of ones."""
    return np.bitwise_xor.accumulate(bits, axis=-1)


def question(bits: Sequence[int]) -> list[int]:
    """Return the tokens up to "=". Raises ValueError for no bits, too many, or another number."""
    if not 1 <= len(bits) <= SLOTS:
        raise ValueError(f"from 1 to {SLOTS} bits; got {len(bits)}")
    if set(bits) - {0, 1}:
        raise ValueError("a bit is 0 or 1")
    return [*bits, *[BLANK] * (SLOTS - len(bits)), EQUALS]


def path_of(bits: Sequence[int], way: str) -> list[int]:
    """Return what stands between "=" and ":"."""
    if way == PATH:
        return parities(np.array(bits)).tolist()
    return [DOT] * len(bits) if way == DOTS else []


def text_of(bits: Sequence[int], way: str) -> list[int]:
    """Return a whole text, its answer last."""
    return [*question(bits), *path_of(bits, way), COLON, int(sum(bits) % 2)]


def batch(
    rng: np.random.Generator, way: str, longest: int = TRAINED
) -> tuple[np.ndarray, np.ndarray]:
    """Return inputs and targets (B, T) of random texts; the same bits for each way of a seed.

    longest: the most bits of a text. Each length from 1 to it is as likely as any other. T is what
    the longest text of the batch needs.
    """
    from llmviz.nn.loss import IGNORED

    bits = rng.integers(0, 2, (BATCH, TRAINED))
    lengths = rng.integers(1, longest + 1, (BATCH, 1))
    steps = 0 * lengths if way == DIRECT else lengths
    texts = np.full((BATCH, SLOTS + 1 + steps.max() + 2), BLANK)
    places = np.arange(texts.shape[1])
    texts[:, :TRAINED] = np.where(places[:TRAINED] < lengths, bits, BLANK)
    texts[:, SLOTS] = EQUALS
    true = parities(bits)
    path = texts[:, SLOTS + 1 :]  # a view: what is written here stands in the texts
    if way != DIRECT:
        most = steps.max()
        path[:, :most] = np.where(
            places[:most] < steps, DOT if way == DOTS else true[:, :most], BLANK
        )
    np.put_along_axis(path, steps, COLON, -1)
    np.put_along_axis(path, steps + 1, np.take_along_axis(true, lengths - 1, -1), -1)
    learned = (places >= SLOTS + 1) & (places <= SLOTS + 2 + steps)
    return texts[:, :-1], np.where(learned, texts, IGNORED)[:, 1:]
