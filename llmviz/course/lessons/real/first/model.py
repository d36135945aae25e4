"""How much of all attention goes to the first token, and what a model does without it.

L layers, H heads, T tokens, C width.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from llmviz.course.lessons.real.reader import Reads, ids_of, passage, text_of

WINDOWS = (16, 32, 64, 128)
MOST = 120  # tokens of a sentence


class First(NamedTuple):
    """Shares of the first token, means over the later ones, and lengths of vectors.

    shares: (L, H). first, others: (L + 1,) the length of the first token's vector before each
    layer and after the last, and the median of the others'.
    """

    tokens: tuple[str, ...]
    shares: tuple[tuple[float, ...], ...]
    first: tuple[float, ...]
    others: tuple[float, ...]

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
        raise ValueError("a text of one token has nothing that could look back")
    layers = range(reader.model.config.n_layer)
    taps = ["embed", *(f"blocks.{layer}.residual" for layer in layers)]
    with torch.inference_mode(), record([*taps, "blocks.*.attn.weights"]) as trace:
        reader.model(torch.tensor([ids]), last_only=True)
    shares = [trace[f"blocks.{layer}.attn.weights"][0, :, 1:, 0].mean(-1) for layer in layers]
    lengths = torch.stack([trace[tap][0].norm(dim=-1) for tap in taps])  # (L + 1, T)
    return First(
        tuple(text_of(reader, token) for token in ids),
        tuple(tuple(round(float(x), 4) for x in row) for row in shares),
        tuple(round(float(x), 1) for x in lengths[:, 0]),
        tuple(round(float(x), 1) for x in lengths[:, 1:].median(dim=1).values),
    )


def windows(reader: Reads) -> tuple[Window, ...]:
    """Return the loss on a story for some windows, on the tokens whose window has lost the first.

    The same tokens count in each window: those behind the largest.
    """
    ids = ids_of(reader, passage())
    longest = max(WINDOWS)
    every = loss_within(reader, ids, len(ids), keeps_first=True)[longest:]
    found = []
    for size in WINDOWS:
        parts = [loss_within(reader, ids, size, keeps_first=keeps) for keeps in (False, True)]
        without, with_first = (float(part[longest:].mean()) for part in parts)
        found.append(Window(size, without, with_first, float(every.mean())))
    return tuple(found)


def loss_within(reader: Reads, ids: list[int], size: int, *, keeps_first: bool) -> np.ndarray:
    """Return the loss of each token from the second on (T − 1,), each seen from a window.

    size: the tokens that one sees, itself included. keeps_first: the first one is seen, too.
    """
    import torch

    gpt, row = reader.model, torch.tensor([ids])
    place = torch.arange(len(ids))
    mask = (place[:, None] >= place) & (place[:, None] - place < size)
    if keeps_first:
        mask[:, 0] = True
    with torch.inference_mode():
        x = gpt.token(row)
        for block in gpt.blocks:
            x = block(x, mask, False, None)
        logits = gpt.head(gpt.norm_final(x))[0, :-1]
        return torch.nn.functional.cross_entropy(logits, row[0, 1:], reduction="none").numpy()
