"""Softmax with its arithmetic, what temperature does to entropy, and whole sliders at once."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from llmviz.sampling import steps as pure
from llmviz.sampling.kinds import STEPS
from llmviz.sampling.pipeline import sampling_steps, top_ids

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class SoftmaxTerms:
    """Every number of softmax(logits / T), for a page that writes it out. Arrays are (V,).

    `scaled` = logits / T, `shifted` = scaled - max(scaled) (which changes no probability and
    keeps exp from overflowing), `exps` = e^shifted, `total` their sum, `probabilities` = exps /
    total.
    """

    logits: np.ndarray
    temperature: float
    scaled: np.ndarray
    highest: float
    shifted: np.ndarray
    exps: np.ndarray
    total: float
    probabilities: np.ndarray


def softmax_terms(
    logits: torch.Tensor | np.ndarray | list[float], temperature: float = 1.0
) -> SoftmaxTerms:
    """Return softmax of logits (V,) at a temperature, step by step.

    Raises: ValueError when the temperature is 0, for which there is nothing to divide by: see
    `temperature_limit`.
    """
    values = pure.as_logits(logits)
    if temperature == 0:
        raise ValueError("temperature must be above 0 to divide by it; 0 is the arg-max instead")
    scaled = pure.apply_temperature(values, temperature)
    highest = float(scaled.max())
    shifted = scaled - highest
    exps = np.exp(shifted)
    total = float(exps.sum())
    return SoftmaxTerms(values, temperature, scaled, highest, shifted, exps, total, exps / total)


def temperature_limit(
    logits: torch.Tensor | np.ndarray | list[float], towards: float
) -> np.ndarray:
    """Return the probabilities (V,) to which softmax(logits / T) goes as T goes to 0 or infinity.

    At 0 the largest logits share everything equally (a draw at T = 0 settles such a tie by the
    lowest id instead); at infinity all tokens that are not cut are equal.

    Raises: ValueError when `towards` is neither 0 nor infinity.
    """
    values = pure.as_logits(logits)
    if towards == 0:
        chosen = values == values.max()
    elif towards == math.inf:
        chosen = ~np.isneginf(values)
    else:
        raise ValueError(f"towards must be 0 or infinity; got {towards}")
    return chosen / chosen.sum()


def probabilities_at(logits: np.ndarray, temperatures: Sequence[float]) -> np.ndarray:
    """Return softmax(logits / T) for every temperature, (n_stops, V) from checked logits (V,)."""
    return np.stack([pure.softmax(pure.apply_temperature(logits, t)) for t in temperatures])


def entropy_curve(
    logits: torch.Tensor | np.ndarray | list[float], temperatures: Sequence[float]
) -> np.ndarray:
    """Return the entropy in nats (n_stops,) of softmax(logits / T) at each temperature."""
    values = pure.as_logits(logits)
    return np.array([pure.entropy(row) for row in probabilities_at(values, temperatures)])


@dataclass(frozen=True)
class Sweep:
    """The distribution that is drawn from at every stop of one control.

    `probabilities` and `kept` are (n_stops, n_shown) for the tokens `ids` (n_shown,);
    `hidden_mass` and `hidden_tokens` (n_stops,) belong to the tokens that are not shown and can
    be drawn. `kept_tokens` counts all that can be drawn and `entropy` is in nats; both (n_stops,).
    """

    control: str
    stops: tuple[Any, ...]
    ids: np.ndarray
    probabilities: np.ndarray
    kept: np.ndarray
    hidden_mass: np.ndarray
    hidden_tokens: np.ndarray
    kept_tokens: np.ndarray
    entropy: np.ndarray


def sweep(
    logits: torch.Tensor | np.ndarray | list[float],
    stops: Sequence[Any],
    control: str = "temperature",
    shown: int = 20,
    ids: Iterable[int] | None = None,
    previous: Iterable[int] | None = None,
    **settings: Any,
) -> Sweep:
    """Run the pipeline at every stop of one control, the others as in `settings`.

    Each stop is `sampling_steps` itself, so a slider shows what a draw would use. The bars are
    the model's `shown` most probable tokens, or `ids`.

    >>> sweep([0.0, 1.0], [0.0, 1.0]).probabilities.round(2).tolist()
    [[1.0, 0.0], [0.73, 0.27]]

    Raises: ValueError for an unknown control, no stops, or a setting out of range.
    """
    swept = [kind.name for kind in STEPS if kind.stops]
    if control not in swept:
        raise ValueError(f"control must be one of {', '.join(swept)}; got {control!r}")
    if len(stops) == 0:
        raise ValueError("a sweep needs at least one stop; got none")
    values = pure.as_logits(logits)
    chosen = top_ids(values, shown) if ids is None else np.array(list(ids), dtype=np.int64)
    pure.check_ids(chosen, values.size, "shown")
    seen = pure.check_ids(previous, values.size, "previous")
    rows = np.empty((len(stops), values.size))
    for i, stop in enumerate(stops):
        rows[i] = _probabilities(values, {**settings, control: stop}, seen)
    visible = rows[:, chosen]
    counts = np.count_nonzero(rows, axis=1)
    return Sweep(
        control=control,
        stops=tuple(stops),
        ids=chosen,
        probabilities=visible,
        kept=visible > 0,
        hidden_mass=np.maximum(0.0, 1.0 - visible.sum(axis=1)),
        hidden_tokens=counts - np.count_nonzero(visible, axis=1),
        kept_tokens=counts,
        entropy=np.asarray(pure.entropy(rows)),
    )


def _probabilities(values: np.ndarray, settings: dict[str, Any], seen: np.ndarray) -> np.ndarray:
    return sampling_steps(values, previous=seen, **settings).probabilities
