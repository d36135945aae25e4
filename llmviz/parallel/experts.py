"""Expert parallel: each process has some experts of every layer; tokens travel to theirs.

N tokens of this process, C width, E experts, K experts a token is sent to, R rows: N·K.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from llmviz.models import GPT
from llmviz.nn.experts import Experts, route
from llmviz.parallel.communicator import Communicator
from llmviz.parallel.data import average, units
from llmviz.parallel.plan import ParallelPlan
from llmviz.parallel.way import Way, adamw, gradient_of


class _Exchange(torch.autograd.Function):
    """Rows go to other processes and as many come; backward their gradients go the other way."""

    @staticmethod
    def forward(
        context: Any, rows: Tensor, go: list[int], come: list[int], comm: Communicator, label: str
    ) -> Tensor:
        context.given = go, come, comm, label
        received = rows.new_empty(sum(come), rows.shape[1])
        comm.all_to_all(received, rows.contiguous(), come, go, label)
        return received

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> tuple[Tensor, None, None, None, None]:
        go, come, comm, label = context.given
        back = gradient.new_empty(sum(go), gradient.shape[1])
        comm.all_to_all(back, gradient.contiguous(), go, come, f"{label}, gradients")
        return back, None, None, None, None


class SpreadExperts(nn.Module):
    """What `Experts` computes, with E/N experts in this process and the others elsewhere.

    Rows are sorted by expert, sent to the processes of their experts, computed there, and sent
    back. How many come is said first.

    Reference: Lepikhin et al. 2020, "GShard", section 3.2. Deviation: no capacity, no token is
    dropped.
    """

    def __init__(self, experts: Experts, comm: Communicator) -> None:
        super().__init__()
        n, rank = comm.world.size, comm.world.rank
        self.comm, self.per_token = comm, experts.per_token
        self.here = experts.n_expert // n
        self.router = experts.router
        own = range(rank * self.here, (rank + 1) * self.here)
        self.experts = nn.ModuleDict({str(number): experts.experts[number] for number in own})

    def forward(self, x: Tensor, balances: list[Tensor] | None = None) -> Tensor:
        """(B, T, C) to (B, T, C)."""
        n = self.comm.world.size
        steps = route(self.router(x), self.per_token)
        tokens = x.flatten(0, -2)  # (N, C)
        chosen, shares = steps.experts.flatten(), steps.shares.flatten()  # (R,)
        order = chosen.argsort(stable=True)
        source = order // self.per_token  # which token each sorted row is of
        counts = chosen.bincount(minlength=n * self.here)  # (E,)
        coming = torch.empty_like(counts)
        each = [self.here] * n
        self.comm.all_to_all(coming, counts, each, each, "how many rows")
        go = counts.view(n, -1).sum(1).tolist()
        come = coming.view(n, -1).sum(1).tolist()
        own = self.comm.world.rank
        self.comm.elsewhere += sum(go) - go[own] + sum(come) - come[own]
        rows = _Exchange.apply(tokens[source], go, come, self.comm, "rows to experts")
        done = _Exchange.apply(self._computed(rows, coming), come, go, self.comm, "rows back")
        weighted = done * shares[order, None]
        return torch.zeros_like(tokens).index_add(0, source, weighted).view_as(x)

    def _computed(self, rows: Tensor, coming: Tensor) -> Tensor:
        """Each row through its expert; the rows of a process come sorted by expert."""
        numbers = torch.arange(self.here).repeat(self.comm.world.size)
        whose = numbers.repeat_interleave(coming)  # (rows,)
        output = torch.zeros_like(rows)
        for number, expert in enumerate(self.experts.values()):
            (place,) = (whose == number).nonzero(as_tuple=True)
            output = output.index_add(0, place, expert(rows[place]))
        return output


class ExpertParallel(Way):
    """Data parallel for all but the experts, of which each process has its own.

    The gradient of an expert comes from the tokens of all processes, so that it is whole already.
    """

    def __init__(self, plan: ParallelPlan, model: GPT, comm: Communicator) -> None:
        super().__init__(plan, model, comm)
        for block in model.blocks:
            assert isinstance(block.mlp, Experts)  # a plan of this way has experts
            block.add_module("mlp", SpreadExperts(block.mlp, comm))
        self.optimizer = adamw(model.parameters(), plan)

    def step(self, idx: Tensor, targets: Tensor) -> float:
        loss = self.backward(*self.world.part((idx, targets)))
        for name, parameter in self.named():
            if parameter.grad is None:  # no token chose this expert
                parameter.grad = torch.zeros_like(parameter)
            if ".experts." in name:
                parameter.grad /= self.world.size
        self.gradients = self.held_gradients()
        shared = ((name, parameter) for name, parameter in self.named() if ".experts." not in name)
        for unit, tensors in units(shared).items():
            average([gradient_of(tensor) for tensor in tensors], self.comm, unit)
        self.update()
        return loss / self.world.size
