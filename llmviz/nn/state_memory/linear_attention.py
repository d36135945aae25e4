"""Linear attention: a write is added to the state, and nothing is ever taken away.

Softmax's e^(q·k) is replaced by φ(q)·φ(k). So the sum over all earlier tokens, Σ φ(q)·φ(k) v, can
be taken before a query is known: it is φ(q) times one matrix, S = Σ φ(k)·vᵀ.

(…) any leading shape such as batch and heads, T time, K key size, V value size.

Reference: Katharopoulos et al. 2020, "Transformers are RNNs", eq. 16 to 20; without the
normaliser: Schlag et al. 2021, "Linear Transformers Are Secretly Fast Weight Programmers",
section 4.
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from llmviz.nn.state_memory.state import StateSteps, check_shapes, outer, unroll

FeatureMap = Callable[[Tensor], Tensor]


def elu_plus_one(x: Tensor) -> Tensor:
    """The feature map φ(x) = elu(x) + 1 of Katharopoulos et al. 2020, eq. 7: never below 0.

    Written as x + 1 above 0 and eˣ below, which stays positive where elu(x) is rounded to −1.

    >>> elu_plus_one(torch.tensor([-20.0, 0.0, 2.0]))
    tensor([2.0612e-09, 1.0000e+00, 3.0000e+00])
    """
    return F.relu(x) + x.clamp(max=0).exp()


def identity(x: Tensor) -> Tensor:
    """The feature map that leaves queries and keys as they are."""
    return x


def update(state: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Return S + k·vᵀ: state (…, K, V), k (…, K) after the feature map, v (…, V)."""
    return state + outer(k, v)


def recurrent(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    phi: FeatureMap = elu_plus_one,
    *,
    normalise: bool = False,
) -> StateSteps:
    """Read and write token by token: q, k (…, T, K), v (…, T, V).

    phi: the feature map of queries and keys. normalise: divide what is read by Σ φ(q)·φ(k), so that
    the weights of a row sum to 1. That sum is itself read from the state: as a value of 1 that
    every token writes, so the states have a column more, (…, T, K, V + 1). A query whose features
    meet none of the keys' comes out as NaN.
    Raises ValueError for shapes that do not fit and for no token.

    >>> x = torch.eye(2)
    >>> recurrent(x, x, torch.tensor([[5.0], [7.0]]), identity).output
    tensor([[5.],
            [7.]])
    """
    check_shapes(k, v, q)
    steps = unroll(update, phi(q), phi(k), _with_ones(v) if normalise else v)
    return steps._replace(output=_divided(steps.output)) if normalise else steps


def parallel(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    phi: FeatureMap = elu_plus_one,
    *,
    normalise: bool = False,
) -> Tensor:
    """The output of `recurrent`, (…, T, V), as causal attention with φ(q)·φ(k) for weights."""
    check_shapes(k, v, q)
    weights = (phi(q) @ phi(k).mT).tril()  # (…, T, T)
    return _divided(weights @ _with_ones(v)) if normalise else weights @ v


def contributions(
    k: Tensor, v: Tensor, phi: FeatureMap = elu_plus_one, *, normalise: bool = False
) -> Tensor:
    """What each token added to each cell of the last state, (…, T, K, V): their sum is the state.

    With `normalise` the column of ones is there, too: (…, T, K, V + 1).
    """
    check_shapes(k, v)
    return outer(phi(k), _with_ones(v) if normalise else v)


def _with_ones(v: Tensor) -> Tensor:
    return torch.cat((v, torch.ones_like(v[..., :1])), dim=-1)  # (…, T, V + 1)


def _divided(output: Tensor) -> Tensor:
    return output[..., :-1] / output[..., -1:]  # (…, T, V)
