"""Optimizers as pure update steps that also return their intermediate values.

Every step has the same form,

    update(param, grad, state, hyper) -> Update(param, state, values)

where `state` is a dict of tensors ({} before the first step) and `values` the named intermediate
results of this step, in the order in which they are computed. Nothing is changed in place. Training
itself uses `torch.optim`, to which these are equal.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

State = dict[str, Tensor]


class Update(NamedTuple):
    """The weights and the state after a step, and what was computed on the way."""

    param: Tensor
    state: State
    values: dict[str, Tensor]


@dataclass(frozen=True)
class Hyper:
    """Settings of the update steps; each optimizer reads those it has."""

    lr: float | Tensor = 0.1  # learning rate, or one for each row of weights
    momentum: float = 0.9  # share of the last velocity that is kept
    beta1: float = 0.9  # decay of the mean of gradients
    beta2: float = 0.999  # decay of the mean of squared gradients (RMSprop: its alpha)
    eps: float = 1e-8  # added to the root, against division by zero
    weight_decay: float = 0.0  # pull to zero per unit of lr (AdamW: decoupled; others: in grad)


def sgd(param: Tensor, grad: Tensor, state: State, hyper: Hyper) -> Update:
    """Down the gradient: w ← w − lr · g.

    >>> sgd(torch.tensor(1.0), torch.tensor(2.0), {}, Hyper(lr=0.1)).param
    tensor(0.8000)

    Reference: Robbins and Monro 1951.
    """
    grad = _decayed(param, grad, hyper)
    step = -hyper.lr * grad
    return Update(param + step, {}, {"gradient": grad, "step": step})


def momentum(param: Tensor, grad: Tensor, state: State, hyper: Hyper) -> Update:
    """Down a velocity that remembers: v ← μ v + g, w ← w − lr · v.

    Reference: Polyak 1964; in torch's form, where the learning rate stands outside the velocity.
    """
    grad = _decayed(param, grad, hyper)
    velocity = hyper.momentum * state["velocity"] + grad if state else grad.clone()
    step = -hyper.lr * velocity
    values = {"gradient": grad, "velocity": velocity, "step": step}
    return Update(param + step, {"velocity": velocity}, values)


def nesterov(param: Tensor, grad: Tensor, state: State, hyper: Hyper) -> Update:
    """Momentum that looks ahead: v ← μ v + g, w ← w − lr · (g + μ v).

    Reference: Nesterov 1983; Sutskever et al. 2013, eq. 3–4, in torch's form.
    """
    grad = _decayed(param, grad, hyper)
    velocity = hyper.momentum * state["velocity"] + grad if state else grad.clone()
    ahead = grad + hyper.momentum * velocity
    step = -hyper.lr * ahead
    values = {"gradient": grad, "velocity": velocity, "ahead": ahead, "step": step}
    return Update(param + step, {"velocity": velocity}, values)


def adagrad(param: Tensor, grad: Tensor, state: State, hyper: Hyper) -> Update:
    """Smaller steps where gradients were large: s ← s + g², w ← w − lr · g / (√s + ε).

    Reference: Duchi, Hazan and Singer 2011, the diagonal form.
    """
    grad = _decayed(param, grad, hyper)
    total = state.get("sum_of_squares", torch.zeros_like(param)) + grad * grad
    scale = total.sqrt() + hyper.eps
    step = -hyper.lr * grad / scale
    values = {"gradient": grad, "sum_of_squares": total, "scale": scale, "step": step}
    return Update(param + step, {"sum_of_squares": total}, values)


def rmsprop(param: Tensor, grad: Tensor, state: State, hyper: Hyper) -> Update:
    """Adagrad that forgets: s ← β₂ s + (1 − β₂) g², w ← w − lr · g / (√s + ε).

    Reference: Tieleman and Hinton 2012, lecture 6e; ε outside the root, as in torch.
    """
    grad = _decayed(param, grad, hyper)
    before = state.get("mean_of_squares", torch.zeros_like(param))
    mean = hyper.beta2 * before + (1 - hyper.beta2) * grad * grad
    scale = mean.sqrt() + hyper.eps
    step = -hyper.lr * grad / scale
    values = {"gradient": grad, "mean_of_squares": mean, "scale": scale, "step": step}
    return Update(param + step, {"mean_of_squares": mean}, values)


def adam(param: Tensor, grad: Tensor, state: State, hyper: Hyper) -> Update:
    """Momentum and RMSprop, both corrected for their start at zero: w ← w − lr · m̂ / (√v̂ + ε).

    Reference: Kingma and Ba 2015, algorithm 1.
    """
    return _adam(param, _decayed(param, grad, hyper), state, hyper)


def adamw(param: Tensor, grad: Tensor, state: State, hyper: Hyper) -> Update:
    """Adam with the pull to zero kept out of the gradient: w ← w − lr · λ w, then Adam's step.

    Reference: Loshchilov and Hutter 2019, algorithm 2, with torch's scale lr · λ.
    """
    # Before Adam's step, as torch does it; the step depends on the gradient alone, not on `param`.
    decay = -hyper.lr * hyper.weight_decay * param
    update = _adam(param + decay, grad, state, hyper)
    return Update(update.param, update.state, {"decay": decay, **update.values})


def _adam(param: Tensor, grad: Tensor, state: State, hyper: Hyper) -> Update:
    count = state.get("count", torch.zeros((), dtype=param.dtype)) + 1
    mean = hyper.beta1 * state.get("mean", torch.zeros_like(param)) + (1 - hyper.beta1) * grad
    before = state.get("mean_of_squares", torch.zeros_like(param))
    squares = hyper.beta2 * before + (1 - hyper.beta2) * grad * grad
    # Both means begin at zero: after `count` steps their weights add up to 1 - beta^count.
    mean_hat = mean / (1 - hyper.beta1**count)
    squares_hat = squares / (1 - hyper.beta2**count)
    scale = squares_hat.sqrt() + hyper.eps
    step = -hyper.lr * mean_hat / scale
    values = {
        "gradient": grad,
        "mean": mean,
        "mean_of_squares": squares,
        "mean_corrected": mean_hat,
        "squares_corrected": squares_hat,
        "scale": scale,
        "step": step,
    }
    return Update(param + step, {"count": count, "mean": mean, "mean_of_squares": squares}, values)


def _decayed(param: Tensor, grad: Tensor, hyper: Hyper) -> Tensor:
    return grad + hyper.weight_decay * param if hyper.weight_decay else grad


UPDATES: dict[str, Callable[[Tensor, Tensor, State, Hyper], Update]] = {
    "sgd": sgd,
    "momentum": momentum,
    "nesterov": nesterov,
    "adagrad": adagrad,
    "rmsprop": rmsprop,
    "adam": adam,
    "adamw": adamw,
}
