"""What a feature writes, which features lie near it, and what is on at each token of a text.

T tokens, C = n_embd, N features, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from llmviz.interpretability.sparse_autoencoder import Dictionary
    from llmviz.models.gpt import GPT


class FeatureWrites(NamedTuple):
    """The tokens whose logits a value of 1 of a feature raises and lowers most, by the direct way.

    more, less: ids, the largest change first; raised, lowered: by how much.
    """

    more: np.ndarray
    raised: np.ndarray
    less: np.ndarray
    lowered: np.ndarray


def feature_writes(gpt: GPT, direction: np.ndarray, divisor: float, keep: int = 8) -> FeatureWrites:
    """Return what a direction (C,) of the stream adds to the logits through the last norm.

    divisor: by which that norm divides. What later layers make of the direction is left out.
    """
    import torch

    from llmviz.nn.layers import LayerNorm, RMSNorm

    with torch.inference_mode():
        column = torch.from_numpy(direction)
        norm = gpt.norm_final
        if isinstance(norm, LayerNorm | RMSNorm):
            centred = column - column.mean() if isinstance(norm, LayerNorm) else column
            column = centred / divisor * norm.weight
        logits = gpt.head.weight @ column  # (V,)
        keep = min(keep, len(logits))
        more, less = logits.topk(keep), logits.topk(keep, largest=False)
    parts = (more.indices, more.values, less.indices, less.values)
    return FeatureWrites(*(part.numpy() for part in parts))


def neighbours(
    dictionary: Dictionary, feature: int, keep: int = 5
) -> tuple[np.ndarray, np.ndarray]:
    """Return the features whose directions are nearest to a feature's, and the cosines."""
    cosines = dictionary.directions @ dictionary.directions[feature]
    cosines[feature] = -np.inf
    order = np.argsort(-cosines, kind="stable")[: min(keep, len(dictionary) - 1)]
    return order, cosines[order]


def values_on(gpt: GPT, ids: Sequence[int], layer: int, dictionary: Dictionary) -> np.ndarray:
    """Return the value of each feature at each token of a text behind the start token (T, N)."""
    from llmviz.interpretability.stream_reading import read_taps, stream_tap

    return dictionary.read(read_taps(gpt, [ids], [stream_tap(layer)])[0][0])
