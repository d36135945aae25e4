"""Normalization of layers and of batches, the feed-forward network, a linear layer with a change of
low rank beside its matrix; and lists of modules of one class, said so to a type checker.

C width, F hidden width, r rank.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from llmviz.trace import Tap

Layer = TypeVar("Layer", bound=nn.Module)


class LowRank(NamedTuple):
    """What is added to a matrix (out, in): scale·B·A."""

    a: Tensor  # A (r, in)
    b: Tensor  # B (out, r)
    scale: float


def split(module: Layer) -> tuple[Layer, LowRank | None]:
    """Return the plain layer that a layer consists of, and the change beside its matrix, if any.

    A layer that holds changes has a method `parts`, which returns both; others are plain.
    """
    parts = getattr(module, "parts", None)
    return (module, None) if parts is None else parts()


if TYPE_CHECKING:
    One = TypeVar("One", bound=nn.Module)

    class ListOf(nn.ModuleList, Generic[One]):
        def __init__(self, modules: Iterable[One]) -> None: ...
        def __iter__(self) -> Iterator[One]: ...
        def __getitem__(self, index: int) -> One: ...  # type: ignore[override]  # no slices

    class DictOf(nn.ModuleDict, Generic[One]):
        def __getitem__(self, key: str) -> One: ...

else:
    ListOf, DictOf = nn.ModuleList, nn.ModuleDict


ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "gelu": F.gelu,  # x·Φ(x), exact
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),  # GPT-2's approximation
    "relu": F.relu,
    "silu": F.silu,  # x·σ(x)
    "swiglu": F.silu,  # the gate's activation; it multiplies a second projection
}


class NormSteps(NamedTuple):
    """Layer normalization of each row, step by step."""

    mean: Tensor  # (…, 1)
    variance: Tensor  # (…, 1), divided by C, not C − 1
    normalized: Tensor  # (…, C) mean 0, variance 1
    output: Tensor  # (…, C) scaled and shifted


def layer_norm_steps(
    x: Tensor, scale: Tensor | None = None, shift: Tensor | None = None, epsilon: float = 1e-5
) -> NormSteps:
    """Bring each row of x (…, C) to mean 0 and variance 1, then scale and shift by column.

    Reference: Ba, Kiros, Hinton 2016, eq. 4.
    """
    mean = x.mean(dim=-1, keepdim=True)
    variance = x.var(dim=-1, unbiased=False, keepdim=True)
    normalized = (x - mean) / (variance + epsilon).sqrt()
    output = normalized if scale is None else normalized * scale
    return NormSteps(mean, variance, normalized, output if shift is None else output + shift)


class LayerNorm(nn.LayerNorm):
    """`layer_norm_steps` in one kernel."""

    def forward(self, x: Tensor) -> Tensor:
        return F.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)


class RMSNormSteps(NamedTuple):
    """Root-mean-square normalization of each row, step by step."""

    mean_square: Tensor  # (…, 1)
    normalized: Tensor  # (…, C) mean square 1; the mean stays where it is
    output: Tensor  # (…, C) scaled


def rms_norm_steps(x: Tensor, scale: Tensor | None = None, epsilon: float = 1e-5) -> RMSNormSteps:
    """Bring each row of x (…, C) to mean square 1, then scale by column; nothing is shifted.

    Reference: Zhang, Sennrich 2019, "Root Mean Square Layer Normalization", eq. 4.

    >>> rms_norm_steps(torch.tensor([3.0, 4.0]), epsilon=0.0).mean_square
    tensor([12.5000])
    """
    mean_square = x.square().mean(dim=-1, keepdim=True)
    normalized = x / (mean_square + epsilon).sqrt()
    return RMSNormSteps(
        mean_square, normalized, normalized if scale is None else normalized * scale
    )


class RMSNorm(nn.RMSNorm):
    """`rms_norm_steps` in torch's own operation."""

    def forward(self, x: Tensor) -> Tensor:
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)


class BatchNorm(nn.Module):
    """Bring each column of (…, C) to mean 0 and variance 1 over the batch, then scale and shift.

    While training, the statistics are those of all leading positions together, and running
    averages are kept; while evaluating, the running averages serve.

    Reference: Ioffe, Szegedy 2015, algorithm 1.
    """

    running_mean: Tensor
    running_variance: Tensor

    def __init__(self, n_embd: int, epsilon: float = 1e-5, momentum: float = 0.1):
        super().__init__()
        self.epsilon, self.momentum = epsilon, momentum
        self.weight = nn.Parameter(torch.ones(n_embd))
        self.bias = nn.Parameter(torch.zeros(n_embd))
        self.register_buffer("running_mean", torch.zeros(n_embd))
        self.register_buffer("running_variance", torch.ones(n_embd))

    def forward(self, x: Tensor) -> Tensor:
        mean, variance = self.running_mean, self.running_variance
        if self.training:
            rows = x.flatten(0, -2)  # (N, C)
            if len(rows) < 2:
                raise ValueError("batch norm needs at least 2 positions to train on; got 1")
            mean, variance = rows.mean(0), rows.var(0, unbiased=False)
            with torch.no_grad():
                unbiased = variance * (len(rows) / (len(rows) - 1))
                self.running_mean.lerp_(mean.to(self.running_mean.dtype), self.momentum)
                self.running_variance.lerp_(unbiased.to(self.running_mean.dtype), self.momentum)
        scale = self.weight * (variance + self.epsilon).rsqrt()
        return (x - mean) * scale + self.bias


class NoFeedForward(nn.Module):
    """In place of a feed-forward network: it adds nothing. A model of attention alone has it."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.zeros_like(x)


class FeedForward(nn.Module):
    """Each token by itself: widen to F columns, bend, come back to C. Taps: hidden, act.

    `hidden` is before the activation, `act` after it. SwiGLU has a third matrix, the gate, and
    hidden is then the gate's value: act = silu(hidden) · up(x).

    Reference: Vaswani et al. 2017, eq. 2; Shazeer 2020, "GLU Variants", eq. 6.
    """

    def __init__(
        self, n_embd: int, hidden_size: int, activation: str = "gelu", *, bias: bool = True
    ):
        super().__init__()
        if activation not in ACTIVATIONS:
            raise ValueError(
                f"activation must be one of {', '.join(ACTIVATIONS)}; got {activation!r}"
            )
        self.activation = ACTIVATIONS[activation]
        self.hidden = nn.Linear(n_embd, hidden_size, bias=bias)
        self.up = nn.Linear(n_embd, hidden_size, bias=bias) if activation == "swiglu" else None
        self.output = nn.Linear(hidden_size, n_embd, bias=bias)
        self.tap_hidden, self.tap_act = Tap("hidden"), Tap("act")

    def forward(self, x: Tensor) -> Tensor:
        act = self.activation(self.tap_hidden(self.hidden(x)))  # (…, F)
        if self.up is not None:
            act = act * self.up(x)
        return self.output(self.tap_act(act))  # (…, C)
