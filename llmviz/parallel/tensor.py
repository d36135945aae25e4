"""Tensor parallel: each matrix of a layer is split over the processes.

B batch, T time, C width, H heads, F hidden width, N processes.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from llmviz.models import GPT
from llmviz.nn.attention import MultiHeadAttention
from llmviz.nn.layers import FeedForward
from llmviz.parallel.communicator import Communicator
from llmviz.parallel.plan import ParallelPlan
from llmviz.parallel.way import Shard, Way, adamw


class _IntoSplit(torch.autograd.Function):
    """Forward nothing; backward the sum of what the processes say of the same input."""

    @staticmethod
    def forward(context: Any, x: Tensor, comm: Communicator) -> Tensor:
        context.comm = comm
        return x.view_as(x)

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> tuple[Tensor, None]:
        gradient = gradient.clone()
        context.comm.all_reduce(gradient, "gradient of the input")
        return gradient, None


class _OutOfSplit(torch.autograd.Function):
    """Forward the sum of the processes' parts; backward nothing."""

    @staticmethod
    def forward(context: Any, part: Tensor, comm: Communicator) -> Tensor:
        whole = part.clone()
        comm.all_reduce(whole, "sum of the outputs")
        return whole

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> tuple[Tensor, None]:
        return gradient, None


class ColumnLinear(nn.Module):
    """Some outputs of a linear layer: all inputs in, this process's columns of the result out.

    index: which outputs. Reference: Shoeybi et al. 2019, "Megatron-LM", section 3, the operator f.
    """

    def __init__(self, linear: nn.Linear, index: Tensor, comm: Communicator) -> None:
        super().__init__()
        self.index, self.comm = index, comm
        self.weight = nn.Parameter(linear.weight.detach()[index])  # (outputs/N, inputs)
        self.bias = None if linear.bias is None else nn.Parameter(linear.bias.detach()[index])

    def forward(self, x: Tensor) -> Tensor:
        """(…, inputs) to (…, outputs/N)."""
        return F.linear(_IntoSplit.apply(x, self.comm), self.weight, self.bias)


class RowLinear(nn.Module):
    """Some inputs of a linear layer: this process's columns in, the sum over the processes out.

    index: which inputs. The bias, which is added to the sum, is the same in all processes.
    Reference: Shoeybi et al. 2019, section 3, the operator g.
    """

    def __init__(self, linear: nn.Linear, index: Tensor, comm: Communicator) -> None:
        super().__init__()
        self.index, self.comm = index, comm
        self.weight = nn.Parameter(linear.weight.detach()[:, index])  # (outputs, inputs/N)
        self.bias = None if linear.bias is None else nn.Parameter(linear.bias.detach().clone())

    def forward(self, x: Tensor) -> Tensor:
        """(…, inputs/N) to (…, outputs)."""
        whole = _OutOfSplit.apply(F.linear(x, self.weight), self.comm)
        return whole if self.bias is None else whole + self.bias


def split_attention(attention: MultiHeadAttention, comm: Communicator) -> None:
    """Leave a process its heads: their queries, keys and values, and what they add.

    Raises ValueError where the number of processes does not divide the heads of keys and values.
    """
    n, rank = comm.world.size, comm.world.rank
    if attention.n_kv_head % n:
        raise ValueError(f"{n} processes must divide the heads; got {attention.n_kv_head}")
    own = torch.arange(attention.n_embd).tensor_split(n)[rank]
    keys = torch.arange(attention.kv_size).tensor_split(n)[rank]
    starts = attention.n_embd, attention.n_embd + attention.kv_size
    rows = torch.cat([own, *(keys + start for start in starts)])
    attention.add_module("qkv", ColumnLinear(attention.qkv, rows, comm))
    attention.add_module("projection", RowLinear(attention.projection, own, comm))
    attention.n_embd, attention.kv_size = len(own), len(keys)
    attention.n_head //= n
    attention.n_kv_head //= n


def split_feed_forward(mlp: FeedForward, comm: Communicator) -> None:
    """Leave a process its part of the hidden numbers."""
    hidden = torch.arange(mlp.hidden.out_features).tensor_split(comm.world.size)[comm.world.rank]
    mlp.add_module("hidden", ColumnLinear(mlp.hidden, hidden, comm))
    if mlp.up is not None:
        mlp.add_module("up", ColumnLinear(mlp.up, hidden, comm))
    mlp.add_module("output", RowLinear(mlp.output, hidden, comm))


class TensorParallel(Way):
    """All processes compute the same rows, each with its heads and its hidden numbers.

    Embedding, norms, head and the biases of row layers are in all processes, and equal: they get
    the same gradients everywhere.
    """

    def __init__(self, plan: ParallelPlan, model: GPT, comm: Communicator) -> None:
        super().__init__(plan, model, comm)
        for block in model.blocks:
            split_attention(block.attn, comm)
            split_feed_forward(block.feed_forward, comm)
        self.optimizer = adamw(model.parameters(), plan)

    def step(self, idx: Tensor, targets: Tensor) -> float:
        loss = self.backward(idx, targets)
        self.gradients = self.held_gradients()
        self.update()
        return loss if self.world.leads else 0.0

    def shards(self) -> list[Shard]:
        shards = []
        for name, values in self.named():
            path, _, kind = name.rpartition(".")
            layer = self.model.get_submodule(path)
            if isinstance(layer, ColumnLinear):
                shards.append(Shard(name, values.detach(), 0, layer.index))
            elif isinstance(layer, RowLinear):
                index = layer.index if kind == "weight" else None
                shards.append(Shard(name, values.detach(), 1, index))
            else:
                shards.append(Shard(name, values.detach()))
        return shards
