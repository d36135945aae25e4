"""One weight under the hand: what its slope predicts, and what the loss really does."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from llmviz.course.components._shared.transport import mount, place_of


def nudge_view(
    weights: np.ndarray,
    losses: np.ndarray,
    slope: float,
    *,
    key: str,
    at: int,
    words: Mapping[str, str],
    lines: Sequence[str],
    on_change: Callable[[], None] | None = None,
) -> int:
    """Draw the loss (S,) over the values (S,) of one weight, and return the stop settled on.

    The middle stop is the weight as it is; the straight line through it has the ``slope`` that was
    computed. ``lines`` says one sentence a stop. Raises ValueError for data that do not fit.
    """
    count = len(weights)
    if losses.shape != (count,) or len(lines) != count or count % 2 == 0:
        raise ValueError(
            f"an odd number of weights needs as many losses and lines; got {count}, "
            f"{losses.shape} and {len(lines)}"
        )
    middle = count // 2
    predicted = losses[middle] + slope * (weights - weights[middle])
    payload = {
        "weights": np.asarray(weights, np.float32),
        "losses": np.asarray(losses, np.float32),
        "predicted": predicted.astype(np.float32),
        "words": dict(words),
        "lines": list(lines),
    }
    reported = mount("nudge_view", payload, key=key, state="at", start=at, on_change=on_change)
    return place_of(reported, count, at)
