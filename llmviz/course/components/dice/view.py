"""Random draws: where their numbers lie from 0 to 1, and how often each token was taken."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from llmviz.course.components._shared.transport import nothing, pack, renderer


class Hand(NamedTuple):
    """Whether the hand shall set a place on the strip, and the place that it set before.

    `words`: hint, done, own.
    """

    words: Mapping[str, str]
    asks: bool
    guess: float | None


NO_HAND = Hand({"hint": "", "done": "", "own": ""}, False, None)


def dice(
    names: Sequence[str],
    probabilities: Sequence[float],
    counts: Sequence[int],
    *,
    key: str,
    draws: int,
    rest: tuple[int, float, int],
    strip: Sequence[tuple[int, float, float]],
    recent: Sequence[tuple[float, str]],
    hand: Hand = NO_HAND,
    on_act: Callable[[], None] | None = None,
) -> None:
    """Draw a strip with the random numbers on it, and frequencies beside probabilities.

    ``counts`` says how often each named token was taken in ``draws``; ``rest`` is (number of
    tokens, probability, count) of those without a bar. ``strip`` holds (index of the name or -1,
    start, end) of the widest pieces; ``recent`` (u, token) of the last draws, the last one last.
    ``st.session_state[key]["act"]`` is ``{"guess": [place]}``. Raises ValueError for data that do
    not fit.
    """
    payload = dice_payload(names, probabilities, counts, draws, rest, strip, recent)
    payload |= {"words": dict(hand.words), "asks": hand.asks, "guess": hand.guess}
    renderer("dice")(data=pack(payload), key=key, on_act_change=on_act or nothing)


def dice_payload(
    names: Sequence[str],
    probabilities: Sequence[float],
    counts: Sequence[int],
    draws: int,
    rest: tuple[int, float, int],
    strip: Sequence[tuple[int, float, float]],
    recent: Sequence[tuple[float, str]],
) -> dict[str, Any]:
    """Return what the dice are sent, checked."""
    if not len(names) == len(probabilities) == len(counts):
        raise ValueError(
            f"{len(names)} names, {len(probabilities)} probabilities and {len(counts)} counts"
        )
    if sum(counts) + rest[2] != draws:
        raise ValueError(f"the counts add up to {sum(counts) + rest[2]}, not to {draws}")
    p = np.array([*probabilities, rest[1]], np.float64)
    spread = 2 * np.sqrt(np.maximum(0.0, p * (1 - p)) / draws)
    return {
        "names": list(names),
        "p": p.astype(np.float32),
        "counts": np.array([*counts, rest[2]], np.int32),
        "frequencies": (np.array([*counts, rest[2]]) / draws).astype(np.float32),
        "spread": spread.astype(np.float32),
        "draws": draws,
        "restTokens": rest[0],
        "strip": [list(piece) for piece in strip],
        "us": np.array([u for u, _ in recent], np.float32),
        "taken": [text for _, text in recent],
    }
