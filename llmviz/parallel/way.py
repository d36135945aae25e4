"""What all ways to share a training step have in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from llmviz.models import GPT
from llmviz.models.costs import tensors
from llmviz.parallel.communicator import Communicator
from llmviz.parallel.outcome import Piece
from llmviz.parallel.plan import ParallelPlan, part_of


@dataclass(frozen=True)
class Shard:
    """Weights as a process has them: a tensor of the model, or these places of it along `dim`."""

    name: str
    values: Tensor
    dim: int = 0
    index: Tensor | None = None  # None: the whole tensor


class Way:
    """One process's side of a training that N processes share.

    A subclass splits `model`, which is the same in all processes, makes `self.optimizer`, and does
    a step. `self.gradients` is what it holds of them when the backward pass has ended.
    """

    optimizer: torch.optim.Optimizer

    def __init__(self, plan: ParallelPlan, model: GPT, comm: Communicator) -> None:
        self.plan, self.model, self.comm, self.world = plan, model, comm, comm.world
        self.gradients: tuple[Piece, ...] = ()
        self._whole: Counter[str] = Counter()
        for tensor in tensors(plan.model()):
            self._whole[part_of(tensor.name)] += tensor.count

    def step(self, idx: Tensor, targets: Tensor) -> float:
        """Learn from the global batch idx, targets (B, T).

        Returns this process's share of the loss: over all processes they add up to the mean.
        """
        raise NotImplementedError

    def backward(self, idx: Tensor, targets: Tensor) -> float:
        """Give the weights the gradients of these rows; return their loss.

        The clock goes on with "backward": what is sent next belongs to it.
        """
        self.optimizer.zero_grad()
        self.comm.clock.phase("forward")
        loss = self.model(idx, targets)[1]
        self.comm.clock.phase("backward")
        loss.backward()
        return float(loss.detach())

    def update(self) -> None:
        """Change the weights by their gradients. The clock goes on with "update"."""
        self.comm.clock.phase("update")
        self.optimizer.step()

    def named(self) -> Iterable[tuple[str, Tensor]]:
        """The weights of this process under the names of the whole model."""
        return self.model.named_parameters()

    def shards(self) -> list[Shard]:
        """Its weights, for putting the whole model together."""
        return [Shard(name, values.detach()) for name, values in self.named()]

    def logits(self, idx: Tensor) -> Tensor | None:
        """Logits (B, T, V) for idx, all processes together; None where no process has all."""
        with torch.no_grad():
            return self.model(idx)[0]

    def weights(self) -> tuple[Piece, ...]:
        """What it holds of the weights."""
        return self.pieces((name, local(values).numel()) for name, values in self.named())

    def state(self) -> tuple[Piece, ...]:
        """What it holds of the optimizer's averages, two numbers for a weight."""
        held = self.optimizer.state
        return self.pieces((name, numbers_of(held[values])) for name, values in self.named())

    def held_gradients(self) -> tuple[Piece, ...]:
        """What it holds of the gradients now."""
        held = ((name, values.grad) for name, values in self.named() if values.grad is not None)
        return self.pieces((name, local(gradient).numel()) for name, gradient in held)

    def pieces(self, numbers: Iterable[tuple[str, int]]) -> tuple[Piece, ...]:
        """Numbers of tensors, by the part of the model that they belong to."""
        parts: Counter[str] = Counter()
        for name, count in numbers:
            parts[part_of(name)] += count
        start = self.world.rank / self.world.size
        return tuple(
            Piece(part, start if count % self._whole[part] else 0.0, count)
            for part, count in parts.items()
        )


def gradient_of(values: Tensor) -> Tensor:
    """The gradient of weights that took part in a backward pass."""
    assert values.grad is not None
    return values.grad


def local(values: Tensor) -> Tensor:
    """What of a tensor lies in this process."""
    return values.to_local() if hasattr(values, "to_local") else values


def numbers_of(state: dict) -> int:
    """How many numbers an optimizer keeps for a parameter, its count of steps aside."""
    kept = [value for value in state.values() if torch.is_tensor(value) and value.dim()]
    return sum(local(tensor).numel() for tensor in kept)


def adamw(parameters: Iterable[nn.Parameter], plan: ParallelPlan) -> torch.optim.AdamW:
    """The optimizer of all ways: it treats each number by itself, so it can be split anywhere."""
    return torch.optim.AdamW(list(parameters), lr=plan.learning_rate)
