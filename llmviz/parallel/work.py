"""What each process of a run does: split the model, train, and put together what came out."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from llmviz.files.paths import DATA
from llmviz.models import GPT
from llmviz.parallel.clock import spans_of
from llmviz.parallel.communicator import Communicator, socket_bytes
from llmviz.parallel.data import DataParallel
from llmviz.parallel.experts import ExpertParallel
from llmviz.parallel.fully_sharded import FullyShards
from llmviz.parallel.outcome import Outcome, ProcessRecord, Progress
from llmviz.parallel.pipeline import Pipeline
from llmviz.parallel.plan import VOCABULARY, ParallelPlan
from llmviz.parallel.tensor import TensorParallel
from llmviz.parallel.way import Shard, Way, adamw
from llmviz.parallel.zero import FlatShards
from llmviz.training.distributed import World

WAYS: dict[str, type[Way]] = {
    "data": DataParallel,
    "zero1": FlatShards,
    "zero2": FlatShards,
    "zero3": FullyShards,
    "tensor": TensorParallel,
    "gpipe": Pipeline,
    "1f1b": Pipeline,
    "experts": ExpertParallel,
}


def trained(plan: ParallelPlan, world: World, tell: Callable[[Progress], None]) -> Outcome | None:
    """Train on all processes of `world`, then once more on the first alone; its outcome there.

    Other processes return None. tell: called in the first process after each step. Raises
    ValueError where the plan is for another number of processes.
    """
    if world.size != plan.processes:
        raise ValueError(f"the plan is for {plan.processes} processes; got {world.size}")
    comm = Communicator(world)
    way = WAYS[plan.method](plan, new_model(plan), comm)
    first = way.logits(batch(plan, 0)[0])
    comm.count_anew()
    losses, seconds, kernels, notes = [], [], [], []
    for number in range(plan.steps):
        idx, targets = batch(plan, number)
        world.wait()
        before, begun = socket_bytes(), time.perf_counter()
        comm.begin()
        share = way.step(idx, targets)
        comm.clock.phase("")
        after, ended = socket_bytes(), time.perf_counter()
        kernels.append(None if before is None or after is None else after - before)
        notes.append((comm.clock.notes, comm.sent_at))
        loss, spent = world.add([share, ended - begun], torch.device("cpu"))
        losses.append(loss)
        seconds.append(spent / world.size)
        if world.leads:
            tell(Progress(number + 1, loss))
    fastest = seconds.index(min(seconds))  # the least disturbed by other programs: it is kept
    own = {
        "held": {"weights": way.weights(), "gradients": way.gradients, "state": way.state()},
        "sent": _sent(comm, plan.steps),
        "kernel": _mean(kernels),
        "elsewhere": comm.elsewhere / plan.steps,
    }
    everything: list[Any] = [None] * world.size
    dist.all_gather_object(everything, (own, notes[fastest], way.shards()))
    if not world.leads:
        world.wait()
        return None
    spans = spans_of([sent[1][0] for sent in everything], [sent[1][1] for sent in everything])
    records = tuple(
        ProcessRecord(**sent[0], spans=own) for sent, own in zip(everything, spans, strict=True)
    )
    weights = whole_of([shard for sent in everything for shard in sent[2]])
    alone = _alone(plan, weights, first)
    world.wait()
    return Outcome(
        plan=plan,
        losses=tuple(losses),
        seconds=tuple(seconds),
        cores=os.cpu_count() or 1,
        processes=records,
        **alone,
    )


def new_model(plan: ParallelPlan) -> GPT:
    """The model before its first step, the same in every process."""
    torch.manual_seed(plan.seed)
    return GPT(plan.model())


def batch(plan: ParallelPlan, number: int) -> tuple[Tensor, Tensor]:
    """The global batch of step `number`, the same in every process: bytes of the bundled stories.

    Returns idx, targets, each (B, T): the byte, and the one that follows it.
    """
    text = torch.frombuffer(bytearray(_stories()), dtype=torch.uint8).long() % VOCABULARY
    draw = torch.Generator().manual_seed(plan.seed * 1000 + number)
    starts = torch.randint(len(text) - plan.context_length, (plan.batch,), generator=draw)
    rows = torch.stack([text[at : at + plan.context_length + 1] for at in starts.tolist()])
    return rows[:, :-1].contiguous(), rows[:, 1:].contiguous()


def _stories() -> bytes:
    if not _text:
        with (DATA / "tiny-world.txt").open("rb") as stories:
            _text.append(stories.read(200_000))
    return _text[0]


_text: list[bytes] = []


def whole_of(shards: list[Shard]) -> dict[str, Tensor]:
    """Put a model's weights together from what its processes have."""
    whole: dict[str, Tensor] = {}
    for shard in shards:
        if shard.index is None:
            whole[shard.name] = shard.values
    split: dict[str, list[Shard]] = {}
    for shard in shards:
        if shard.index is not None:
            split.setdefault(shard.name, []).append(shard)
    for name, parts in split.items():
        dim = parts[0].dim
        values = torch.cat([part.values for part in parts], dim)
        places = torch.cat([part.index for part in parts if part.index is not None])
        whole[name] = torch.empty_like(values).index_copy_(dim, places, values)
    return whole


def _alone(plan: ParallelPlan, weights: dict[str, Tensor], first: Tensor | None) -> dict:
    """The same training on this process alone, and how far the other one is from it."""
    model = new_model(plan)
    logits = None
    if first is not None:
        with torch.no_grad():
            logits = float((model(batch(plan, 0)[0])[0] - first).abs().max())
    optimizer = adamw(model.parameters(), plan)
    losses, seconds = [], []
    for number in range(plan.steps):
        idx, targets = batch(plan, number)
        begun = time.perf_counter()
        optimizer.zero_grad()
        loss = model(idx, targets)[1]
        loss.backward()
        optimizer.step()
        seconds.append(time.perf_counter() - begun)
        losses.append(float(loss.detach()))
    own = {name: parameter.detach() for name, parameter in model.named_parameters()}
    if own.keys() != weights.keys():
        raise RuntimeError(f"weights are missing: {sorted(own.keys() ^ weights.keys())}")
    apart = max(float((own[name] - values).abs().max()) for name, values in weights.items())
    return {
        "alone": tuple(losses),
        "alone_seconds": tuple(seconds),
        "difference": apart,
        "logits_difference": logits,
    }


def _sent(comm: Communicator, steps: int) -> dict:
    return {name: (comm.times[name] / steps, comm.bytes[name] / steps) for name in comm.times}


def _mean(kernels: list[int | None]) -> float | None:
    """What the sockets sent in a step on average; None where the system does not say."""
    known = [kernel for kernel in kernels if kernel is not None]
    return statistics.fmean(known) if len(known) == len(kernels) else None
