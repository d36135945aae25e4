"""Guess and check: a draft guesses several tokens, and the model reads all of them at once.

k guesses of a round, V vocabulary; p (V,) are the probabilities of the model, the target, and q
those of the draft. What is written has the distribution of the target alone.

Reference: Leviathan, Kalman, Matias 2023, "Fast Inference from Transformers via Speculative
Decoding", algorithm 1; Chen et al. 2023, "Accelerating Large Language Model Decoding with
Speculative Sampling", algorithm 2.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import torch

from llmviz.models.base import LanguageModel
from llmviz.sampling import steps as pure
from llmviz.sampling.drafts import Chances, Draft, check_drafts, draw
from llmviz.sampling.generation import as_ids
from llmviz.sampling.pipeline import SamplingSteps, random_number
from llmviz.sampling.reader import Reader
from llmviz.sampling.settings import SamplingSettings

MOST_GUESSES = 64  # of a round


def acceptance(p: float, q: float) -> float:
    """The probability min(1, p ÷ q) with which a guessed token is accepted; 1 where q is 0.

    >>> acceptance(0.2, 0.8), acceptance(0.8, 0.2), acceptance(0.0, 0.5)
    (0.25, 1.0, 0.0)
    """
    return 1.0 if p >= q else p / q


def overlap(p: np.ndarray, q: np.ndarray) -> float:
    """Σ min(p, q) of (V,) and (V,): how often a guess drawn from q is accepted, on average.

    >>> overlap(np.array([0.5, 0.5, 0.0]), np.array([0.25, 0.25, 0.5]))
    0.5
    """
    return float(np.minimum(p, q).sum())


def residual(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """What is drawn from after a rejection, (V,): max(p − q, 0), divided by its sum.

    A guess brings token x with probability min(p, q), and a rejection with max(p − q, 0): together
    p, whatever q is. Where p nowhere exceeds q both are the same, no guess is rejected, and p is
    returned.

    >>> residual(np.array([0.5, 0.5, 0.0]), np.array([0.25, 0.25, 0.5])).tolist()
    [0.5, 0.5, 0.0]
    """
    left = np.maximum(p - q, 0.0)
    mass = left.sum()
    return left / mass if mass > 0 else p


def expected_tokens(a: float, k: int) -> float:
    """How many tokens a round of k guesses adds on average, if each is accepted with chance a.

    >>> expected_tokens(0.5, 2), expected_tokens(1.0, 4), expected_tokens(0.0, 4)
    (1.75, 5.0, 1.0)

    Raises ValueError unless a is from 0 to 1 and k is 0 or more.
    Reference: Leviathan et al. 2023, equation 1; the chances of the guesses are independent there.
    """
    if not 0 <= a <= 1 or k < 0:
        raise ValueError(f"a must be from 0 to 1 and k 0 or more; got a={a}, k={k}")
    return float(sum(a**n for n in range(k + 1)))


def expected_speed_up(a: float, k: int, cost: float, read: float = 1.0) -> float:
    """How many times as fast as plain decoding it is, if each guess is accepted with chance a.

    cost: of one guess, in steps of the target. read: of reading k + 1 tokens, in the same unit; 1
    is as fast as reading one, as the paper supposes.

    >>> round(expected_speed_up(0.8, 4, 0.05), 3), expected_speed_up(0.0, 1, 1.0)
    (2.801, 0.5)

    Raises ValueError as `expected_tokens`, and unless cost is 0 or more and read above 0.
    Reference: Leviathan et al. 2023, theorem 3.8.
    """
    if not cost >= 0 or not read > 0:
        raise ValueError(f"cost must be 0 or more and read above 0; got {cost} and {read}")
    return expected_tokens(a, k) / (k * cost + read)


@dataclass(frozen=True, eq=False)
class Guess:
    """One guessed token and its check.

    q: what it was drawn from. p (V,), u: the target's probabilities and the random number of the
    check; None where an earlier guess of the round was rejected, so that nobody looked.
    """

    token: int
    q: Chances
    p: np.ndarray | None = None
    u: float | None = None

    @property
    def chance(self) -> float | None:
        """The probability with which it is accepted, min(1, p ÷ q) of its token."""
        return (
            None if self.p is None else acceptance(float(self.p[self.token]), self.q.of(self.token))
        )

    @property
    def accepted(self) -> bool:
        """Whether it was accepted: u fell below that probability."""
        chance = self.chance
        return self.u is not None and chance is not None and self.u < chance


@dataclass(frozen=True, eq=False)
class Round:
    """The guesses of one round, and the token that the target drew behind those it accepted.

    before: tokens of the text when the round began. drawn_from (V,): the residual after a
    rejection, else the target's own probabilities; u: the random number of that draw. tokens: what
    the round adds to the text; less than was accepted and drawn only where the text ends.
    """

    before: int
    guesses: tuple[Guess, ...]
    drawn: int
    drawn_from: np.ndarray
    u: float
    tokens: tuple[int, ...]

    @property
    def accepted(self) -> int:
        """How many guesses were accepted."""
        return sum(guess.accepted for guess in self.guesses)

    @property
    def checked(self) -> int:
        """How many guesses were looked at: those accepted, and the first that was not."""
        return sum(guess.u is not None for guess in self.guesses)


def speculate(
    model: LanguageModel,
    draft: Draft,
    idx: torch.Tensor | Iterable[int],
    max_new_tokens: int,
    guesses: int = 4,
    settings: SamplingSettings | None = None,
    generator: torch.Generator | None = None,
    stop_id: int | None = None,
) -> Iterator[Round]:
    """Yield rounds that continue a prompt by `max_new_tokens` tokens in all.

    idx: ids as a list, (T,) or (1, T). guesses: k, of each round; 0 is plain decoding. A round
    guesses less where fewer tokens are wanted, where the draft has no guess, and where the model's
    context is full; past it there is one token a round. Ends behind `stop_id`. The settings are
    checked at the call. Each token is distributed as `generate` would draw it with these settings.

    Raises: ValueError for an empty prompt, an id out of range, a negative number of tokens, k
    outside 0 to 64, a draft of another vocabulary, or a model whose tokens see the future.
    """
    settings = settings or SamplingSettings()
    if max_new_tokens < 0:
        raise ValueError(f"max_new_tokens must be 0 or more; got {max_new_tokens}")
    if not 0 <= guesses <= MOST_GUESSES:
        raise ValueError(f"guesses must be from 0 to {MOST_GUESSES}; got {guesses}")
    reader = Reader(model)
    check_drafts(draft, reader.vocab_size)
    if settings.top_k is not None:
        pure.check_top_k(settings.top_k, reader.vocab_size)
    ids = as_ids(idx, reader.vocab_size)
    return _rounds(reader, draft, ids, max_new_tokens, guesses, settings, generator, stop_id)


def _rounds(
    reader: Reader,
    draft: Draft,
    ids: list[int],
    wanted: int,
    guesses: int,
    settings: SamplingSettings,
    generator: torch.Generator | None,
    stop_id: int | None,
) -> Iterator[Round]:
    end = len(ids) + wanted
    while len(ids) < end:
        room = min(end - 1, reader.context_length) - len(ids)
        played = play_round(reader, draft, ids, min(guesses, max(0, room)), settings, generator)
        if stop_id in played.tokens:
            kept = played.tokens[: played.tokens.index(stop_id) + 1]
            yield Round(
                played.before, played.guesses, played.drawn, played.drawn_from, played.u, kept
            )
            return
        yield played
        ids.extend(played.tokens)


def play_round(
    reader: Reader,
    draft: Draft,
    ids: list[int],
    k: int,
    settings: SamplingSettings,
    generator: torch.Generator | None = None,
) -> Round:
    """Guess k tokens behind ids, read them at once, accept some, and draw one more.

    ids + k tokens must fit into the context, or k be 0.
    """
    guesses: list[Guess] = []
    text = list(ids)
    for _ in range(k):
        q = draft.chances(text, settings)
        if q is None:
            break
        guesses.append(Guess(q.draw(random_number(generator)), q))
        text.append(guesses[-1].token)
    rows = reader.rows(text, len(guesses) + 1)
    for n, guess in enumerate(guesses):
        p = _probabilities(rows[n], settings, text[: len(ids) + n])
        guesses[n] = Guess(guess.token, guess.q, p, random_number(generator))
        if not guesses[n].accepted:
            drawn_from = residual(p, guess.q.full(reader.vocab_size))
            break
    else:
        n = len(guesses)
        drawn_from = _probabilities(rows[n], settings, text)
    u = random_number(generator)
    drawn = draw(drawn_from, u)
    return Round(
        len(ids), tuple(guesses), drawn, drawn_from, u, (*text[len(ids) : len(ids) + n], drawn)
    )


def _probabilities(
    row: torch.Tensor, settings: SamplingSettings, previous: list[int]
) -> np.ndarray:
    before = previous if settings.reads_previous else None
    return SamplingSteps(row, settings, before).probabilities
