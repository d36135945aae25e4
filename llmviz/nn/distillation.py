"""The loss of a student that learns from a teacher's distributions, not from single tokens.

N positions, V vocabulary. Reference: Hinton, Vinyals, Dean 2015, Distilling the Knowledge in a
Neural Network, section 2.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor


def soft_targets(logits: Tensor, temperature: float = 1.0, top: int | None = None) -> Tensor:
    """Return a teacher's distributions (N, V): the softmax of its logits ÷ temperature.

    top: only so many of the most probable tokens keep their share, and they sum to 1. Ties are
    broken as `torch.topk` does. Raises ValueError for a temperature that is not a positive number,
    or a `top` that is not from 1 to V.
    """
    check_temperature(temperature)
    if top is not None and not 1 <= top <= logits.shape[-1]:
        raise ValueError(f"top must be from 1 to {logits.shape[-1]}; got {top}")
    if top is None:
        return F.softmax(logits / temperature, -1)
    best = logits.topk(top, -1)
    target = torch.zeros_like(logits)
    return target.scatter(-1, best.indices, F.softmax(best.values / temperature, -1))


def distillation_loss(logits: Tensor, target: Tensor, temperature: float = 1.0) -> Tensor:
    """Return T² · KL(target ‖ softmax(logits ÷ T)), the mean over positions, in nats.

    logits (N, V): the student's. target (N, V): made at the same temperature. With T² its gradient
    keeps its size as T grows; on the logits of a position it is T · (softmax(logits ÷ T) − target).
    Raises ValueError for shapes that differ, and a temperature that is not a positive number.
    """
    check_temperature(temperature)
    if logits.shape != target.shape:
        shapes = tuple(logits.shape), tuple(target.shape)
        raise ValueError(f"logits and target must have one shape; got {shapes[0]} and {shapes[1]}")
    log_q = F.log_softmax(logits / temperature, -1)
    own = torch.xlogy(target, target).sum(-1)
    return temperature**2 * (own - (target * log_q).sum(-1)).mean()


def check_temperature(temperature: float) -> None:
    """Raise ValueError for a temperature that is not a positive number."""
    if not (math.isfinite(temperature) and temperature > 0):
        raise ValueError(f"the temperature must be a positive number; got {temperature}")
