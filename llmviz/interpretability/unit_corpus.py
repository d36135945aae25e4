"""Which texts a model's units are watched on, and how the units are grouped by what they did.

L layers, F hidden width.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from llmviz.corpus import CORPORA

if TYPE_CHECKING:
    from llmviz.interpretability.units import UnitSearch
    from llmviz.tokenizers import Tokenizer

TOKENS = 16_000  # that are read
LONGEST = 64  # tokens of a piece
CHARACTERS = 16  # of a token at most, so that of a long text only the beginning is cut into tokens
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
        return np.searchsorted(np.array(ENDS, np.float32), self.search.fired.numpy(), side="left")

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


def corpus_of(name: str, own: Path | None = None) -> str:
    """Return the corpus to read, for `load_corpus`, for a model that learned from one of this name.

    own: where the learner's own text would lie that it learned from. Else it is the model's corpus
    if that comes along whole, and if not the sample of tiny-world.
    """
    if own is not None and own.is_file():
        return str(own)
    entry = CORPORA.get(name)
    return name if entry is not None and entry.bundled and entry.file is not None else SAMPLE


def pieces_of(
    documents: Iterable[str], tokenizer: Tokenizer, longest: int, tokens: int
) -> list[list[int]]:
    """Return pieces of up to `longest` tokens of some documents, `tokens` tokens together.

    First come the beginnings of all documents, each behind the start token; where these are too
    few, the documents go on, piece after piece.
    """
    from llmviz.interpretability.units import texts_within

    pieces, total, documents = [], 0, list(documents)
    for document in documents:
        piece = tokenizer.encode_from_start(document[: CHARACTERS * longest])[:longest]
        pieces.append(piece)
        total += len(piece)
        if total >= tokens:
            return texts_within(pieces, tokens, longest)
    for document in documents:
        ids = tokenizer.encode_from_start(document[: CHARACTERS * tokens])[longest:tokens]
        rest = [ids[at : at + longest] for at in range(0, len(ids), longest)]
        pieces += rest
        total += len(ids)
        if total >= tokens:
            break
    return texts_within(pieces, tokens, longest)
