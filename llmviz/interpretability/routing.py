"""Which expert of a model gets which tokens, and what that tells of them.

N texts, W tokens of a text, E experts, V tokens that there are.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from torch import Tensor

    from llmviz.models.base import LanguageModel


def router_scores(model: LanguageModel, ids: Tensor, layer: int = 0) -> np.ndarray:
    """Return what the router of a layer says to each token of texts (N, W), (N, W, E)."""
    import torch

    from llmviz.trace import record

    with torch.inference_mode(), record() as trace:
        model(ids)
    return trace[f"blocks.{layer}.mlp.router"].double().numpy()


def sent_tokens(scores: np.ndarray, ids: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return how many tokens each expert gets, by text (N, E) and by token (E, V).

    scores (N, W, E) of a router that sends each token to one. ids (N, W). size: V.
    """
    chosen, experts = scores.argmax(-1), scores.shape[-1]
    by_text = np.zeros((len(ids), experts), np.int64)
    by_token = np.zeros((experts, size), np.int64)
    np.add.at(by_text, (np.arange(len(ids))[:, None], chosen), 1)
    np.add.at(by_token, (chosen, ids), 1)
    return by_text, by_token


def shared_bits(counts: np.ndarray) -> float:
    """Return the mutual information of rows and columns of a table of counts, in bits.

    What chance alone brings into so many counts is taken off, so it may be a little below 0.

    Reference: Miller 1955, "Note on the bias of information estimates".

    >>> round(shared_bits(np.array([[500, 0], [0, 500]])), 2)
    1.0
    """
    total = counts.sum()
    p = counts / total
    rows, columns = p.sum(1, keepdims=True), p.sum(0, keepdims=True)
    expected = rows * columns
    some = p > 0
    bits = float((p[some] * np.log2(p[some] / expected[some])).sum())
    free = float((np.count_nonzero(rows) - 1) * (np.count_nonzero(columns) - 1))
    return bits - free / (2 * float(total) * math.log(2))


def entropy(counts: np.ndarray) -> float:
    """Return the entropy of counts (N,), in bits."""
    p = counts[counts > 0] / counts.sum()
    return -float((p * np.log2(p)).sum())
