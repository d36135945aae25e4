"""One forward pass over the learner's tokens, and what of its trace the machine draws.

L layers, H heads, T tokens, R rows drawn, C width, V vocabulary, K predictions listed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from llmviz.sampling.pipeline import top_ids
from llmviz.sampling.steps import softmax

if TYPE_CHECKING:
    from llmviz.models.base import LanguageModel


ROWS = 14  # tokens drawn at most, the last ones
LISTED = 10  # predictions listed for each row

TAPS = (
    "embed",
    "blocks.*.residual",
    "blocks.*.attn",
    "blocks.*.mlp",
    *(f"blocks.*.attn.{part}" for part in ("q", "k", "v", "weights")),
)


@dataclass(frozen=True)
class Reading:
    """What a forward pass computed, for the last R of its T tokens; all arrays float32.

    `first` is the position of the first row that is drawn. `vectors` (L+1, R, C) is the residual
    stream, first as it enters, then after each layer. `weights` (L, H, R, R) are attention
    weights, `earlier` (L, H, R) what each row gives to the tokens that are not drawn: with it
    each row adds up to 1. `queries`, `keys`, `values` (L, H, R) and `attention`, `mlp` (L, R) are
    lengths of vectors, the last two of what is added to the stream. `logits` (R, V) are the
    scores, of which `top_ids` (R, K) are the highest; `rest` (R,) is the probability of all
    others together.
    """

    first: int
    vectors: np.ndarray
    weights: np.ndarray
    earlier: np.ndarray
    queries: np.ndarray
    keys: np.ndarray
    values: np.ndarray
    attention: np.ndarray
    mlp: np.ndarray
    logits: np.ndarray
    top_ids: np.ndarray
    top_probabilities: np.ndarray
    rest: np.ndarray

    @property
    def layers(self) -> int:
        return self.weights.shape[0]

    @property
    def heads(self) -> int:
        return self.weights.shape[1]

    @property
    def top_logits(self) -> np.ndarray:
        """The scores of `top_ids`, (R, K)."""
        return np.take_along_axis(self.logits, self.top_ids, axis=1)


def read(model: LanguageModel, ids: Sequence[int], rows: int = ROWS) -> Reading:
    """Run a GPT over token ids and keep what the machine draws.

    ids: at least one and at most as many as the context holds.
    """
    import torch

    from llmviz.trace import record

    with torch.inference_mode(), record(TAPS) as trace:
        logits = model(torch.tensor([list(ids)]))[0][0]  # (T, V)
    first = max(0, len(ids) - rows)
    layers = range(model.config.n_layer)

    def stack(tap: str) -> np.ndarray:
        """The tap of every layer, its first dimension the layer."""
        return torch.cat([trace[f"blocks.{layer}.{tap}"] for layer in layers]).numpy()

    def lengths(tap: str) -> np.ndarray:
        """The length of the vector of every drawn row."""
        return np.linalg.norm(stack(tap)[..., first:, :], axis=-1)

    def of_each_head(grouped: np.ndarray) -> np.ndarray:
        """Keys or values of every head, (L, H, R): in a group of heads all have the same."""
        return np.repeat(grouped, model.config.n_head // grouped.shape[1], axis=1)

    weights = stack("attn.weights")[:, :, first:]  # (L, H, R, T)
    residual = np.concatenate([trace["embed"].numpy(), stack("residual")])  # (L+1, T, C)
    drawn = logits[first:].numpy()
    best = np.stack([top_ids(row, LISTED) for row in drawn])
    probabilities = softmax(drawn.astype(np.float64))
    listed = np.take_along_axis(probabilities, best, axis=1)
    return Reading(
        first=first,
        vectors=residual[:, first:],
        weights=weights[..., first:],
        earlier=weights[..., :first].sum(axis=-1),
        queries=lengths("attn.q"),
        keys=of_each_head(lengths("attn.k")),
        values=of_each_head(lengths("attn.v")),
        attention=lengths("attn"),
        mlp=lengths("mlp"),
        logits=drawn,
        top_ids=best,
        top_probabilities=listed.astype(np.float32),
        rest=np.maximum(0, 1 - listed.sum(axis=1)).astype(np.float32),
    )
