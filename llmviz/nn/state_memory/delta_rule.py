"""The delta rule: a write replaces what the state had under its key.

Before a token writes, the state is read with its key. Only what is missing, v − Sᵀk, is written. A
key that comes a second time so gets its new value, where `linear_attention` would keep the sum of
both. Keys are brought to length one first: with β = 1 the state then answers v exactly.

(…) any leading shape such as batch and heads, T time, K key size, V value size.

Reference: Schlag et al. 2021, "Linear Transformers Are Secretly Fast Weight Programmers", section
4.2; Yang et al. 2024, "Parallelizing Linear Transformers with the Delta Rule over Sequence
Length", section 3. Deviations: β up to 2, which turns a direction round (Grazzi et al. 2024,
"Unlocking State-Tracking in Linear RNNs Through Negative Eigenvalues"); one triangular solve over
all tokens instead of one for each chunk; queries are taken as they are.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from llmviz.nn.state_memory.state import (
    StateSteps,
    check_gate,
    check_shapes,
    outer,
    read,
    unroll,
)

MOST_BETA = 2  # above it, writing the same again and again grows without end


def unit(k: Tensor) -> Tensor:
    """Keys (…, K) divided by their length; a key of zeros stays zeros, and writes nothing."""
    return F.normalize(k, dim=-1)


def update(state: Tensor, k: Tensor, v: Tensor, beta: Tensor) -> Tensor:
    """Return S + β·k·(v − Sᵀk)ᵀ: state (…, K, V), k (…, K) of length one, v (…, V), beta (…, 1).

    β = 0 writes nothing, β = 1 replaces what was under the key.

    >>> state, k, one = torch.zeros(2, 1), torch.tensor([1.0, 0.0]), torch.ones(1)
    >>> state = update(state, k, torch.tensor([5.0]), one)
    >>> update(state, k, torch.tensor([7.0]), one)
    tensor([[7.],
            [0.]])
    """
    return state + outer(k, beta * (v - read(state, k)))


def recurrent(q: Tensor, k: Tensor, v: Tensor, beta: Tensor) -> StateSteps:
    """Read and write token by token: q, k (…, T, K), v (…, T, V), beta (…, T) from 0 to 2.

    Raises ValueError for shapes that do not fit, for no token and for a β out of its range.
    """
    check_shapes(k, v, q)
    check_gate("beta", beta, k.shape[:-1], MOST_BETA)
    return unroll(update, q, unit(k), v, beta[..., None])


def written(k: Tensor, v: Tensor, beta: Tensor) -> Tensor:
    """What each token writes under its key, (…, T, V): u = β·(v − Sᵀk), all tokens at once.

    S is Σ k·uᵀ over the tokens before, so that u_t + β_t·Σ (k_t·k_s)·u_s = β_t·v_t: a system of
    equations whose matrix is triangular (the WY form). It is solved in float32 at least.

    Reference: Yang et al. 2024, section 3.1: the pseudo-values u.
    """
    check_shapes(k, v)
    check_gate("beta", beta, k.shape[:-1], MOST_BETA)
    dtype = torch.promote_types(v.dtype, torch.float32)
    k, wanted, rate = unit(k.to(dtype)), v.to(dtype), beta[..., None].to(dtype)
    before = (rate * (k @ k.mT)).tril(-1)  # (…, T, T); ones on the diagonal are implied
    solved: Tensor = torch.linalg.solve_triangular(
        before, rate * wanted, upper=False, unitriangular=True
    )
    return solved.to(v.dtype)


def parallel(q: Tensor, k: Tensor, v: Tensor, beta: Tensor) -> Tensor:
    """The output of `recurrent`, (…, T, V): causal attention without softmax over `written`."""
    check_shapes(k, v, q)
    return (q @ unit(k).mT).tril() @ written(k, v, beta)


def contributions(k: Tensor, v: Tensor, beta: Tensor) -> Tensor:
    """What each token added to each cell of the last state, (…, T, K, V): their sum is the state.

    Where a token overwrote something, it added the new and took away the old.
    """
    return outer(unit(k), written(k, v, beta))
