"""A text as it grows, token by token, each coloured by its probability, and the ways it went."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from llmviz.course.components._shared.transport import nothing, pack, renderer


@dataclass(frozen=True)
class WrittenToken:
    """One token of a growing text.

    ``probability``, ``rank`` and ``entropy`` (nats) are the model's own; ``chance`` belongs to the
    distribution that was drawn from and ``u`` is the random number. ``alternatives`` are (id, text,
    probability). ``chosen`` says that the learner put it there.
    """

    id: int
    text: str
    probability: float
    chance: float
    rank: int
    entropy: float
    u: float
    alternatives: Sequence[tuple[int, str, float]] = ()
    chosen: bool = False


@dataclass(frozen=True)
class Way:
    """One way that the text went: after how many tokens it left its parent, and how it goes on."""

    parent: int
    at: int
    text: str


def writer(
    tokens: Sequence[WrittenToken],
    *,
    key: str,
    prompt: str,
    words: Mapping[str, str],
    length: int,
    limit: int,
    ended: bool = False,
    slides_at: int | None = None,
    ways: Sequence[Way] = (),
    way: int = 0,
    controls: bool = True,
    veiled: bool = False,
    asks: bool = False,
    least: int | None = None,
    on_act: Callable[[], None] | None = None,
) -> None:
    """Draw a text of ``length`` tokens; more of ``tokens`` may be known and are not shown yet.

    Writing goes on in the browser as far as tokens are known and asks for more in time.
    ``st.session_state[key]["act"]`` is then ``{"length": n}`` (where it rests), ``{"want": n}``
    (tokens to have ready), ``{"choose": position, "id": token}``, ``{"way": n}`` or
    ``{"clear": True}``. veiled: nothing is told of how sure the model was. asks: a click on a token
    is then a guess, ``{"guess": position}``. least: the token that is marked as that before which
    it was least sure. Raises ValueError for data that do not fit.
    """
    if not 0 <= length <= len(tokens):
        raise ValueError(f"length must be from 0 to {len(tokens)} known tokens; got {length}")
    if ways and not 0 <= way < len(ways):
        raise ValueError(f"way must be from 0 to {len(ways) - 1}; got {way}")
    payload = {
        "prompt": prompt,
        "words": dict(words),
        "length": length,
        "limit": limit,
        "ended": ended,
        "slidesAt": slides_at,
        "ways": [vars(option) for option in ways],
        "way": way,
        "controls": controls,
        "veiled": veiled,
        "asks": asks,
        "least": least,
        **_columns(tokens),
    }
    if veiled:
        nothing_told = np.zeros(len(tokens), np.float32)
        payload |= {"p": nothing_told, "chance": nothing_told, "entropy": None}
        payload |= {"rank": nothing_told.astype(np.int32), "alternatives": [[] for _ in tokens]}
    renderer("writer")(data=pack(payload), key=key, on_act_change=on_act or nothing)


def _columns(tokens: Sequence[WrittenToken]) -> dict[str, Any]:
    def floats(name: str) -> np.ndarray:
        return np.array([getattr(token, name) for token in tokens], np.float32)

    return {
        "texts": [token.text for token in tokens],
        "p": floats("probability"),
        "chance": floats("chance"),
        "rank": np.array([token.rank for token in tokens], np.int32),
        "entropy": floats("entropy"),
        "u": floats("u"),
        "ids": np.array([token.id for token in tokens], np.int32),
        "chosen": np.array([token.chosen for token in tokens], np.uint8),
        "alternatives": [
            [[token_id, text, float(p)] for token_id, text, p in token.alternatives]
            for token in tokens
        ],
    }
