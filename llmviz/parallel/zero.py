"""ZeRO, stages 1 and 2: data parallel whose processes split what each would else hold alike."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from llmviz.models import GPT
from llmviz.parallel.communicator import Communicator
from llmviz.parallel.outcome import Piece
from llmviz.parallel.plan import ParallelPlan, part_of, unit_of
from llmviz.parallel.way import Way, adamw, gradient_of, numbers_of


class FlatUnit:
    """The weights of a block as one vector in N equal parts, one for each process to update.

    The weights of the model become views of the vector, so that what is gathered is in place.
    """

    def __init__(
        self, unit: str, named: list[tuple[str, nn.Parameter]], comm: Communicator
    ) -> None:
        self.unit, self.named, self.comm = unit, named, comm
        n, rank = comm.world.size, comm.world.rank
        self.numbers = sum(parameter.numel() for _, parameter in named)
        self.share = -(-self.numbers // n)  # the last share is filled up with zeros
        self.values = torch.zeros(self.share * n)
        at = 0
        for _, parameter in named:
            place = self.values[at : at + parameter.numel()].view_as(parameter)
            place.copy_(parameter.detach())
            parameter.data = place
            at += parameter.numel()
        self.own = nn.Parameter(self.values[rank * self.share : (rank + 1) * self.share])
        self.arrived = 0  # gradients of this step

    def reduce(self) -> None:
        """Give each process the mean gradient of its part; the whole one is not needed any more."""
        whole = torch.zeros_like(self.values)
        torch.cat(
            [gradient_of(parameter).flatten() for _, parameter in self.named],
            out=whole[: self.numbers],
        )
        for _, parameter in self.named:
            parameter.grad = None
        gradient = torch.empty_like(self.own)
        self.comm.reduce_scatter(gradient, whole, f"gradients, {self.unit}")
        self.own.grad = gradient / self.comm.world.size

    def gather(self) -> None:
        """Fetch the parts that the other processes updated."""
        self.comm.all_gather(self.values, self.own.detach().clone(), f"weights, {self.unit}")

    def overlaps(self) -> list[tuple[str, int, int]]:
        """Which numbers of which tensor lie in this process's part: name, where, how many."""
        low = self.comm.world.rank * self.share
        overlaps, at = [], 0
        for name, parameter in self.named:
            first, last = max(low, at), min(low + self.share, at + parameter.numel())
            if first < last:
                overlaps.append((name, first, last - first))
            at += parameter.numel()
        return overlaps


class FlatShards(Way):
    """ZeRO, stage 1: each process keeps optimizer state for its part of the weights alone.

    Stage 2: it keeps its part of the gradients alone, too. A block's gradients are reduced and let
    go as soon as the backward pass has them all.

    Reference: Rajbhandari et al. 2020, "ZeRO", section 5.
    """

    def __init__(self, plan: ParallelPlan, model: GPT, comm: Communicator) -> None:
        super().__init__(plan, model, comm)
        grouped: dict[str, list[tuple[str, nn.Parameter]]] = {}
        for name, parameter in model.named_parameters():
            grouped.setdefault(unit_of(name), []).append((name, parameter))
        self.units = [FlatUnit(unit, named, comm) for unit, named in grouped.items()]
        self.optimizer = adamw([unit.own for unit in self.units], plan)
        self.early = plan.method == "zero2"
        if self.early:
            for unit in self.units:
                for _, weight in unit.named:
                    weight.register_post_accumulate_grad_hook(lambda _, unit=unit: _arrived(unit))

    def step(self, idx: Tensor, targets: Tensor) -> float:
        loss = self.backward(*self.world.part((idx, targets)))
        self.gradients = self._own_part(_gradients) if self.early else self.held_gradients()
        if not self.early:
            for unit in self.units:
                unit.reduce()
        self.update()
        for unit in self.units:
            unit.gather()
        return loss / self.world.size

    def state(self) -> tuple[Piece, ...]:
        return self._own_part(lambda unit: numbers_of(self.optimizer.state[unit.own]))

    def _own_part(self, held: Callable[[FlatUnit], int]) -> tuple[Piece, ...]:
        """The part that is this process's; held: how many numbers it has for a whole share."""
        at: dict[str, int] = {}  # where in its part of the model each tensor begins
        sizes: dict[str, int] = {}
        for name, parameter in self.named():
            at[name] = sizes.get(part_of(name), 0)
            sizes[part_of(name)] = at[name] + parameter.numel()
        firsts: dict[str, float] = {}
        counts: dict[str, int] = {}
        for unit in self.units:
            begins = _begins(unit)
            for name, first, count in unit.overlaps():
                part = part_of(name)
                firsts.setdefault(part, at[name] + first - begins[name])
                counts[part] = counts.get(part, 0) + count * held(unit) // unit.share
        return tuple(
            Piece(part, firsts[part] / sizes[part], count) for part, count in counts.items()
        )


def _gradients(unit: FlatUnit) -> int:
    """How many numbers of gradients are there: of its own part, and of what is not let go."""
    held = (unit.own.grad, *(parameter.grad for _, parameter in unit.named))
    return sum(gradient.numel() for gradient in held if gradient is not None)


def _begins(unit: FlatUnit) -> dict[str, int]:
    begins, at = {}, 0
    for name, parameter in unit.named:
        begins[name] = at
        at += parameter.numel()
    return begins


def _arrived(unit: FlatUnit) -> None:
    unit.arrived += 1
    if unit.arrived == len(unit.named):
        unit.arrived = 0
        unit.reduce()
