"""Data parallel: the whole model in each process, its rows of the batch, averaged gradients."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor

from llmviz.models import GPT
from llmviz.parallel.communicator import Communicator
from llmviz.parallel.plan import ParallelPlan, unit_of
from llmviz.parallel.way import Way, adamw, gradient_of


class DataParallel(Way):
    """Each process computes the gradients of its rows; all-reduce makes them those of all rows.

    Reference: Li et al. 2020, "PyTorch Distributed". Deviation: a block's gradients are sent when
    the backward pass has ended, not while it goes on.
    """

    def __init__(self, plan: ParallelPlan, model: GPT, comm: Communicator) -> None:
        super().__init__(plan, model, comm)
        self.optimizer = adamw(model.parameters(), plan)

    def step(self, idx: Tensor, targets: Tensor) -> float:
        loss = self.backward(*self.world.part((idx, targets)))
        self.gradients = self.held_gradients()
        for unit, tensors in units(self.named()).items():
            average([gradient_of(tensor) for tensor in tensors], self.comm, unit)
        self.update()
        return loss / self.world.size


def units(named: Iterable[tuple[str, Tensor]]) -> dict[str, list[Tensor]]:
    """Tensors by the block that they belong to, in their order."""
    grouped: dict[str, list[Tensor]] = {}
    for name, values in named:
        grouped.setdefault(unit_of(name), []).append(values)
    return grouped


def average(gradients: list[Tensor], comm: Communicator, unit: str) -> None:
    """Replace gradients by their mean over the processes, in one message."""
    flat = torch.cat([gradient.flatten() for gradient in gradients])
    comm.all_reduce(flat, f"gradients, {unit}")
    flat /= comm.world.size
    for gradient, part in zip(
        gradients, flat.split([gradient.numel() for gradient in gradients]), strict=True
    ):
        gradient.copy_(part.view_as(gradient))
