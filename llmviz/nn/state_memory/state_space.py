"""A gated state-space layer: before a write the state fades, each of its rows at its own rate.

S_t = a_t ⊙ S_{t−1} + k_t·v_tᵀ, where the decay a_t, from 0 (forget) to 1 (keep), comes from the
token itself: that makes the layer selective. With all of it 1 this is `linear_attention` without a
feature map. One rate for all rows is Mamba-2, a rate for each row gated linear attention. Mamba is
this with as many heads as channels, each with one value: `selective_inputs`.

(…) any leading shape such as batch and heads, T time, K key size (state size), V value size.

Reference: Gu and Dao 2023, "Mamba: Linear-Time Sequence Modeling with Selective State Spaces",
section 3; Dao and Gu 2024, "Transformers are SSMs", section 5; Yang et al. 2023, "Gated Linear
Attention Transformers with Hardware-Efficient Training", section 4. Deviation: products of
decays are formed for all pairs of tokens, not chunk by chunk.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from llmviz.nn.state_memory.state import StateSteps, check_gate, check_shapes, outer, unroll


class SelectiveInputs(NamedTuple):
    """Mamba's parts under the names of attention: D heads, K is the state size, V = 1."""

    q: Tensor  # (…, D, T, K) C
    k: Tensor  # (…, D, T, K) B
    v: Tensor  # (…, D, T, 1) Δ·x
    decay: Tensor  # (…, D, T, K) e^(Δ·A)


def selective_inputs(x: Tensor, delta: Tensor, a: Tensor, b: Tensor, c: Tensor) -> SelectiveInputs:
    """Write Mamba's scan as a head for each channel: x, delta (…, T, D), a (D, K), b, c (…, T, K).

    delta: step size, above 0; a: below 0, so that the decay is from 0 to 1.

    Reference: Gu and Dao 2023, algorithm 2 and eq. 4. Deviation, as in their code: B̄ is Δ·B.
    """
    if x.dim() < 2 or delta.shape != x.shape or a.dim() != 2 or len(a) != x.shape[-1]:
        raise ValueError(
            "x and delta must have one shape (…, time, channels), and a (channels, state size); "
            f"got {tuple(x.shape)}, {tuple(delta.shape)} and {tuple(a.shape)}"
        )
    if not b.shape == c.shape == (*x.shape[:-1], a.shape[1]):
        raise ValueError(
            f"b and c must have the shape {(*x.shape[:-1], a.shape[1])}; "
            f"got {tuple(b.shape)} and {tuple(c.shape)}"
        )
    decay = (delta.mT[..., None] * a[:, None]).exp()  # (…, D, T, K)
    k, q = (part[..., None, :, :].expand_as(decay) for part in (b, c))
    return SelectiveInputs(q, k, (delta * x).mT[..., None], decay)


def update(state: Tensor, k: Tensor, v: Tensor, decay: Tensor) -> Tensor:
    """Return a ⊙ S + k·vᵀ: state (…, K, V), k and decay (…, K), v (…, V)."""
    return decay[..., :, None] * state + outer(k, v)


def recurrent(q: Tensor, k: Tensor, v: Tensor, decay: Tensor) -> StateSteps:
    """Read and write token by token: q, k (…, T, K), v (…, T, V), decay (…, T, K) from 0 to 1.

    The first decay changes nothing: there is nothing yet to fade.
    Raises ValueError for shapes that do not fit, for no token and for a decay out of its range.

    >>> k, v = torch.ones(3, 1), torch.tensor([[8.0], [0.0], [0.0]])
    >>> recurrent(k, k, v, torch.full((3, 1), 0.5)).output.flatten()
    tensor([8., 4., 2.])
    """
    check_shapes(k, v, q)
    check_gate("decay", decay, k.shape, 1)
    return unroll(update, q, k, v, decay)


def parallel(q: Tensor, k: Tensor, v: Tensor, decay: Tensor) -> Tensor:
    """The output of `recurrent`, (…, T, V): causal attention without softmax, with faded weights.

    Token s is weighted at t by q_t·(k_s times the product of the decays from s + 1 to t). That
    takes T·T·K numbers, so on a CPU the steps of `recurrent` are faster for long texts. The decays
    are multiplied as they are: a decay of 0 has no logarithm to be summed.
    """
    check_shapes(k, v, q)
    check_gate("decay", decay, k.shape, 1)
    t = k.shape[-2]
    later = torch.ones(t, t, dtype=torch.bool, device=k.device).tril(-1)[..., None]
    # (…, T, T, K): row t, column s
    left = torch.where(later, decay[..., :, None, :], 1).cumprod(dim=-3)
    faded = left * k[..., None, :, :]  # (…, T, T, K) key s as it is at t
    weights = (faded @ q[..., None]).squeeze(-1).tril()  # (…, T, T)
    return weights @ v


def left(k: Tensor, decay: Tensor) -> Tensor:
    """What is left of each key (…, T, K) at the end: it times all decays after its own token."""
    after = torch.cat((decay[..., 1:, :], torch.ones_like(decay[..., :1, :])), dim=-2)
    return after.flip(-2).cumprod(dim=-2).flip(-2) * k


def contributions(k: Tensor, v: Tensor, decay: Tensor) -> Tensor:
    """What is left of each token in each cell of the last state, (…, T, K, V): their sum is it."""
    check_shapes(k, v)
    check_gate("decay", decay, k.shape, 1)
    return outer(left(k, decay), v)
