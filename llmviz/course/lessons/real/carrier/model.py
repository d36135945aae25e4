"""What an answer loses when one head is off: each head of a model in turn.

L layers, H heads in each, T tokens, C width.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from llmviz.course.lessons.real.capitals import SIXTEEN, known
from llmviz.course.lessons.real.knows.model import ALONE
from llmviz.course.lessons.real.reader import (
    Choice,
    Reads,
    best,
    chances,
    first_token,
    ids_of,
    text_of,
)

MOST = 40  # tokens of a sentence
AT_ONCE = 5  # layers of one step, which begins with one pass
OTHERS = 8  # heads that are tried beside the one, on the same countries


class Looks(NamedTuple):
    """Where a head looks from the last token: the token, and its share of the attention."""

    token: str
    share: float


class Carrier(NamedTuple):
    """A sentence's first choice, and its share with each head off, (L, H)."""

    answer: Choice
    off: tuple[tuple[float, ...], ...]
    looks: tuple[tuple[Looks, ...], ...]

    def strongest(self) -> tuple[int, int]:
        """The layer and head without which least is left; of equals the first."""
        values = np.array(self.off)
        layer, head = np.unravel_index(int(values.argmin()), values.shape)
        return int(layer), int(head)

    def halved(self) -> int:
        """How many heads halve the answer's share, each alone."""
        return int((np.array(self.off) < self.answer.share / 2).sum())


class Case(NamedTuple):
    """A country, its capital's share, and the share with the head off."""

    country: str
    capital: str
    on: float
    off: float


class Sixteen(NamedTuple):
    """One head off for sixteen countries, and the mean share with each of some others off."""

    head: tuple[int, int]
    cases: tuple[Case, ...]
    others: tuple[tuple[int, int, float], ...]


def grow(reader: Reads, text: str) -> Iterator[tuple[int, np.ndarray]]:
    """Yield a layer and the answer's share with each of its heads off (H,), layer by layer.

    Raises ValueError: the text cannot be read here.
    """
    from llmviz.interpretability.heads_on_text import chances_without

    config, ids = reader.model.config, ids_of(reader, text, MOST)
    for first in range(0, config.n_layer, AT_ONCE):
        layers = range(first, min(first + AT_ONCE, config.n_layer))
        heads = [(layer, head) for layer in layers for head in range(config.n_head)]
        full, less = chances_without(reader.model, ids, heads)
        shares = less[:, int(full.argmax())].reshape(len(layers), config.n_head)
        yield from zip(layers, shares, strict=True)


def begin(reader: Reads, text: str) -> tuple[Choice, tuple[tuple[Looks, ...], ...]]:
    """Return the first choice after a text, and where each head looks from its last token."""
    import torch

    from llmviz.trace import record

    ids = ids_of(reader, text, MOST)
    with torch.inference_mode(), record("blocks.*.attn.weights") as trace:
        logits = reader.model(torch.tensor([ids]), last_only=True)[0][0, -1]
    last = [part[0, :, -1] for part in trace.values()]  # (H, T) of each layer
    looks = tuple(
        tuple(
            Looks(text_of(reader, ids[int(row.argmax())]).strip(), round(float(row.max()), 4))
            for row in layer
        )
        for layer in last
    )
    return best(reader, logits.softmax(-1).numpy(), 1)[0], looks


def measure(reader: Reads, text: str) -> Generator[float, None, Carrier]:
    """Switch off each head of the model in turn; yields how much is done."""
    answer, looks = begin(reader, text)
    off = []
    for layer, row in grow(reader, text):
        off.append(tuple(float(x) for x in row))
        yield (layer + 1) / reader.model.config.n_layer
    return Carrier(answer, tuple(off), looks)


def sixteen(reader: Reads, layer: int, head: int) -> Sixteen:
    """Ask for sixteen capitals with a head on and off, and with some other heads off.

    The others are drawn by a seed among the heads of the same half of the model.
    """
    from llmviz.nn.attention import heads_off

    asked = layer, head
    countries = [country for name in SIXTEEN if (country := known(name))]
    rows = [ids_of(reader, ALONE.format(country=country.name)) for country in countries]
    tokens = [first_token(reader, country.capital) for country in countries]

    def shares(off: Sequence[tuple[int, int]]) -> np.ndarray:
        with heads_off(off):
            return chances(reader, rows)[range(len(rows)), tokens]

    on, without = shares(()), shares([asked])
    n_layer, n_head = reader.model.config.n_layer, reader.model.config.n_head
    upper = [(i, j) for i in range(n_layer // 2, n_layer) for j in range(n_head) if (i, j) != asked]
    drawn = np.random.default_rng(0).choice(len(upper), OTHERS, replace=False)
    others = [upper[place] for place in sorted(drawn)]
    return Sixteen(
        asked,
        tuple(
            Case(country.name, country.capital, float(a), float(b))
            for country, a, b in zip(countries, on, without, strict=True)
        ),
        tuple((*other, float(shares([other]).mean())) for other in others),
    )
