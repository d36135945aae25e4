"""What guesses the next tokens in speculative decoding: anything that gives probabilities.

V vocabulary, N tokens with a probability above 0. A small model, counts of which token followed
which, or the text itself: each is a `Draft`, and the target checks what it guesses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from llmviz.models.base import LanguageModel
from llmviz.sampling.pipeline import SamplingSteps
from llmviz.sampling.reader import Reader
from llmviz.sampling.settings import SamplingSettings

LAST_CODE = 2**63  # a context and its next token are kept as one number below this
LONGEST_MATCH = 4  # tokens


@dataclass(frozen=True, eq=False)
class Chances:
    """A distribution over tokens: p (N,) of the tokens ids (N,), rising; None: of all V.

    >>> some = Chances(np.array([0.25, 0.75]), np.array([3, 7]))
    >>> some.of(7), some.of(4), some.draw(0.2), some.draw(0.25)
    (0.75, 0.0, 3, 7)
    """

    p: np.ndarray
    ids: np.ndarray | None = None

    def of(self, token: int) -> float:
        """The probability of a token."""
        if self.ids is None:
            return float(self.p[token])
        place = int(self.ids.searchsorted(token))
        held = place < len(self.ids) and self.ids[place] == token
        return float(self.p[place]) if held else 0.0

    def draw(self, u: float) -> int:
        """The token on which a number from 0 to below 1 falls, the tokens lying by their ids."""
        place = draw(self.p, u)
        return place if self.ids is None else int(self.ids[place])

    def full(self, vocab_size: int) -> np.ndarray:
        """The probabilities of all tokens, (V,)."""
        if self.ids is None:
            return self.p
        row = np.zeros(vocab_size)
        row[self.ids] = self.p
        return row


def draw(p: np.ndarray, u: float) -> int:
    """The place in p (N,) on which u falls: the first whose running sum is above it."""
    ends = p.cumsum()
    return int((ends / ends[-1]).searchsorted(u, side="right"))


class Draft(Protocol):
    """Guesses one token after another."""

    @property
    def vocab_size(self) -> int:
        """V, which must be that of the target."""

    def chances(self, ids: list[int], settings: SamplingSettings) -> Chances | None:
        """The distribution from which the token after `ids` is guessed; None: no guess.

        Any distribution keeps the target's own: a bad one is only rejected more often.
        """


class ModelDraft:
    """A small model as a draft; it follows all sampling settings, as the target does."""

    def __init__(self, model: LanguageModel) -> None:
        self._reader = Reader(model)

    @property
    def vocab_size(self) -> int:
        """V."""
        return self._reader.vocab_size

    def chances(self, ids: list[int], settings: SamplingSettings) -> Chances:
        """As `Draft` says. A text longer than the model's context is seen through a window."""
        (row,) = self._reader.rows(ids, 1)
        previous = ids if settings.reads_previous else None
        return Chances(SamplingSteps(row, settings, previous).probabilities)


class CountDraft:
    """Which tokens followed the last few tokens in a text, counted: no network at all.

    It looks at the longest context, of up to `longest` tokens, that the text has. Of the settings
    it follows the temperature.
    Raises ValueError for a text of no token, and where V to the power of longest + 1 has no room
    in 63 bits.
    """

    def __init__(self, ids: Sequence[int], vocab_size: int, longest: int = 3) -> None:
        stream = np.asarray(ids, np.int64)
        if not len(stream):
            raise ValueError("counting needs a text of at least one token")
        if stream.min() < 0 or stream.max() >= vocab_size:
            raise ValueError(f"token ids must be from 0 to {vocab_size - 1}")
        if longest < 0 or vocab_size ** (longest + 1) >= LAST_CODE:
            raise ValueError(
                f"contexts of {longest} tokens of a vocabulary of {vocab_size:,} cannot be counted"
            )
        self.vocab_size, self.longest = vocab_size, longest
        self._tables = []
        codes = np.zeros(len(stream), np.int64)  # of the n tokens before each place
        for n in range(min(longest, len(stream) - 1) + 1):
            if n:
                codes = codes[1:] + stream[: len(stream) - n] * vocab_size ** (n - 1)
            self._tables.append(np.unique(codes * vocab_size + stream[n:], return_counts=True))

    def after(self, ids: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """The tokens (N,) that followed the longest known end of `ids`, and how often, (N,)."""
        for n in range(min(len(self._tables) - 1, len(ids)), -1, -1):
            code = 0
            for token in ids[len(ids) - n :]:
                code = code * self.vocab_size + token
            grams, counts = self._tables[n]
            first, end = grams.searchsorted([code * self.vocab_size, (code + 1) * self.vocab_size])
            if first < end:
                break
        return grams[first:end] - code * self.vocab_size, counts[first:end]

    def chances(self, ids: list[int], settings: SamplingSettings) -> Chances:
        """As `Draft` says."""
        tokens, counts = self.after(ids)
        if settings.temperature == 0:
            best = int(counts.argmax())
            return Chances(np.ones(1), tokens[best : best + 1])
        p = (counts / counts.max()) ** (1 / settings.temperature)
        return Chances(p / p.sum(), tokens)


class CopyDraft:
    """Copies: where the last tokens stood earlier in the text, what followed them is the guess.

    It has no guess where the last token is new. The settings change nothing.

    Reference: Saxena 2023, "Prompt Lookup Decoding".
    """

    def __init__(self, vocab_size: int, longest: int = LONGEST_MATCH) -> None:
        self.vocab_size, self.longest = vocab_size, longest

    def chances(self, ids: list[int], settings: SamplingSettings) -> Chances | None:
        """As `Draft` says: probability 1 for the token behind the longest, latest match."""
        for n in range(min(self.longest, len(ids) - 1), 0, -1):
            end = ids[len(ids) - n :]
            for start in range(len(ids) - n - 1, -1, -1):
                if ids[start] == end[0] and ids[start : start + n] == end:
                    return Chances(np.ones(1), np.array([ids[start + n]]))
        return None


def check_drafts(draft: Draft, vocab_size: int) -> None:
    """Raise ValueError unless a draft guesses tokens of the target's vocabulary."""
    if draft.vocab_size != vocab_size:
        raise ValueError(
            "draft and target must have the same vocabulary; "
            f"got {draft.vocab_size:,} and {vocab_size:,} tokens"
        )
