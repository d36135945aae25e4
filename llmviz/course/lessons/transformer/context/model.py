"""One token in two texts: its vectors step by step, and which head moved them apart.

S steps, T tokens, C = n_embd, L layers, H heads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from llmviz.similarity import mean_cosine_of_others, row_cosines
from llmviz.tokenizers import Token, Tokenizer

if TYPE_CHECKING:
    from llmviz.models.gpt import GPT
    from llmviz.models.residual import Stage, Stream


@dataclass(frozen=True)
class Place:
    """A token in a text that a model has read: where it stands, what it is, and the stream.

    `ids` begin with the `opens` tokens that stand in front of every text; `at` counts them too.
    """

    ids: tuple[int, ...]
    at: int
    stream: Stream
    opens: int = 1

    @property
    def next_token(self) -> tuple[int, float]:
        """The token that the model expects behind this one, and its probability."""
        chances = self.stream.chances[self.at].double().numpy()
        best = int(chances.argmax())
        return best, float(chances[best])


@dataclass(frozen=True)
class TwoPaths:
    """A token's vectors in two texts, `a` and `b` (S, C), after each of `steps`.

    cosines: (S,) of the two vectors. others: (S,) mean cosine of all pairs of different tokens,
    one from each text, without the start token, whose vector is like no other.
    """

    steps: list[Stage]
    a: np.ndarray
    b: np.ndarray
    cosines: np.ndarray
    others: np.ndarray


@dataclass(frozen=True)
class Move:
    """The attention step that lowers a cosine most, and its head that differs most.

    layer, head: from 0. before, after: the cosine. apart: distance of what the head wrote into the
    two vectors. taken: for each text the token that the head's weight is largest on, and the
    weight.
    """

    layer: int
    head: int
    before: float
    after: float
    apart: float
    taken: tuple[tuple[int, float], tuple[int, float]]


def added_stages(model: GPT) -> list[int]:
    """Return which stages of a model's stream add something; a position is not always added."""
    from llmviz.models.residual import stages

    added = model.config.adds_positions
    return [i for i, stage in enumerate(stages(model)) if added or stage.kind != "position"]


def two_paths(model: GPT, first: Place, second: Place) -> TwoPaths:
    """Return the vectors of a token in two texts after each step that adds something."""
    from llmviz.models.residual import stages

    kept = added_stages(model)
    a, b = (place.stream.states[kept, place.at].double().numpy() for place in (first, second))
    inner = slice(first.opens, None)  # the texts' own tokens
    pairs = zip(first.stream.states[kept, inner], second.stream.states[kept, inner], strict=True)
    others = [mean_cosine_of_others(x, first.ids[inner], y, second.ids[inner]) for x, y in pairs]
    every = stages(model)
    return TwoPaths([every[i] for i in kept], a, b, row_cosines(a, b), np.array(others))


def largest_move(paths: TwoPaths, first: Place, second: Place) -> Move:
    """Return the attention step after which the cosine fell most, or rose least."""
    from llmviz.models.residual import parting_head

    attention = [i for i, step in enumerate(paths.steps) if step.kind == "attention"]
    at = max(attention, key=lambda i: paths.cosines[i - 1] - paths.cosines[i])
    layer = paths.steps[at].layer
    head, apart = parting_head(first.stream, second.stream, layer, first.at, second.at)
    before, after = (float(paths.cosines[i]) for i in (at - 1, at))
    taken = _most_read(first, layer, head), _most_read(second, layer, head)
    return Move(layer, head, before, after, apart, taken)


def _most_read(place: Place, layer: int, head: int) -> tuple[int, float]:
    weights = place.stream.weights[layer, head, place.at, : place.at + 1].numpy()
    best = int(weights.argmax())
    return place.ids[best], float(weights[best])


def last_piece(tokenizer: Tokenizer, tokens: Sequence[Token], word: str) -> tuple[int, int] | None:
    """Return where a word stands first in a text, and how many tokens it is cut into.

    The place is that of its last token. None where the word is not there.
    """
    word = word.strip()
    if not word:
        return None
    own = [token.id for token in tokens]
    for text in (f" {word}", word):
        pieces = tokenizer.encode(text)
        for start in range(len(own) - len(pieces) + 1):
            if own[start : start + len(pieces)] == pieces:
                return start + len(pieces) - 1, len(pieces)
    return None
