"""Speculative decoding, step by step: guesses, checks, draws, and both distributions at a place."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from llmviz.course.components._shared.transport import mount, place_of

ACCEPTED, REJECTED, UNCHECKED = VERDICTS = ("yes", "no", "")
GUESS, CHECK, DRAW = range(3)  # what a step shows
WORDS = (
    "prompt",
    "round",
    "token",
    "q",
    "p",
    "kept",
    "added",
    "free",
    "others",
    "sum",
    "mark",
    "unchecked",
)


@dataclass(frozen=True, eq=False)
class PlaceBars:
    """Both distributions at a place: N named tokens, and all others together behind them, (N + 1,).

    kept: min(p, q). added: max(p - q, 0). line: how the token there was decided, as the step says
    it. told: what both distributions mean there.
    """

    names: Sequence[str]
    p: np.ndarray
    q: np.ndarray
    kept: np.ndarray
    added: np.ndarray
    line: str
    told: str


@dataclass(frozen=True, eq=False)
class RoundPicture:
    """One round: its guesses with their verdicts, the drawn token, and the places.

    places: of each guess that was checked, in order; then that of the drawn token, where no guess
    was rejected. A drawn token behind a rejection belongs to the place of the rejected guess.
    lines: a sentence for each step: the guesses (if there are any), each check, the draw. ended:
    how many of the accepted guesses and the drawn token are behind the end of the text.
    """

    guesses: Sequence[tuple[str, str]]  # name, verdict
    drawn: str
    places: Sequence[PlaceBars]
    lines: Sequence[str]
    ended: int = 0


def guess_rounds(
    prompt: Sequence[str],
    rounds: Sequence[RoundPicture],
    *,
    key: str,
    words: Mapping[str, str],
    step: int = 0,
    on_change: Callable[[], None] | None = None,
) -> int:
    """Draw the rounds behind a prompt and return the step settled on.

    prompt: its tokens, as many as are shown. words: an entry for each of WORDS.
    Raises ValueError for data that do not fit.
    """
    payload = rounds_payload(prompt, rounds, words)
    last = len(payload["steps"]) - 1
    start = max(0, min(step, last))
    reported = mount(
        "guess_rounds", payload, key=key, state="step", start=start, on_change=on_change
    )
    return place_of(reported, last + 1, start)


def rounds_payload(
    prompt: Sequence[str], rounds: Sequence[RoundPicture], words: Mapping[str, str]
) -> dict[str, Any]:
    """Return what the picture is sent, checked."""
    if not rounds:
        raise ValueError("there must be a round at least")
    if missing := set(WORDS) - set(words):
        raise ValueError(f"words lack {', '.join(sorted(missing))}")
    steps: list[list[Any]] = []
    for number, turn in enumerate(rounds):
        verdicts = [verdict for _, verdict in turn.guesses]
        if not set(verdicts) <= set(VERDICTS):
            raise ValueError(f"a verdict must be one of {VERDICTS}; got {verdicts}")
        checked = len(verdicts) - verdicts.count(UNCHECKED)
        if len(turn.places) != checked + (REJECTED not in verdicts):
            raise ValueError(f"{checked} checked guesses do not have {len(turn.places)} places")
        kinds = [GUESS] * bool(verdicts) + [CHECK] * checked + [DRAW]
        if len(turn.lines) != len(kinds):
            raise ValueError(f"{len(kinds)} steps need as many lines; got {len(turn.lines)}")
        begun = bool(verdicts)
        for at, (kind, line) in enumerate(zip(kinds, turn.lines, strict=True)):
            steps.append([number, kind, at - begun if kind == CHECK else 0, line])
    return {
        "prompt": list(prompt),
        "steps": steps,
        "rounds": [
            {
                "guesses": [list(guess) for guess in turn.guesses],
                "drawn": turn.drawn,
                "places": [_place(place) for place in turn.places],
                "ended": turn.ended,
            }
            for turn in rounds
        ],
        "words": dict(words),
    }


def _place(place: PlaceBars) -> dict[str, Any]:
    rows = {name: np.asarray(getattr(place, name), np.float32) for name in ("p", "q")}
    rows |= {name: np.asarray(getattr(place, name), np.float32) for name in ("kept", "added")}
    for name, row in rows.items():
        if row.shape != (len(place.names) + 1,) or not (row >= 0).all():
            raise ValueError(f"{name} must be {len(place.names) + 1} numbers of 0 or more")
    return {"names": list(place.names), "line": place.line, "told": place.told, **rows}
