"""Gradient descent from one start at many learning rates at once, with every step and state kept.

L learning rates, S steps, P weights (two on a surface).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from llmviz.training.optimizers import UPDATES, Hyper, State

LEFT = 1e6  # a weight beyond this, or not finite, has left for good


@dataclass(frozen=True)
class Descent:
    """The paths of one optimizer from one start, one for each learning rate.

    path (L, S + 1, P) with the start first; losses (L, S + 1); values: each named value of the
    update, (L, S, P); of the weights that were watched where not all were. No step was taken from
    `lasted[l]` on: a weight had become too large, and the way stays where it was.
    """

    optimizer: str
    rates: Tensor
    path: Tensor
    losses: Tensor
    values: dict[str, Tensor]
    lasted: Tensor

    def settled(self, floor: float, share: float) -> Tensor:
        """For each rate, whether its last loss is within `share` of the start's way to `floor`."""
        reach = floor + share * (self.losses[:, 0] - floor)
        return (self.lasted == self.path.shape[1] - 1) & (self.losses[:, -1] <= reach)

    def best(self) -> int:
        """The number of the rate whose last loss is lowest among those that lasted."""
        last = torch.where(self.lasted == self.path.shape[1] - 1, self.losses[:, -1], torch.inf)
        return int(last.argmin())


def descend(
    optimizer: str,
    height: Callable[[Tensor], Tensor],
    gradient: Callable[[Tensor, int], Tensor],
    start: Tensor,
    rates: Tensor,
    steps: int,
    hyper: Hyper | None = None,
    watched: Sequence[int] | None = None,
) -> Descent:
    """Walk from `start` (P,) with each of the `rates` (L,), `steps` steps each, in float64.

    height (L, P) → (L,) is the loss and gradient (L, P), step → (L, P) its slope, which may be
    that of the step's own batch; steps count from 0. The other settings come from `hyper`. All
    rates walk together: no update mixes them. `watched` are the weights whose way is kept; all of
    them by default.
    Raises ValueError for an unknown optimizer, no step, or a rate that is not above 0.
    """
    if optimizer not in UPDATES:
        raise ValueError(f"optimizer must be one of {', '.join(UPDATES)}; got {optimizer!r}")
    if steps < 1:
        raise ValueError(f"steps must be at least 1; got {steps}")
    rates = torch.as_tensor(rates, dtype=torch.float64)
    if rates.dim() != 1 or not bool((rates > 0).all()):
        raise ValueError("learning rates must be a list of numbers above 0")
    update = UPDATES[optimizer]
    settings = replace(hyper or Hyper(), lr=rates[:, None])  # one rate a row
    w = start.to(torch.float64).expand(len(rates), -1).clone()  # (L, P)
    state: State = {}
    kept = slice(None) if watched is None else list(watched)
    path, losses, values = [w[:, kept]], [height(w)], []
    there = torch.ones(len(rates), dtype=torch.bool)
    lasted = torch.zeros(len(rates), dtype=torch.int64)
    for step in range(steps):
        after = update(w, gradient(w, step), state, settings)
        there = there & (after.param.isfinite() & (after.param.abs() <= LEFT)).all(-1)
        w = torch.where(there[:, None], after.param, w)
        state = {name: _held(there, value) for name, value in after.state.items()}
        lasted += there
        path.append(w[:, kept])
        losses.append(height(w))
        values.append({name: _held(there, value)[:, kept] for name, value in after.values.items()})
    named = {name: torch.stack([at_step[name] for at_step in values], dim=1) for name in values[0]}
    way, heights = torch.stack(path, dim=1), torch.stack(losses, dim=1)
    return Descent(optimizer, rates, way, heights, named, lasted)


def _held(there: Tensor, value: Tensor) -> Tensor:
    """`value`, with 0 in the rows that have left, so that nothing overflows."""
    if value.dim() == 0:  # Adam's count, the same for all
        return value
    return torch.where(there[:, None], value, 0.0)


def rates_between(low: float, high: float, count: int) -> Tensor:
    """`count` learning rates from `low` to `high`, each larger than the last by one factor."""
    if not 0 < low < high or count < 2:
        raise ValueError(f"rates go from above 0 upwards, 2 at least; got {low}, {high}, {count}")
    return torch.logspace(
        torch.log10(torch.tensor(low)).item(),
        torch.log10(torch.tensor(high)).item(),
        count,
        dtype=torch.float64,
    )
