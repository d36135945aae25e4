"""Softmax with its arithmetic, and where temperature takes it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from llmviz.sampling import steps as pure

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
