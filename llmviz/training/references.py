"""Losses to compare with: all tokens equal, token counts, pair counts, the text's entropy."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from llmviz.corpus import bigram_entropy, entropy_floor, load_corpus, unigram_entropy
from llmviz.corpus.streamed import pieces_in
from llmviz.files.text import ENDOFTEXT

KEY = "references"  # in the `data` of a run's config.json
WORLDS = ("tiny-world", "tiny-world-sample")  # corpora whose own entropy is known
SAMPLE = "tiny-world-sample"  # stands for tiny-world where writing all of it anew takes too long
FLOOR_DOCUMENTS = 200  # held-out documents that the floor is measured on, at most


@dataclass(frozen=True)
class References:
    """Losses in nats per token that need no network.

    They are counted on the training tokens of a run, with the end-of-text tokens that stand between
    documents. `floor` is that of held-out documents, read from their start.
    """

    uniform: float  # ln V: every token equally probable
    unigram: float  # the tokens' frequencies
    bigram: float  # the frequencies after each token
    floor: float | None  # no model can do better in expectation; known for tiny-world only
    tokens: int  # that were counted
    bytes: int  # of the texts they are from, in UTF-8
    floor_documents: int = 0

    @property
    def tokens_per_byte(self) -> float:
        """Turns nats per token into nats per byte."""
        return self.tokens / self.bytes

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> References:
        """From `to_dict`. Raises ValueError for other fields."""
        try:
            return cls(**values)
        except TypeError as error:
            raise ValueError(f"these are no references: {error}") from error


def references(
    ids: Sequence[int] | np.ndarray,
    texts: Iterable[str],
    held_out: Iterable[str],
    tokenizer: Any,
    corpus: str,
) -> References:
    """Count the training token `ids` of `texts`; for tiny-world, score the held-out documents.

    Raises ValueError for fewer than two tokens.
    """
    floor = None
    if corpus in WORLDS:
        floor = entropy_floor(islice(held_out, FLOOR_DOCUMENTS), tokenizer)
    return References(
        uniform=math.log(tokenizer.vocab_size),
        unigram=unigram_entropy(ids),
        bigram=bigram_entropy(ids),
        floor=floor.per_token if floor else None,
        tokens=len(ids),
        bytes=max(1, sum(len(text.encode("utf-8")) for text, _ in pieces_in(texts))),
        floor_documents=floor.documents if floor else 0,
    )


def references_again(plan: dict[str, Any], tokenizer: Any) -> tuple[References, str]:
    """The references of a run that did not note them, and the corpus they were counted on.

    plan: of the run's config.json. The corpus is read anew, tiny-world's bundled megabyte in place
    of all that the run wrote. Raises ValueError where the corpus is no longer there.
    """
    name, fraction = plan["corpus"], plan["fraction"]
    if name in WORLDS:
        name, fraction = SAMPLE, max(fraction, 0.1)  # a hundredth of it would be a few texts
    train, held_out = load_corpus(name).split(fraction, plan["split_seed"])
    end = tokenizer.special_tokens[ENDOFTEXT]
    ids = [end]
    for text in train:
        ids += [*tokenizer.encode(text), end]
    return references(np.array(ids), train, list(held_out), tokenizer, name), name
