"""How much of all attention goes to the first token, and what a model does without it.

L layers, H heads, T tokens, C width.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from llmviz.course.lessons.real import words as lesson_words
from llmviz.course.lessons.real.reader import Reads, head_means, ids_of, packed, passage, text_of

WINDOWS = (16, 32, 64, 128)
MOST = 120  # tokens of a sentence


class First(NamedTuple):
    """What each later token gives to the first one, and lengths of vectors.

    each: (L, H) packed shares, of the second token on. scores: (L, H, 2) of the last token, before
    softmax: for the first one, and for all others together. first, others: (L + 1,) the length of
    the first token's vector before each layer and after the last, and the median of the others'.
    """

    tokens: tuple[str, ...]
    each: tuple[tuple[str, ...], ...]
    scores: tuple[tuple[tuple[float, float], ...], ...]
    first: tuple[float, ...]
    others: tuple[float, ...]

    @property
    def shares(self) -> np.ndarray:
        """What each head gives to the first token, means over the later ones, (L, H)."""
        return head_means(self.each)

    @property
    def mean(self) -> float:
        """The first token's share over all layers and heads."""
        return float(np.mean(self.shares))


class Window(NamedTuple):
    """The loss on a text of which each token sees only the last `size`, without and with the first.

    all: with everything before it.
    """

    size: int
    without: float
    with_first: float
    all: float


def measure(reader: Reads, text: str) -> First:
    """Read a text of at least two tokens once. Raises ValueError for one that is too short."""
    import torch

    from llmviz.trace import record

    ids = ids_of(reader, text, MOST)
    if len(ids) < 2:
        raise ValueError(lesson_words.refused["first"])
    layers = range(reader.model.config.n_layer)
    taps = ["embed", *(f"blocks.{layer}.residual" for layer in layers)]
    wanted = [*taps, "blocks.*.attn.weights", "blocks.*.attn.masked"]
    with torch.inference_mode(), record(wanted) as trace:
        reader.model(torch.tensor([ids]), last_only=True)
    each = [trace[f"blocks.{layer}.attn.weights"][0, :, 1:, 0] for layer in layers]  # (H, T − 1)
    last = [trace[f"blocks.{layer}.attn.masked"][0, :, -1] for layer in layers]  # (H, T)
    lengths = torch.stack([trace[tap][0].norm(dim=-1) for tap in taps])  # (L + 1, T)
    return First(
        tuple(text_of(reader, token) for token in ids),
        tuple(tuple(map(packed, layer)) for layer in each),
        tuple(
            tuple((round(float(s[0]), 3), round(float(s[1:].logsumexp(0)), 3)) for s in layer)
            for layer in last
        ),
        tuple(round(float(x), 1) for x in lengths[:, 0]),
        tuple(round(float(x), 1) for x in lengths[:, 1:].median(dim=1).values),
    )


def windows(reader: Reads) -> tuple[Window, ...]:
    """Return the loss on a story for some windows, on the tokens whose window has lost the first.

    The same tokens count in each window: those behind the largest.
    """
    import torch

    from llmviz.evaluation.longer_texts import losses_within

    ids = ids_of(reader, passage())
    longest = max(WINDOWS)
    model, row = reader.model, torch.tensor([ids])
    every = losses_within(model, row, len(ids), keeps_first=True)[0, longest:]
    found = []
    for size in WINDOWS:
        parts = [losses_within(model, row, size, keeps_first=keeps) for keeps in (False, True)]
        without, with_first = (float(part[0, longest:].mean()) for part in parts)
        found.append(Window(size, without, with_first, float(every.mean())))
    return tuple(found)
