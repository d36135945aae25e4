"""The tree of a beam search: every branch that was scored, and why it was left."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from llmviz.course.components._shared.transport import pack, renderer

STATUSES = ("kept", "finished", "pruned", "abandoned")


@dataclass(frozen=True)
class Branch:
    """One node: its parent's position (None for the prompt), its token's text, and its scores.

    ``log_probability`` is the token's own, ``total`` the sum from the prompt, both in nats;
    ``status`` is one of ``STATUSES``.
    """

    parent: int | None
    text: str
    depth: int
    log_probability: float
    total: float
    score: float
    status: str


def beam_tree(
    branches: Sequence[Branch],
    finals: Sequence[int],
    *,
    key: str,
    hidden: Mapping[int, tuple[int, float]],
    words: Mapping[str, str],
    captions: Sequence[str],
) -> None:
    """Draw the tree, one depth a step; ``finals`` are its kept ends, the best first.

    ``hidden`` maps a node to (number, probability) of continuations that have no node;
    ``captions`` says one sentence a step, the prompt alone included. Raises ValueError for data
    that do not fit.
    """
    payload = beam_payload(branches, finals, hidden, words, captions)
    renderer("beam_tree")(data=pack(payload), key=key)


def beam_payload(
    branches: Sequence[Branch],
    finals: Sequence[int],
    hidden: Mapping[int, tuple[int, float]],
    words: Mapping[str, str],
    captions: Sequence[str],
) -> dict[str, Any]:
    """Return what the tree is sent, checked."""
    for at, branch in enumerate(branches):
        parent = branch.parent
        if parent is not None if at == 0 else parent is None or not 0 <= parent < at:
            raise ValueError(f"branch {at} has no parent before it: {branch.parent}")
        if branch.status not in STATUSES:
            raise ValueError(f"status must be one of {', '.join(STATUSES)}; got {branch.status!r}")
    depth = max(branch.depth for branch in branches)
    if len(captions) != depth + 1:
        raise ValueError(f"{depth + 1} captions are needed; got {len(captions)}")

    def floats(name: str) -> np.ndarray:
        return np.array([getattr(branch, name) for branch in branches], np.float32)

    return {
        "parents": [branch.parent for branch in branches],
        "texts": [branch.text for branch in branches],
        "depths": [branch.depth for branch in branches],
        "statuses": [branch.status for branch in branches],
        "own": floats("log_probability"),
        "p": np.exp(floats("log_probability")),
        "total": floats("total"),
        "score": floats("score"),
        "finals": [int(final) for final in finals],
        "hidden": {str(node): [count, float(mass)] for node, (count, mass) in hidden.items()},
        "words": dict(words),
        "captions": list(captions),
    }
