"""What the layers without a list have in common: a matrix that is written to and read from.

(…) any leading shape such as batch and heads, T time, K key size, V value size.
"""

from collections.abc import Callable
from typing import NamedTuple

from torch import Tensor, stack


class StateSteps(NamedTuple):
    """What a layer answers at each token, and its state after it."""

    output: Tensor  # (…, T, V) the state read with the token's query
    states: Tensor  # (…, T, K, V) after the token's own write


def read(state: Tensor, q: Tensor) -> Tensor:
    """What a state (…, K, V) answers to a query (…, K): Sᵀq, (…, V)."""
    return (q[..., None, :] @ state).squeeze(-2)


def outer(k: Tensor, v: Tensor) -> Tensor:
    """One write: k·vᵀ, (…, K) and (…, V) to (…, K, V)."""
    return k[..., :, None] * v[..., None, :]


def unroll(
    update: Callable[..., Tensor], q: Tensor, k: Tensor, v: Tensor, *gates: Tensor
) -> StateSteps:
    """Run `update(state, k, v, *gates)` over time from a state of zeros, and read after each.

    q, k: (…, T, K), v: (…, T, V), each gate (…, T, size). Each state needs the one before, so the
    loop cannot be split up.
    """
    state = v.new_zeros(*v.shape[:-2], k.shape[-1], v.shape[-1])
    outputs, states = [], []
    for query, *token in zip(*(x.unbind(-2) for x in (q, k, v, *gates)), strict=True):
        state = update(state, *token)
        outputs.append(read(state, query))
        states.append(state)
    return StateSteps(stack(outputs, dim=-2), stack(states, dim=-3))


def check_shapes(k: Tensor, v: Tensor, q: Tensor | None = None) -> None:
    """Raise ValueError for shapes that do not fit together, and for no token at all."""
    if k.dim() < 2 or v.dim() < 2 or k.shape[:-1] != v.shape[:-1]:
        raise ValueError(
            "keys and values must have the shapes (…, time, size) with the same time; "
            f"got {tuple(k.shape)} and {tuple(v.shape)}"
        )
    if q is not None and q.shape != k.shape:
        raise ValueError(
            f"queries must have the shape of the keys, {tuple(k.shape)}; got {tuple(q.shape)}"
        )
    if k.shape[-2] < 1:
        raise ValueError("a layer needs at least 1 token; got 0")


def check_gate(name: str, gate: Tensor, shape: tuple[int, ...], most: int) -> None:
    """Raise ValueError for a gate of another shape, or one that is not from 0 to `most`.

    On a GPU the values are not read, which would hold it up.
    """
    if gate.shape != shape:
        raise ValueError(f"{name} must have the shape {tuple(shape)}; got {tuple(gate.shape)}")
    if gate.device.type == "cpu" and not ((gate >= 0) & (gate <= most)).all():
        wrong = gate[~((gate >= 0) & (gate <= most))].flatten()[0].item()
        raise ValueError(f"{name} must be from 0 to {most}; got {wrong:g}")
