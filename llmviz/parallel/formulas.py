"""How many bytes a process sends in a step, and the bubble of a pipeline, by formula. No torch.

N processes, B rows, T tokens of a row, C width, L layers, M micro-batches, P parameters.
"""

from __future__ import annotations

from collections import Counter
from math import prod

from llmviz.models.costs import TensorShape, count, tensors
from llmviz.parallel.plan import BYTES_EACH, PIPELINES, ParallelPlan, unit_of

INDEX_BYTES = 8  # an int64


def ring_bytes(operation: str, payload: float, processes: int) -> float:
    """Bytes that each process sends in a collective operation of the ring kind.

    payload: bytes of the whole tensor: the one that is summed, cut up, or put together. Sent to one
    process, or to all in parts of their own, it is what leaves this process. Raises ValueError for
    an operation that is not known, and for less than one process.

    Reference: Patarasuk, Yuan 2009, "Bandwidth optimal all-reduce algorithms for clusters of
    workstations": 2(N−1)/N, the reduce-scatter and the all-gather being half of it each.

    >>> ring_bytes("all_reduce", 1000, 4), ring_bytes("all_gather", 1000, 4)
    (1500.0, 750.0)
    """
    if processes < 1:
        raise ValueError(f"processes must be at least 1; got {processes}")
    others = (processes - 1) / processes
    shares = {
        "all_reduce": 2 * others,
        "reduce_scatter": others,
        "all_gather": others,
        "all_to_all": 1.0,
        "send": 1.0,
    }
    if operation not in shares:
        raise ValueError(f"operation must be one of {', '.join(shares)}; got {operation!r}")
    return shares[operation] * payload


def sent_per_step(
    plan: ParallelPlan, rank: int = 0, elsewhere: float | None = None
) -> dict[str, float]:
    """Bytes that the process `rank` sends in one step, by the name of the operation.

    elsewhere: for "experts", how many rows go from this process to experts of others and come from
    others to its experts, all layers together; without it, as if all experts got equally many.

    Reference: Rajbhandari et al. 2020, "ZeRO", section 7; Shoeybi et al. 2019, "Megatron-LM",
    section 3; Huang et al. 2019, "GPipe"; Lepikhin et al. 2020, "GShard".
    """
    if plan.method in PIPELINES:
        return _pipeline(plan, rank)
    return _OF_METHOD[plan.method](plan, elsewhere)


def bubble_share(stages: int, micro_batches: float) -> float:
    """The share of the time in which a process of a pipeline has nothing to do, (p−1)/(m+p−1).

    For stages that take equally long, and sending that takes no time. Raises ValueError for less
    than one stage, and for micro-batches that are not above 0.

    Reference: Huang et al. 2019, "GPipe", section 2.3.

    >>> bubble_share(4, 4), bubble_share(1, 8)
    (0.42857142857142855, 0.0)
    """
    if stages < 1 or not micro_batches > 0:
        raise ValueError(
            f"a pipeline needs stages and micro-batches; got {stages} and {micro_batches}"
        )
    return (stages - 1) / (micro_batches + stages - 1)


def _data(plan: ParallelPlan, _: float | None) -> dict[str, float]:
    weights = BYTES_EACH * count(plan.model())
    return {"all_reduce": ring_bytes("all_reduce", weights, plan.processes)}


def _flat(plan: ParallelPlan, _: float | None) -> dict[str, float]:
    n = plan.processes
    units: Counter[str] = Counter()
    for tensor in tensors(plan.model()):
        units[unit_of(tensor.name)] += tensor.count
    padded = BYTES_EACH * sum(-(-numbers // n) * n for numbers in units.values())
    names = ("reduce_scatter", "all_gather")
    return {name: ring_bytes(name, padded, n) for name in names}


def _fully(plan: ParallelPlan, _: float | None) -> dict[str, float]:
    n, inside, around = plan.processes, 0, 0
    for tensor in tensors(plan.model()):
        padded = BYTES_EACH * _rows_padded(tensor, n)
        if tensor.name.startswith("blocks."):
            inside += padded
        else:
            around += padded
    return {  # blocks are gathered again for the backward pass; what is around them is kept
        "all_gather": ring_bytes("all_gather", 2 * inside + around, n),
        "reduce_scatter": ring_bytes("reduce_scatter", inside + around, n),
    }


def _rows_padded(tensor: TensorShape, processes: int) -> int:
    rows, *rest = tensor.shape
    return -(-rows // processes) * processes * prod(rest)


def _tensor(plan: ParallelPlan, _: float | None) -> dict[str, float]:
    activations = BYTES_EACH * plan.batch * plan.context_length * plan.n_embd
    payload = 4 * plan.n_layer * activations  # 2 in the forward pass, 2 in the backward pass
    return {"all_reduce": ring_bytes("all_reduce", payload, plan.processes)}


def _experts(plan: ParallelPlan, elsewhere: float | None) -> dict[str, float]:
    n, config = plan.processes, plan.model()
    if elsewhere is None:
        rows = plan.rows * plan.context_length * config.experts_per_token
        elsewhere = 2 * plan.n_layer * rows * (n - 1) // n
    away = config.n_expert * (n - 1) // n  # experts of other processes, told how many come
    tokens = 2 * BYTES_EACH * plan.n_embd * elsewhere  # there or back, and the gradients of that
    return {
        "all_to_all": tokens + plan.n_layer * INDEX_BYTES * away,
        "all_reduce": ring_bytes("all_reduce", BYTES_EACH * _shared(plan), n),
    }


def _shared(plan: ParallelPlan) -> int:
    """Parameters outside the experts: each process has all of them."""
    return sum(tensor.count for tensor in tensors(plan.model()) if ".experts." not in tensor.name)


def _pipeline(plan: ParallelPlan, rank: int) -> dict[str, float]:
    borders = (rank > 0) + (rank < plan.processes - 1)  # gradients to the left, outputs right
    activations = BYTES_EACH * plan.batch * plan.context_length * plan.n_embd
    return {"send": float(borders * activations)}


_OF_METHOD = {
    "data": _data,
    "zero1": _flat,
    "zero2": _flat,
    "zero3": _fully,
    "tensor": _tensor,
    "experts": _experts,
}
