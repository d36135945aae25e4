"""The search of a model's units on the texts that come along, and what one unit does on them.

L layers, F hidden width.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from llmviz.corpus import CORPORA, load_corpus

if TYPE_CHECKING:
    from torch import nn

    from llmviz.study.units import UnitSearch
    from llmviz.tokenizers import Tokenizer

TOKENS = 16_000  # that are read
LONGEST = 64  # tokens of a text: its beginning
SAMPLE = "tiny-world-sample"
# Upper ends of the groups of units, as shares of the tokens on which a unit fires; first: never.
ENDS = (0.0, 0.001, 0.01, 0.1, 0.5, 1.0)

SELDOM = 3  # of ENDS: a unit that fires more often says little about a single token


@dataclass(frozen=True, eq=False)
class CorpusSearch:
    """What all units of a model did, and the texts that it read, as ids."""

    corpus: str
    texts: tuple[tuple[int, ...], ...]
    search: UnitSearch

    def groups(self) -> np.ndarray:
        """How many units of each layer belong to each group of ENDS: (L, 6)."""
        return np.stack([(self.group_of() == group).sum(-1) for group in range(len(ENDS))], axis=-1)

    def group_of(self) -> np.ndarray:
        """The group of ENDS that each unit belongs to, (L, F)."""
        return np.searchsorted(np.float32(ENDS), self.search.fired.numpy(), side="left")

    def strongest(self, layer: int, group: int) -> int | None:
        """Return the unit with the highest value in a group of a layer; None in an empty one."""
        inside = np.flatnonzero(self.group_of()[layer] == group)
        peaks = self.search.highest[layer, :, 0].numpy()[inside]
        return int(inside[peaks.argmax()]) if len(inside) else None

    def telling(self, layer: int, count: int) -> list[int]:
        """Return units of a layer with high values, those first that fire at most on a tenth."""
        seldom = self.search.fired[layer].numpy() <= np.float32(ENDS[SELDOM])
        peaks = self.search.highest[layer, :, 0].numpy()
        return np.lexsort((-peaks, ~seldom))[:count].tolist()


def corpus_of(name: str) -> str:
    """Return the corpus to read for a model that learned from the one of this name.

    Its own if it comes along whole, else the sample of tiny-world.
    """
    entry = CORPORA.get(name)
    return name if entry is not None and entry.bundled and entry.file is not None else SAMPLE


def search_corpus(model: nn.Module, tokenizer: Tokenizer, corpus: str) -> CorpusSearch:
    """Read the beginnings of a corpus's texts, TOKENS tokens in all, and note what units do.

    Each text is read behind the start token and cut to LONGEST tokens or the model's context.
    Raises ValueError as `search_units` does.
    """
    from llmviz.study.units import search_units, texts_within

    longest, texts, tokens = min(LONGEST, model.context_length), [], 0
    for document in load_corpus(corpus):
        texts.append(tokenizer.encode_from_start(document[: 16 * longest])[:longest])
        tokens += len(texts[-1])
        if tokens >= TOKENS:
            break
    cut = texts_within(texts, TOKENS, longest)
    return CorpusSearch(corpus, tuple(map(tuple, cut)), search_units(model, cut))
