"""The same run on several processes: what `torchrun` starts, this joins.

Each process takes its rows of the one global batch, weighted by how many targets they hold, so the
gradient is that of the whole batch, as on one process. DDP keeps a copy of the model in each
process; with `shard`, FSDP splits weights, gradients and optimizer state over them.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import Tensor, nn

from llmviz.training.tensors import load_optimizer, load_weights, optimizer_tensors


@dataclass(frozen=True)
class World:
    """The processes of a run: how many, and which of them this is."""

    size: int = 1
    rank: int = 0

    @property
    def leads(self) -> bool:
        """Whether this process is the one that writes files and prints."""
        return self.rank == 0

    def add(self, values: list[float], device: torch.device) -> list[float]:
        """Sums over the processes; on one process the values themselves."""
        if self.size == 1:
            return values
        total = torch.tensor(values, dtype=torch.float64, device=device)
        dist.all_reduce(total)
        return total.tolist()

    def part(self, batch: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """This process's rows of a global batch."""
        return tuple(tensor.tensor_split(self.size)[self.rank] for tensor in batch)

    def from_leader(self, text: str) -> str:
        """What the leading process says, in every process."""
        texts = [text]
        if self.size > 1:
            dist.broadcast_object_list(texts, src=0)
        return texts[0]

    def wait(self) -> None:
        """Go on when all processes are here."""
        if self.size > 1:
            dist.barrier()


def launched() -> bool:
    """Whether `torchrun` started this process."""
    return "WORLD_SIZE" in os.environ and "RANK" in os.environ


@contextlib.contextmanager
def joined(device: str = "auto") -> Iterator[World]:
    """Join the processes that `torchrun` started; alone, a world of one."""
    if not launched():
        yield World()
        return
    cuda = device != "cpu" and torch.cuda.is_available()
    if cuda:
        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
    dist.init_process_group("nccl" if cuda else "gloo")
    try:
        yield World(dist.get_world_size(), dist.get_rank())
    finally:
        dist.destroy_process_group()


def current() -> World:
    """The processes that were joined; a world of one outside `joined()`."""
    if dist.is_available() and dist.is_initialized():
        return World(dist.get_world_size(), dist.get_rank())
    return World()


def spread(model: nn.Module, *, shard: bool) -> nn.Module:
    """The model as every process holds it: DDP, or FSDP where `shard`; alone, unchanged."""
    world = current()
    if world.size == 1:
        return model
    if not shard:
        return nn.parallel.DistributedDataParallel(model)
    from torch.distributed.fsdp import fully_shard

    for child in model.children():
        if isinstance(child, nn.ModuleList):
            for block in child:
                fully_shard(block)
    fully_shard(model)
    return model


def gather(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    names: dict[Tensor, str],
    *,
    shard: bool,
) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """Weights and optimizer state in full; with `shard` every process must take part."""
    weights, state = model.state_dict(), optimizer_tensors(optimizer, names)
    if shard and current().size > 1:
        weights = {name: _whole(tensor) for name, tensor in weights.items()}
        state = {name: _whole(tensor) for name, tensor in state.items()}
    return weights, state


def scatter(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    names: dict[Tensor, str],
    weights: dict[str, Tensor],
    state: dict[str, Tensor],
    source: str,
    *,
    shard: bool,
) -> None:
    """Put back what `gather` gave."""
    if shard and current().size > 1:
        own = model.state_dict()
        weights = {name: _like(tensor, own.get(name)) for name, tensor in weights.items()}
        parameters = {name: parameter for parameter, name in names.items()}
        state = {
            key: _like(tensor, parameters.get(key.partition("/")[2])) if tensor.dim() else tensor
            for key, tensor in state.items()
        }
    load_weights(model, weights, source)
    load_optimizer(optimizer, names, state, source)


def _whole(tensor: Tensor) -> Tensor:
    return tensor.full_tensor() if hasattr(tensor, "full_tensor") else tensor


def _like(tensor: Tensor, own: Tensor | None) -> Tensor:
    """A full tensor cut up as `own` is."""
    if own is None or not hasattr(own, "device_mesh"):
        return tensor
    from torch.distributed.tensor import DTensor, distribute_tensor

    assert isinstance(own, DTensor)
    return distribute_tensor(tensor.to(own.device), own.device_mesh, own.placements)
