"""The table of vectors of a model, and what its rows have in common.

V rows, one a token; C columns.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from llmviz.similarity import VectorTable, crowd, measure_all, nearest_spellings

if TYPE_CHECKING:
    from llmviz.models.base import LanguageModel
    from llmviz.tokenizers import Tokenizer


# As many as models come along; by the model itself: another file of the same name is another one.
@lru_cache(maxsize=32)
def table_of(name: str, model: LanguageModel, tokenizer: Tokenizer) -> VectorTable:
    """Return the table of a model, the same object for the same model.

    Raises ValueError: the model has no table.
    """
    from torch import nn

    from llmviz.models.word2vec import SkipGram

    if isinstance(model, SkipGram):
        rows = model.vectors()
    elif isinstance(table := getattr(model, "token", None), nn.Embedding):
        rows = table.weight.detach().float().cpu().numpy()
    else:
        raise ValueError(f"{name} has no table of vectors")
    # What pads a window of letters has a row behind those of the tokens.
    rows = np.ascontiguousarray(rows[: tokenizer.vocab_size])
    return VectorTable(name, rows, tokenizer)


def load_table(name: str, *, untrained: bool = False) -> VectorTable:
    """Return the table of a bundled model or of a run (`run:NAME`), read anew from its files.

    untrained: the random table that such a model begins with.

    Raises ValueError: there is no such model, it is damaged, or has no table.
    """
    from llmviz.pretrained import load_bundled

    model, tokenizer, card = load_bundled(name)
    if untrained:
        return untrained_table(name, model, tokenizer, card.get("seed") or 0)
    return table_of(name, model, tokenizer)


@lru_cache(maxsize=4)
def untrained_table(
    name: str, model: LanguageModel, tokenizer: Tokenizer, seed: int = 0
) -> VectorTable:
    """Return the table that a model like this one begins its training with: random numbers.

    model: any that is made from its `config` alone.
    """
    import torch

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return table_of(name, type(model)(model.config), tokenizer)


@lru_cache(maxsize=32)
def measured(table: VectorTable, row: int, metric: str = "cosine") -> np.ndarray:
    """Return the measure (V,) of every row of a table with one of them; it is not to be changed.

    Raises ValueError: the row is zero and has no cosine.
    """
    values = measure_all(table.exact, table.exact[row], metric)
    values.flags.writeable = False
    return values


def likest(alike: np.ndarray, row: int, k: int) -> list[int]:
    """Return the k rows with the largest cosines (V,) with a row, itself left out.

    >>> likest(np.array([1.0, 0.2, np.nan, 0.9]), 0, 2)
    [3, 1]
    """
    far = -np.nan_to_num(alike, nan=-2.0)
    # Sorting all takes longer than a picture: only those are sorted that can be among the first.
    edge = np.partition(far, k)[k] if k < far.size else np.inf
    first = np.flatnonzero(far <= edge)
    order = first[np.argsort(far[first], kind="stable")]
    return [int(i) for i in order[: k + 1] if i != row][:k]


@lru_cache(maxsize=256)
def spelled_like(table: VectorTable, row: int) -> list[int]:
    """Return the rows of the words that are spelled most like that of a row."""
    word = table.name_of(row)
    # Only words with the same first letter: comparing the spellings of all takes a moment.
    others = [w for w in table.whole_words if w[0] == word[0] and w != word]
    return [table.find(other) for other in nearest_spellings(word, others)]


@lru_cache(maxsize=8)
def crowded(table: VectorTable) -> np.ndarray:
    """Return the rows of a table that nearly point one way."""
    return crowd(table.exact, measure_all(table.exact, table.exact.mean(axis=0)))


def next_id(ids: np.ndarray, row: int) -> int:
    """Return the row whose id follows that of `row`; of the last id, the one before it.

    >>> next_id(np.array([2, 0, 1]), 2)
    0
    """
    wanted = ids[row] + 1 if ids[row] + 1 < len(ids) else ids[row] - 1
    return int(np.flatnonzero(ids == wanted)[0])
