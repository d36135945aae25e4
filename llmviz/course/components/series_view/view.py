"""A series, drawn by hand or given, with coefficients that can be moved and a growing forecast."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from llmviz.course.components._shared.transport import nothing, pack, renderer, starting

LOW, HIGH = 0, 100  # the values of a series that is drawn by hand


@dataclass(frozen=True)
class SeriesState:
    """What the learner settled on.

    drawn: the values of a series drawn by hand. by_hand: coefficients moved by hand, None for the
    fitted ones. step: how many values the forecast has.
    """

    drawn: tuple[int, ...]
    by_hand: tuple[float, ...] | None
    step: int


def series_view(
    values: np.ndarray,
    fitted: int,
    b: Sequence[float],
    *,
    key: str,
    words: Mapping[str, str],
    drawable: bool = False,
    by_hand: Sequence[float] | None = None,
    step: int = 0,
    steps: int = 0,
    on_change: Callable[[], None] | None = None,
) -> SeriesState:
    """Draw a series (T,) with gaps as NaN, its one-step predictions and a forecast.

    fitted: how many values, from the first, the coefficients `b` (p + 1,) were fitted on; the
    forecast begins behind them and takes `steps` steps. Without `b` only the series is drawn.
    drawable: the hand may draw another series of as many whole values from 0 to 100. by_hand: the
    coefficients as moved. Raises ValueError for data that do not fit.
    """
    payload = series_payload(values, fitted, b, steps, drawable=drawable)
    hand = None if by_hand is None or len(by_hand) != len(b) else [float(v) for v in by_hand]
    start = max(0, min(step, steps))
    kept = [int(v) for v in values] if drawable else []
    sent_hand, hand_moved = starting(key, "hand", hand)
    sent_step, step_moved = starting(key, "step", start)
    change = on_change or nothing
    result = renderer("series_view")(
        data=pack(payload | {"words": dict(words), "hand": sent_hand, "step": sent_step}),
        key=key,
        default={"hand": hand, "step": start, "drawn": None},
        on_hand_change=change,
        on_step_change=change,
        on_drawn_change=change,
    )
    return SeriesState(
        tuple(read_drawn(result.get("drawn"), len(values)) or kept),
        read_hand(hand if hand_moved else result.get("hand"), len(b)),
        start if step_moved else read_step(result.get("step"), steps, start),
    )


def series_payload(
    values: np.ndarray, fitted: int, b: Sequence[float], steps: int, *, drawable: bool
) -> dict[str, Any]:
    """Return what a series is sent, checked."""
    values = np.asarray(values, dtype=np.float64)
    if values.ndim != 1 or not len(values) or np.isinf(values).any():
        raise ValueError(f"a series needs one row of values; got shape {values.shape}")
    if b and not len(b) - 1 <= fitted <= len(values):
        raise ValueError(f"{fitted} of {len(values)} values cannot be fitted with {len(b)} numbers")
    if not np.isfinite(np.asarray(b, dtype=np.float64)).all():
        raise ValueError("coefficients must be finite")
    if drawable and not ((values >= LOW) & (values <= HIGH)).all():
        raise ValueError(f"a series drawn by hand has values from {LOW} to {HIGH}")
    return {
        "values": values.astype(np.float32),
        "fitted": int(fitted),
        "b": [float(number) for number in b],
        "steps": int(steps),
        "drawable": drawable,
        "range": [LOW, HIGH],
    }


def read_drawn(raw: Any, count: int) -> list[int] | None:
    """Return the values that a hand drew; None for anything else."""
    if not isinstance(raw, list) or len(raw) != count:
        return None
    if not all(isinstance(value, int) and LOW <= value <= HIGH for value in raw):
        return None
    return raw


def read_hand(raw: Any, count: int) -> tuple[float, ...] | None:
    """Return as many coefficients as there are; None for anything else."""
    if not isinstance(raw, list) or len(raw) != count or not count:
        return None
    if not all(isinstance(number, int | float) and abs(number) < 1e12 for number in raw):
        return None
    return tuple(float(number) for number in raw)


def read_step(raw: Any, steps: int, otherwise: int) -> int:
    """Return a step from 0 to `steps`, or `otherwise`."""
    return raw if isinstance(raw, int) and 0 <= raw <= steps else otherwise
