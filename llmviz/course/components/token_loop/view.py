"""The loop that writes a text, in slow motion: five stages for each new token."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from llmviz.course.components._shared.transport import mount, place_of

STAGES = ("row", "scores", "softmax", "pick", "append")
WORDS = ("row", "token", "score", "probability", "others", "layer", "fresh", "kept", "again")


@dataclass(frozen=True, eq=False)
class LoopRound:
    """What one token came from: the row (C,), and the K best tokens, the picked one first.

    ``lines`` says a sentence for each of STAGES, ``work`` one about what the layers computed.
    """

    row: np.ndarray  # (C,)
    names: Sequence[str]  # (K,)
    scores: np.ndarray  # (K,)
    probabilities: np.ndarray  # (K,)
    lines: Sequence[str]
    work: str


def token_loop(
    prompt: Sequence[str],
    rounds: Sequence[LoopRound],
    *,
    key: str,
    layers: int,
    cached: bool,
    words: Mapping[str, str],
    step: int = 0,
    on_change: Callable[[], None] | None = None,
) -> int:
    """Draw the rounds behind a prompt and return the step settled on: 5 · round + stage.

    ``cached``: whether the layers compute only the tokens that were not read yet. ``words`` has an
    entry for each of WORDS. Raises ValueError for data that do not fit.
    """
    payload = loop_payload(prompt, rounds, layers, cached=cached, words=words)
    last = len(STAGES) * len(rounds) - 1
    start = max(0, min(step, last))
    reported = mount("token_loop", payload, key=key, state="step", start=start, on_change=on_change)
    return place_of(reported, last + 1, start)


def loop_payload(
    prompt: Sequence[str],
    rounds: Sequence[LoopRound],
    layers: int,
    *,
    cached: bool,
    words: Mapping[str, str],
) -> dict[str, Any]:
    """Return what the loop is sent, checked."""
    if not prompt or not rounds or layers < 1:
        raise ValueError("a loop needs a prompt, a round and a layer at least")
    if missing := set(WORDS) - set(words):
        raise ValueError(f"words lack {', '.join(sorted(missing))}")
    for turn in rounds:
        counts = {len(turn.names), len(turn.scores), len(turn.probabilities)}
        if len(counts) != 1 or 0 in counts or len(turn.lines) != len(STAGES):
            raise ValueError("a round needs as many names, scores and probabilities, and 5 lines")
    rows = np.stack([turn.row for turn in rounds]).astype(np.float32)
    if rows.ndim != 2 or not np.isfinite(rows).all():
        raise ValueError(f"rows must be finite vectors of one length; got {rows.shape}")
    return {
        "prompt": list(prompt),
        "rows": rows,
        "rounds": [
            {
                "names": list(turn.names),
                "scores": np.asarray(turn.scores, np.float32),
                "probabilities": np.asarray(turn.probabilities, np.float32),
                "lines": list(turn.lines),
                "work": turn.work,
            }
            for turn in rounds
        ],
        "stages": list(STAGES),
        "layers": layers,
        "cached": cached,
        "words": dict(words),
    }
