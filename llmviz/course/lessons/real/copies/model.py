"""Nonsense twice: how well the second time is guessed, and which heads do it.

T tokens of one time, L layers, H heads.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from llmviz.course.lessons.real import words as lesson_words
from llmviz.course.lessons.real.reader import (
    Reads,
    head_means,
    ids_of,
    packed,
    text_of,
    token_losses,
)

LENGTH = 25
SEEDS = (0, 1, 2)
MOST = 60  # tokens of one's own nonsense
LOUDEST = 3  # heads that are switched off
WORD = 3  # letters, at least, of a token that counts as a word


class Copies(NamedTuple):
    """The tokens of one time, the loss of each token of both times, and what heads do.

    losses: (2T − 1,), of the second token on. each: (L, H) packed, how much each token of the
    second time but the last looks one behind its former place; before: (L, H) how much they look
    at the token before, the mean.
    """

    tokens: tuple[str, ...]
    losses: tuple[float, ...]
    each: tuple[tuple[str, ...], ...]
    before: tuple[tuple[float, ...], ...]

    @property
    def length(self) -> int:
        """The tokens of one time."""
        return len(self.tokens)

    @property
    def back(self) -> np.ndarray:
        """How much each head looks one behind the former place, (L, H)."""
        return head_means(self.each)

    def mean(self, *, second: bool) -> float:
        """The loss of the first time, or of the second but for its first token."""
        cut = self.length - 1
        return float(np.mean(self.losses[cut + 1 :] if second else self.losses[:cut]))

    def loudest(self, count: int = LOUDEST) -> list[tuple[int, int]]:
        """The heads that look most at what came next the last time, the most first."""
        return strongest(self.back, count)


class Off(NamedTuple):
    """The loss of the second time: as it is, without the loudest heads, without as many others."""

    heads: tuple[tuple[int, int], ...]
    on: tuple[float, ...]
    off: tuple[float, ...]
    others: tuple[float, ...]


def strongest(values: np.ndarray, count: int) -> list[tuple[int, int]]:
    """Return the places (row, column) of the largest values, the largest first."""
    order = np.argsort(-values, axis=None, kind="stable")[:count]
    return [(int(i), int(j)) for i, j in zip(*np.unravel_index(order, values.shape), strict=True)]


def nonsense(reader: Reads, seed: int, length: int = LENGTH) -> list[int]:
    """Return tokens (T,) drawn among those that are words, all different."""
    words = [
        token
        for token in range(reader.model.config.vocab_size)
        if (text := text_of(reader, token)).startswith(" ")
        and len(text) > WORD
        and text[1:].isascii()
        and text[1:].isalpha()
    ]
    return [int(t) for t in np.random.default_rng(seed).choice(words, length, replace=False)]


def own_ids(reader: Reads, text: str) -> list[int]:
    """Return one's own nonsense as tokens, with a space in front. Raises ValueError: too short."""
    ids = ids_of(reader, " " + text.strip() if text.strip() else text, MOST)
    if len(ids) < 2:
        raise ValueError(lesson_words.refused["copied"])
    return ids


def measure(reader: Reads, text: str = "") -> Copies:
    """Let the model read a text twice, one time behind the other; without one, drawn tokens."""
    return twice(reader, own_ids(reader, text) if text else nonsense(reader, SEEDS[0]))


def twice(reader: Reads, ids: Sequence[int]) -> Copies:
    """Let the model read some tokens twice."""
    import torch

    from llmviz.trace import record

    both, count = [*ids, *ids], len(ids)
    with torch.inference_mode(), record("blocks.*.attn.weights") as trace:
        reader.model(torch.tensor([both]), last_only=True)
    rows = torch.arange(count, 2 * count - 1)
    back, before = (
        [part[0, :, rows, rows - far] for part in trace.values()] for far in (count - 1, 1)
    )
    return Copies(
        tuple(text_of(reader, token) for token in ids),
        tuple(round(float(x), 4) for x in token_losses(reader, both)),
        tuple(tuple(map(packed, layer)) for layer in back),
        tuple(tuple(round(float(x), 4) for x in layer.mean(-1)) for layer in before),
    )


def without(reader: Reads) -> Off:
    """Return what the loudest heads are needed for: the loss of the second time, for each seed.

    The others are as many heads of the same layers, drawn by the seed.
    """
    from llmviz.nn.attention import heads_off

    heads = measure(reader).loudest()
    found: dict[str, list[float]] = {"on": [], "off": [], "others": []}
    for seed in SEEDS:
        ids = nonsense(reader, seed)
        random = np.random.default_rng((seed, 1))
        every = range(reader.model.config.n_head)
        others = [
            (layer, int(random.choice([h for h in every if (layer, h) not in heads])))
            for layer, _ in heads
        ]
        for name, off in (("on", ()), ("off", heads), ("others", others)):
            with heads_off(off):
                losses = token_losses(reader, [*ids, *ids])
            found[name].append(float(losses[len(ids) :].mean()))
    return Off(tuple(heads), *(tuple(found[name]) for name in ("on", "off", "others")))
