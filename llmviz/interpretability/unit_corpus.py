"""Which texts a model's units are watched on, and which units are worth a look.

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
SELDOM = 0.1  # of the tokens: a unit that fires more often says little about a single one


@dataclass(frozen=True, eq=False)
class CorpusSearch:
    """What all units of a model did, and the texts that it read, as ids."""

    corpus: str
    texts: tuple[tuple[int, ...], ...]
    search: UnitSearch

    def telling(self, layer: int, count: int) -> list[int]:
        """Return units of a layer with high values, those first that fire at most on a tenth."""
        seldom = self.search.fired[layer].numpy() <= np.float32(SELDOM)
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
