"""ZeRO, stage 3: weights are split, too, by torch's `fully_shard`."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from llmviz.models import GPT
from llmviz.parallel.communicator import Communicator
from llmviz.parallel.plan import ParallelPlan
from llmviz.parallel.way import Shard, Way, adamw


class FullyShards(Way):
    """Each process keeps its part of the weights, the gradients and the state.

    A block's weights are gathered before it computes, let go after it, and gathered again for its
    backward pass; the embedding and the head stay gathered between the two passes.

    Reference: Zhao et al. 2023, "PyTorch FSDP".
    """

    def __init__(self, plan: ParallelPlan, model: GPT, comm: Communicator) -> None:
        # Its import takes most of a second, which a page that shows this code can do without.
        from torch.distributed.device_mesh import init_device_mesh
        from torch.distributed.fsdp import fully_shard

        super().__init__(plan, model, comm)
        mesh = init_device_mesh("cpu", (self.world.size,))
        units: dict[str, Any] = {
            f"layer {number}": block for number, block in enumerate(model.blocks, 1)
        }
        units["embedding and head"] = model  # what no layer has taken; so it is split last
        for module in units.values():
            fully_shard(module, mesh=mesh)
        for unit, module in units.items():
            module.set_custom_all_gather(_Gather(comm, unit))
            module.set_custom_reduce_scatter(_Scatter(comm, unit))
        self.optimizer = adamw(model.parameters(), plan)

    def step(self, idx: Tensor, targets: Tensor) -> float:
        loss = self.backward(*self.world.part((idx, targets)))
        self.gradients = self.held_gradients()
        self.update()
        return loss / self.world.size

    def logits(self, idx: Tensor) -> Tensor | None:
        logits = super().logits(idx)
        whole: Any = self.model  # which `fully_shard` gave methods of its own
        whole.reshard()  # a backward pass would do it
        return logits

    def shards(self) -> list[Shard]:
        return [Shard(name, full(values.detach())) for name, values in self.named()]


def full(values: Any) -> Tensor:
    """All of a tensor that is split."""
    return values.full_tensor()


class _Comm:
    """How `fully_shard` reaches the other processes: over the communicator that counts."""

    def __init__(self, comm: Communicator, unit: str) -> None:
        self.comm, self.unit = comm, unit

    def allocate(self, size: Any, *, dtype: torch.dtype, device: torch.device) -> Tensor:
        return torch.empty(*size, dtype=dtype, device=device)


class _Gather(_Comm):
    def __call__(
        self, output_tensor: Tensor, input_tensor: Tensor, group: Any, async_op: bool = False
    ) -> None:
        self.comm.all_gather(output_tensor, input_tensor, f"weights, {self.unit}")


class _Scatter(_Comm):
    def __call__(
        self,
        output_tensor: Tensor,
        input_tensor: Tensor,
        group: Any,
        op: Any,
        async_op: bool = False,
    ) -> None:
        self.comm.reduce_scatter(output_tensor, input_tensor, f"gradients, {self.unit}", op)
