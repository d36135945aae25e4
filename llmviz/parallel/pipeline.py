"""Pipeline parallel: each process has some layers, and passes its output on; torch's schedules.

B batch, T time, C width, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.pipelining import PipelineStage, Schedule1F1B, ScheduleGPipe

from llmviz.models import GPT
from llmviz.parallel.communicator import Communicator
from llmviz.parallel.plan import ParallelPlan, stage_layers
from llmviz.parallel.way import Way, adamw


class Layers(nn.Module):
    """Some layers of a GPT under the names that they have there; the first embeds, the last tells.

    Token ids (B, T), or the residual stream (B, T, C), to the residual stream, or logits (B, T, V).
    """

    def __init__(self, model: GPT, layers: range) -> None:
        super().__init__()
        first, last = layers.start == 0, layers.stop == len(model.blocks)
        self.token = model.token if first else None
        self.position = model.position if first else None
        self.blocks = nn.ModuleDict({str(number): model.blocks[number] for number in layers})
        self.norm_final = model.norm_final if last else None
        self.head = model.head if last else None
        self.visible = model.visible

    def forward(self, x: Tensor) -> Tensor:
        if self.token is not None and self.position is not None:
            x = self.token(x) + self.position.weight[: x.shape[1]]
        mask, causal = self.visible(x[..., 0])
        for block in self.blocks.values():
            x = block(x, mask, causal, None)
        if self.head is None or self.norm_final is None:
            return x
        return self.head(self.norm_final(x))


SCHEDULES = {"gpipe": ScheduleGPipe, "1f1b": Schedule1F1B}


class NotedStage(PipelineStage):
    """A stage that notes when it computes, and whose messages are counted by the communicator."""

    def __init__(self, comm: Communicator, *arguments: Any, **more: Any) -> None:
        self.comm = comm
        super().__init__(*arguments, **more)

    def forward_one_chunk(self, fwd_chunk_id: int, *arguments: Any, **more: Any) -> Any:
        self.comm.clock.phase(f"forward {fwd_chunk_id + 1}")
        output = super().forward_one_chunk(fwd_chunk_id, *arguments, **more)
        self.comm.clock.phase("")
        return output

    def backward_one_chunk(self, bwd_chunk_id: int, *arguments: Any, **more: Any) -> Any:
        self.comm.clock.phase(f"backward {bwd_chunk_id + 1}")
        output = super().backward_one_chunk(bwd_chunk_id, *arguments, **more)
        self.comm.clock.phase("")
        return output

    def get_fwd_recv_ops(self, fwd_chunk_id: int) -> list[dist.P2POp]:
        return self._counted(super().get_fwd_recv_ops(fwd_chunk_id), f"output {fwd_chunk_id + 1}")

    def get_fwd_send_ops(self, fwd_chunk_id: int) -> list[dist.P2POp]:
        return self._counted(super().get_fwd_send_ops(fwd_chunk_id), f"output {fwd_chunk_id + 1}")

    def get_bwd_recv_ops(self, bwd_chunk_id: int) -> list[dist.P2POp]:
        return self._counted(super().get_bwd_recv_ops(bwd_chunk_id), f"gradient {bwd_chunk_id + 1}")

    def get_bwd_send_ops(self, bwd_chunk_id: int) -> list[dist.P2POp]:
        return self._counted(super().get_bwd_send_ops(bwd_chunk_id), f"gradient {bwd_chunk_id + 1}")

    def _counted(self, messages: list[dist.P2POp], label: str) -> list[dist.P2POp]:
        """The same messages; the schedule, which starts them, calls the communicator, not torch."""
        for message in messages:
            over = self.comm.send if message.op is dist.isend else self.comm.receive
            peer = message.group_peer

            def started(tensor: Tensor, *, over: Any = over, peer: int = peer, **_: Any) -> Any:
                return over(tensor, peer, label)

            message.op = started
        return messages


class Pipeline(Way):
    """Each process has the next layers; micro-batches follow each other through all of them.

    Reference: Huang et al. 2019, "GPipe"; Narayanan et al. 2021, "Efficient large-scale language
    model training on GPU clusters", section 2.2 (1F1B).
    """

    def __init__(self, plan: ParallelPlan, model: GPT, comm: Communicator) -> None:
        super().__init__(plan, model, comm)
        rank, n = self.world.rank, self.world.size
        layers = stage_layers(plan.n_layer, n)[rank]
        self.layers = Layers(model, layers)
        del self.model  # the layers of other processes are let go
        self.optimizer = adamw(self.layers.parameters(), plan)
        stream = torch.zeros(plan.rows, plan.context_length, plan.n_embd, requires_grad=True)
        ids = torch.zeros(plan.rows, plan.context_length, dtype=torch.long)
        logits = torch.zeros(plan.rows, plan.context_length, model.vocab_size)
        stage = NotedStage(
            comm,
            self.layers,
            rank,
            n,
            torch.device("cpu"),
            input_args=ids if rank == 0 else stream,
            output_args=logits if rank == n - 1 else stream,
        )
        self._loss = model.loss
        schedule = SCHEDULES[plan.method]
        self.schedule = schedule(stage, plan.micro_batches, loss_fn=self._micro_loss)

    def step(self, idx: Tensor, targets: Tensor) -> float:
        losses: list[Tensor] = []
        self.optimizer.zero_grad()
        if self.world.rank == 0:
            self.schedule.step(idx)
        elif self.world.rank == self.world.size - 1:
            self.schedule.step(target=targets, losses=losses)
        else:
            self.schedule.step()
        self.gradients = self.held_gradients()
        self.update()
        return float(torch.stack(losses).detach().mean()) if losses else 0.0

    def _micro_loss(self, logits: Tensor, targets: Tensor) -> Tensor:
        self.comm.clock.phase("loss")
        loss = self._loss(logits, targets)
        assert loss is not None
        self.comm.clock.phase("")
        return loss

    def named(self) -> Iterable[tuple[str, Tensor]]:
        return self.layers.named_parameters()

    def logits(self, idx: Tensor) -> None:
        return None
