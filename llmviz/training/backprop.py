"""Backpropagation by hand: one attention head, a feed-forward layer, a loss, and every gradient.

T tokens, C width, F hidden width, V vocabulary. Only the last token is asked what comes next, so
only its row goes on past the attention. Vectors are matrices of one row, as a page draws them.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

Values = dict[str, Tensor]

WEIGHTS = ("W_Q", "W_K", "W_V", "W1", "W2", "W_out")

# Reference: the worked example of the lesson on attention ("The cat sat"), continued to a loss.
_EXAMPLE = {
    "X": [[0.1, 0.4, 0.5, 0.7], [0.2, 0.4, 0.5, 0.6], [0.15, 0.25, 0.5, 0.2]],
    "W_Q": [[0.5, 0.1, 0, 0.3], [0.4, 0.2, 0.1, 0], [0.3, 0.3, 0.3, 0.3], [0.2, 0.1, 0.5, 0.4]],
    "W_K": [[0.1, 0.4, 0, 0], [0, 0.5, 0.2, 0.1], [0.3, 0, 0.3, 0.3], [0.2, 0.2, 0.1, 0]],
    "W_V": [[0.2, 0.1, 0, 0], [0, 0.3, 0.5, 0], [0.1, 0.1, 0.1, 0.4], [0, 0.2, 0.1, 0.1]],
    "W1": [[0.1, 0.2, 0.3], [0.4, 0.5, 0.6], [0.7, 0.8, 0.9], [0.1, 0.3, 0.5]],
    "W2": [[0.2, 0.4, 0.6, 0.8], [0.1, 0.3, 0.5, 0.7], [0, 0.2, 0.4, 0.6]],
    "W_out": [
        [0.2, 0.1, 0, 0.3, 0.1],
        [0, 0.5, 0.1, 0, 0.2],
        [0.1, 0.1, 0.3, 0.3, 0.1],
        [0.2, 0.2, 0, 0.1, 0],
    ],
}
TARGET = 1
CHOICES = 5  # tokens that the example can name next


def example() -> Values:
    """The inputs X (T, C) and the six weight matrices of the worked example, in float64."""
    return {name: torch.tensor(rows, dtype=torch.float64) for name, rows in _EXAMPLE.items()}


def forward(given: Values, target: int) -> Values:
    """From X and the weights to the loss in nats, every matrix on the way by its name.

    Raises ValueError for a target outside the vocabulary.
    """
    vocabulary = given["W_out"].shape[1]
    if not 0 <= target < vocabulary:
        raise ValueError(f"the target must be from 0 to {vocabulary - 1}; got {target}")
    x, values = given["X"], dict(given)
    values["x"] = x[-1:]  # (1, C), the token that asks
    values["q"] = values["x"] @ given["W_Q"]  # (1, C)
    values["K"] = x @ given["W_K"]  # (T, C)
    values["V"] = x @ given["W_V"]  # (T, C)
    values["scores"] = values["q"] @ values["K"].T  # (1, T)
    values["scaled"] = values["scores"] / math.sqrt(values["K"].shape[1])
    values["weights"] = values["scaled"].softmax(-1)  # (1, T)
    values["a"] = values["weights"] @ values["V"]  # (1, C)
    values["z"] = values["a"] @ given["W1"]  # (1, F)
    values["h"] = values["z"].relu()
    values["f"] = values["h"] @ given["W2"]  # (1, C)
    values["logits"] = values["f"] @ given["W_out"]  # (1, V)
    values["p"] = values["logits"].softmax(-1)
    values["target"] = torch.zeros_like(values["p"])
    values["target"][0, target] = 1
    values["loss"] = -values["p"][:, target : target + 1].log()  # (1, 1)
    return values


def backward(values: Values) -> Values:
    """∂loss/∂ every matrix of `forward`, each as upstream × local, from the loss back to X.

    Besides the gradients of named matrices it holds what the softmax step needs: `dot`, the mean
    of ∂weights by the weights, and `centred`, ∂weights less it; `open`, 1 where ReLU let through;
    and the two ways in which X is used, `X by q`, `X by K` and `X by V`.
    """
    d: Values = {"p": -values["target"] / values["p"]}
    d["logits"] = values["p"] - values["target"]  # the softmax step below, applied to ∂p, in one
    d["W_out"] = values["f"].T @ d["logits"]
    d["f"] = d["logits"] @ values["W_out"].T
    d["W2"] = values["h"].T @ d["f"]
    d["h"] = d["f"] @ values["W2"].T
    d["open"] = (values["z"] > 0).to(values["z"])
    d["z"] = d["h"] * d["open"]
    d["W1"] = values["a"].T @ d["z"]
    d["a"] = d["z"] @ values["W1"].T
    d["weights"] = d["a"] @ values["V"].T
    d["V"] = values["weights"].T @ d["a"]
    d["dot"] = d["weights"] @ values["weights"].T
    d["centred"] = d["weights"] - d["dot"]
    d["scaled"] = values["weights"] * d["centred"]
    d["scores"] = d["scaled"] / math.sqrt(values["K"].shape[1])
    d["q"] = d["scores"] @ values["K"]
    d["K"] = d["scores"].T @ values["q"]
    d["W_Q"] = values["x"].T @ d["q"]
    d["W_K"] = values["X"].T @ d["K"]
    d["W_V"] = values["X"].T @ d["V"]
    d["x"] = d["q"] @ values["W_Q"].T
    d["X by q"] = torch.zeros_like(values["X"])
    d["X by q"][-1:] = d["x"]
    d["X by K"] = d["K"] @ values["W_K"].T
    d["X by V"] = d["V"] @ values["W_V"].T
    d["X"] = d["X by q"] + d["X by K"] + d["X by V"]
    return d


def stepped(given: Values, gradients: Values, rate: float) -> Values:
    """Every weight matrix after one step of gradient descent, θ − rate · ∂loss/∂θ; X as it was.

    Raises ValueError for a rate below 0.
    """
    if not rate >= 0:
        raise ValueError(f"the rate must be at least 0; got {rate}")
    return {
        name: value - rate * gradients[name] if name in WEIGHTS else value
        for name, value in given.items()
    }


def autograd(given: Values, target: int) -> Values:
    """The same gradients by torch: of X, of the weights and of every matrix between."""
    leaves = {name: value.detach().clone().requires_grad_() for name, value in given.items()}
    values = forward(leaves, target)
    wanted = {
        name: value
        for name, value in values.items()
        if value.requires_grad and name not in ("x", "loss")
    }
    gradients = torch.autograd.grad(values["loss"].sum(), list(wanted.values()), allow_unused=True)
    return {
        name: torch.zeros_like(value) if grad is None else grad
        for (name, value), grad in zip(wanted.items(), gradients, strict=True)
    }


def loss_with(given: Values, target: int, name: str, row: int, column: int, value: float) -> float:
    """The loss after one weight was set to `value`; nothing given is changed."""
    changed = given[name].clone()
    changed[row, column] = value
    return float(forward({**given, name: changed}, target)["loss"])


def central_difference(loss: Callable[[float], float], at: float, step: float) -> float:
    """(loss(at + step) − loss(at − step)) / 2 step: the slope without any derivative.

    Raises ValueError for a step that is not above 0.
    """
    if not step > 0:
        raise ValueError(f"the step must be above 0; got {step}")
    return (loss(at + step) - loss(at - step)) / (2 * step)
