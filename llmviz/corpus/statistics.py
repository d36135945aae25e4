"""What a loss can be held against: the entropy of tiny-world and of simple token counts."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from llmviz.corpus.tiny_world import Document, parse
from llmviz.tokenizers.base import Tokenizer

LEAST_TABLE = 1 << 20  # places of a table of counts that are little memory for any text


@dataclass(frozen=True)
class EntropyFloor:
    """The loss that no model can beat in expectation on these documents, in nats.

    It is minus the documents' own log-probability, so a model is compared with it on the same
    documents. What is modelled is each document's text and the fact that it ends there; the end
    is certain after the closing sentence, so it costs 0 nats, but it is one more token.

    per_token: nats over (tokens of the texts + one end-of-text token for each document); None
    without a tokenizer. It holds for a model that is given the end-of-text token as the start of
    each document and is scored on every token of it and on the end-of-text token that closes it.
    """

    documents: int
    characters: int
    tokens: int | None
    nats: float

    @property
    def per_document(self) -> float:
        """Nats per document."""
        return self.nats / self.documents

    @property
    def per_character(self) -> float:
        """Nats per character of the texts."""
        return self.nats / self.characters

    @property
    def per_token(self) -> float | None:
        """Nats per token, one end of text a document counted; None without a tokenizer."""
        return None if self.tokens is None else self.nats / self.tokens


def entropy_floor(
    documents: Iterable[Document | str], tokenizer: Tokenizer | None = None
) -> EntropyFloor:
    """Return the entropy floor of tiny-world documents; plain texts are parsed first.

    tokenizer: anything with `encode(text) -> list of ids`.
    Raises NotTinyWorldError (a ValueError) for a text that is not tiny-world, ValueError if there
    are no documents.
    """
    count = characters = tokens = 0
    nats = 0.0
    for document in documents:
        if isinstance(document, str):
            document = parse(document)
        count += 1
        characters += len(document.text)
        nats -= document.log_prob
        if tokenizer is not None:
            tokens += len(tokenizer.encode(document.text)) + 1
    if not count:
        raise ValueError("the entropy floor needs at least one document; got none")
    return EntropyFloor(count, characters, tokens if tokenizer is not None else None, nats)


def unigram_entropy(ids: Sequence[int] | np.ndarray) -> float:
    """Return the entropy of the token frequencies, in nats per token.

    It is the loss of the best model that looks at no context, on the very tokens it counted.
    Raises ValueError for an empty sequence.
    """
    if len(ids) == 0:
        raise ValueError("the entropy of token counts needs at least 1 token; got 0")
    return _entropy(_counts(np.asarray(ids)))


def bigram_entropy(ids: Sequence[int] | np.ndarray) -> float:
    """Return the entropy of a token given the one before it, in nats per token.

    It is the loss of the bigram model counted on these very tokens, so on few tokens it is far
    below what a bigram model reaches on new ones. Raises ValueError below 2 tokens.
    """
    if len(ids) < 2:
        raise ValueError(f"the entropy of token pairs needs at least 2 tokens; got {len(ids)}")
    ids = np.asarray(ids, dtype=np.int64)
    pairs = ids[:-1] * (int(ids.max()) + 1) + ids[1:]
    return _entropy(_counts(pairs)) - _entropy(_counts(ids[:-1]))


def _counts(ids: np.ndarray) -> np.ndarray:
    """Return how often each id occurs that occurs, in the order of the ids."""
    if int(ids.max()) < max(len(ids), LEAST_TABLE):  # a place for each is quicker than sorting
        counts = np.bincount(ids)
        return counts[counts > 0]
    return np.unique(ids, return_counts=True)[1]


def _entropy(counts: np.ndarray) -> float:
    total = int(counts.sum())
    return math.log(total) - math.fsum((counts * np.log(counts)).tolist()) / total
