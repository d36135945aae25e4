"""A hidden word, told from both sides of it and from the left alone.

N words behind the start token, T = N + 1 tokens, V vocabulary of the tokenizer. Torch is imported
on first use.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from llmviz.models import BERT, GPT


def from_both_sides(model: BERT, ids: Sequence[int]) -> np.ndarray:
    """Return the probabilities of each word of a text, hidden alone, (N, V).

    ids: T tokens, the start token first; that one is never hidden. The two ids that are no text,
    mask and padding, are left out. Raises ValueError for a text without a word.
    """
    import torch

    _check(ids)
    rows = torch.tensor([list(ids)]).repeat(len(ids) - 1, 1)  # (N, T)
    words = torch.arange(len(rows))
    rows[words, words + 1] = model.config.mask_id
    with torch.inference_mode():
        logits = model(rows)[0][words, words + 1]  # (N, V + 2)
        return logits.softmax(-1)[:, : model.config.mask_id].numpy()


def from_the_left(model: GPT, ids: Sequence[int]) -> np.ndarray:
    """Return the probabilities of each word of a text after those before it, (N, V).

    Raises ValueError for a text without a word.
    """
    import torch

    _check(ids)
    with torch.inference_mode():
        return model(torch.tensor([list(ids[:-1])]))[0][0].softmax(-1).numpy()


def hidden_at(model: BERT, ids: Sequence[int], word: int) -> list[int]:
    """Return the ids that the model reads while word 0 … N − 1 is hidden."""
    read = list(ids)
    read[word + 1] = model.config.mask_id
    return read


def all_weights(model: GPT, ids: Sequence[int]) -> np.ndarray:
    """Return the attention weights of all heads on a text, (L, H, T, T)."""
    import torch

    from llmviz.trace import record

    with torch.inference_mode(), record("blocks.*.attn.weights") as trace:
        model(torch.tensor([list(ids)]))
    return torch.cat(list(trace.values())).numpy()


def _check(ids: Sequence[int]) -> None:
    if len(ids) < 2:
        raise ValueError("there is no word behind the start token")
