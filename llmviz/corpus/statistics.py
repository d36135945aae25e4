"""What a loss can be held against: the entropy of tiny-world and of simple token counts."""

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from llmviz.corpus.tiny_world import Document, parse
from llmviz.tokenizers.base import Tokenizer

LEAST_TABLE = 1 << 20  # places of a table of counts that are little memory for any text
TABLE = 1 << 24  # places of a table of pairs, at most
MOST_SORTED = 1 << 24  # pairs that are sorted at once
PART = 1 << 20  # ids that are read at once


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
    counts = _counts(_near(ids))
    return _entropy([counts[counts > 0]], len(ids))


def bigram_entropy(ids: Sequence[int] | np.ndarray) -> float:
    """Return the entropy of a token given the one before it, in nats per token.

    It is the loss of the bigram model counted on these very tokens, so on few tokens it is far
    below what a bigram model reaches on new ones. Raises ValueError below 2 tokens.
    """
    if len(ids) < 2:
        raise ValueError(f"the entropy of token pairs needs at least 2 tokens; got {len(ids)}")
    ids = _near(ids)
    pairs, of_each = len(ids) - 1, np.zeros(int(ids.max()) + 1, dtype=np.int64)
    of_each[: int(ids[:-1].max()) + 1] = _counts(ids[:-1])
    return _entropy(_pair_counts(ids, of_each), pairs) - _entropy([of_each[of_each > 0]], pairs)


def _pair_counts(ids: np.ndarray, of_each: np.ndarray) -> Iterator[np.ndarray]:
    """Yield how often each pair of neighbours occurs that occurs, in groups by the first of both.

    of_each: how often each id is the first. Pairs are counted in a table where it is small, else
    they are sorted, at most about MOST_SORTED at a time, since all of them may be too much memory.
    """
    size = len(of_each)
    if size * size <= max(LEAST_TABLE, min(len(ids), TABLE)):
        table = np.zeros(size * size, dtype=np.int64)
        for first, second in _neighbours(ids):
            table += np.bincount(first.astype(np.int64) * size + second, minlength=size * size)
        yield table[table > 0]
        return
    group = (np.cumsum(of_each) - of_each) // MOST_SORTED  # of each first
    for number in np.unique(group[of_each > 0]):
        wanted = group == number
        places = [
            first[chosen].astype(np.int64) * size + second[chosen]
            for first, second in _neighbours(ids)
            for chosen in (wanted[first],)
        ]
        yield np.unique(np.concatenate(places), return_counts=True)[1]


def _neighbours(ids: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    for start in range(0, len(ids) - 1, PART):
        part = ids[start : start + PART + 1]
        yield part[:-1], part[1:]


def _counts(ids: np.ndarray) -> np.ndarray:
    """Return how often each id occurs, from 0 to the highest."""
    size = int(ids.max()) + 1
    counts = np.zeros(size, dtype=np.int64)
    for start in range(0, len(ids), PART):
        counts += np.bincount(ids[start : start + PART], minlength=size)
    return counts


def _near(ids: Sequence[int] | np.ndarray) -> np.ndarray:
    """Ids that a table can be of: themselves, or their ranks where they are far apart."""
    ids = np.asarray(ids)
    if int(ids.max()) < max(len(ids), LEAST_TABLE):
        return ids
    return np.unique(ids, return_inverse=True)[1]


def _entropy(groups: Iterable[np.ndarray], total: int) -> float:
    """The entropy of counts whose sum is `total`, in nats; their order changes no bit of it."""
    parts = (
        (some * np.log(some)).tolist()
        for counts in groups
        for some in np.array_split(counts.astype(np.float64), len(counts) // PART + 1)
    )
    return math.log(total) - math.fsum(itertools.chain.from_iterable(parts)) / total
