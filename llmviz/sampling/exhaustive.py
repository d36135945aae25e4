"""Every continuation there is, scored one by one: what beam search is measured against.

Only for small vocabularies: the number of continuations is V to the power of their length.
Shapes: N continuations, T time, V vocabulary, R rows of one length.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from llmviz.models.base import LanguageModel
from llmviz.sampling.beam import next_log_probabilities
from llmviz.sampling.generation import as_ids, vocabulary_of

LIMIT = 200_000  # continuations that are scored at most
NONE = -1  # stands where there is no token


@dataclass(frozen=True)
class Continuations:
    """All continuations of a prompt up to a length, the best score first.

    `ids` (N, T) end with -1 where a continuation stopped before T tokens; `lengths` (N,) in
    tokens; `totals` (N,) are log-probabilities in nats, `scores` (N,) those by length.
    """

    ids: np.ndarray
    lengths: np.ndarray
    totals: np.ndarray
    scores: np.ndarray

    @property
    def probabilities(self) -> np.ndarray:
        """The probability of each continuation, (N,); all of them together have 1."""
        return np.exp(self.totals)

    def tokens(self, place: int) -> list[int]:
        """Return the ids of the continuation at a place; the best one's place is 1."""
        return self.ids[place - 1, : self.lengths[place - 1]].tolist()

    def place(self, tokens: Sequence[int]) -> int:
        """Return the place of a continuation, 1 for the best.

        Raises ValueError: it is none of them.
        """
        row = np.full(self.ids.shape[1], NONE)
        row[: len(tokens)] = tokens[: row.size]
        matches = np.flatnonzero((self.ids == row).all(axis=1))
        if len(tokens) > row.size or not matches.size:
            raise ValueError(f"{list(tokens)} is not among the {len(self.ids):,} continuations")
        return int(matches[0]) + 1


def exhaustive_search(
    model: LanguageModel,
    idx: torch.Tensor | Iterable[int],
    max_new_tokens: int = 3,
    length_penalty: float = 0.0,
    stop_id: int | None = None,
) -> Continuations:
    """Score every continuation of `max_new_tokens` tokens, and every one that stops before.

    The probabilities of all of them add up to 1. A continuation that has stopped is not gone on
    with. Equal scores: lower ids first. No cache is used; past the context length the window
    slides.

    Raises: ValueError for an empty prompt, fewer than 1 token, a length penalty that is no finite
    number, or more continuations than `LIMIT`.
    """
    if max_new_tokens < 1:
        raise ValueError(f"max_new_tokens must be 1 or more; got {max_new_tokens}")
    if not math.isfinite(length_penalty):
        raise ValueError(f"length_penalty must be a finite number; got {length_penalty}")
    prompt = torch.tensor(as_ids(idx, vocabulary_of(model)))
    living, totals = torch.empty((1, 0), dtype=torch.int64), np.zeros(1)
    ended: list[tuple[np.ndarray, np.ndarray]] = []
    for _ in range(max_new_tokens):
        rows = torch.cat([prompt.expand(len(living), -1), living], dim=1)
        ahead = totals[:, None] + next_log_probabilities(model, rows)  # (R, V)
        vocab_size = ahead.shape[1]
        if vocab_size**max_new_tokens > LIMIT:
            raise ValueError(
                f"{vocab_size:,} tokens to the power of {max_new_tokens} are more continuations "
                f"than the {LIMIT:,} that are scored one by one"
            )
        every = torch.arange(vocab_size).repeat(len(living))
        living = torch.cat([living.repeat_interleave(vocab_size, 0), every[:, None]], dim=1)
        totals, stops = ahead.ravel(), (every == (NONE if stop_id is None else stop_id)).numpy()
        ended.append((living[stops].numpy(), totals[stops]))
        living, totals = living[~stops], totals[~stops]
    ended.append((living.numpy(), totals))
    return _sorted(ended, max_new_tokens, length_penalty)


def _sorted(
    ended: list[tuple[np.ndarray, np.ndarray]], longest: int, length_penalty: float
) -> Continuations:
    ids = np.concatenate(
        [
            np.pad(some, ((0, 0), (0, longest - some.shape[1])), constant_values=NONE)
            for some, _ in ended
        ]
    )
    lengths = np.concatenate([np.full(len(some), some.shape[1]) for some, _ in ended])
    totals = np.concatenate([some for _, some in ended])
    scores = totals / lengths ** float(length_penalty)  # as `beam_tree.length_normalised`
    order = np.lexsort((*ids.T[::-1], -scores))
    return Continuations(ids[order], lengths[order], totals[order], scores[order])
