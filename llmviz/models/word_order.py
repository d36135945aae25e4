"""The same tokens in another order, and what a model then says.

T tokens, R orders, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from llmviz.models.base import LanguageModel


def shuffled(ids: Sequence[int], seed: int, first: int = 0) -> list[int]:
    """Return the ids in an order drawn from a seed; the last one, and `first` ones, stay.

    Seed 0 is the order as it is.
    """
    middle = list(ids[first:-1])
    if seed == 0 or len(middle) < 2:
        return list(ids)
    generator = torch.Generator().manual_seed(seed)
    order = torch.randperm(len(middle), generator=generator).tolist()
    return [*ids[:first], *(middle[i] for i in order), ids[-1]]


def next_probabilities(model: LanguageModel, rows: Sequence[Sequence[int]]) -> np.ndarray:
    """Return what a model gives to each next token after each row of equal length, (R, V)."""
    with torch.inference_mode():
        logits, _ = model(torch.tensor(list(map(list, rows))))
    return logits[:, -1].double().softmax(-1).numpy()


def total_variation(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return how far two distributions (…, V) are apart, from 0 to 1.

    It is the share of draws that would come out differently at least.
    """
    return np.abs(p - q).sum(axis=-1) / 2
