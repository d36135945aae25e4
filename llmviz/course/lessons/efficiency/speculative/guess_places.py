"""The numbers of one place where a guess was checked, for the few tokens that a picture shows.

V vocabulary, N listed tokens.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from llmviz.sampling.speculative import Round


class Place(NamedTuple):
    """Both distributions at a place. The arrays end with all other tokens together: (N + 1,).

    kept: min(p, q), how often a token comes as an accepted guess. added: max(p − q, 0), how often
    it comes from the draw behind a rejection. error: the largest |kept + added − p| over the whole
    vocabulary. Where there was no guess, q is 0 and everything is drawn.
    """

    tokens: tuple[int, ...]  # (N,)
    p: np.ndarray
    q: np.ndarray
    kept: np.ndarray
    added: np.ndarray
    error: float


def place_of(p: np.ndarray, q: np.ndarray, listed: int, also: tuple[int, ...] = ()) -> Place:
    """Return the numbers of a place; p, q (V,).

    listed: how many tokens are shown, those with the largest p or q, in falling order; `also` are
    shown in any case, each in place of another one.
    """
    kept, added = np.minimum(p, q), np.maximum(p - q, 0.0)
    larger = np.maximum(p, q)
    order = np.argsort(-larger, kind="stable")[:listed]
    others = [int(token) for token in order if larger[token] > 0 and token not in also]
    tokens = [*others[: max(0, listed - len(set(also)))], *dict.fromkeys(also)]
    tokens.sort(key=lambda token: -larger[token])
    error = float(np.abs(way_out(p, q) - p).max())
    p, q, kept, added = (_with_rest(row, tokens) for row in (p, q, kept, added))
    return Place(tuple(tokens), p, q, kept, added, error)


def way_out(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """How often each token comes out of a place, (V,): by both ways, each computed as it is played.

    A guess x has the probability q(x) and is accepted with min(1, p ÷ q); else, with the
    probability that no guess was accepted, a token comes from the residual.
    """
    from llmviz.sampling.speculative import acceptance, residual

    accepted = np.array(
        [qx * acceptance(px, qx) for px, qx in zip(p.tolist(), q.tolist(), strict=True)]
    )
    return accepted + max(0.0, 1.0 - float(accepted.sum())) * residual(p, q)


def _with_rest(row: np.ndarray, tokens: list[int]) -> np.ndarray:
    listed = row[tokens]
    return np.append(listed, max(0.0, float(row.sum() - listed.sum())))


def places_of(turn: Round, vocab_size: int, listed: int) -> list[Place]:
    """Return the places of a round: each checked guess, then the free token behind them all.

    The last one is there only where no guess was rejected.
    """
    places = []
    for guess in turn.guesses[: turn.checked]:
        also = (guess.token,) if guess.accepted else (guess.token, turn.drawn)
        assert guess.p is not None  # it was checked
        places.append(place_of(guess.p, guess.q.full(vocab_size), listed, also))
    if turn.accepted == len(turn.guesses):
        places.append(place_of(turn.drawn_from, np.zeros(vocab_size), listed, (turn.drawn,)))
    return places
