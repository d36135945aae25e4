"""The curves of activation functions and their slopes, and how far two forms of GELU differ."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

REACH = 6.0  # curves go from minus this to plus this
POINTS = 241


class Curve(NamedTuple):
    """An activation function at N points; float64."""

    x: np.ndarray  # (N,)
    y: np.ndarray  # (N,)
    slope: np.ndarray  # (N,) its derivative


def activation_curve(name: str, through: float = 1.0) -> Curve:
    """Compute a function of `llmviz.nn.layers.ACTIVATIONS` and its derivative, by autograd.

    through: for SwiGLU, the number that the gate lets through; 1 is SiLU itself.
    Raises ValueError for an unknown name.
    """
    import torch

    from llmviz.nn.layers import ACTIVATIONS

    if name not in ACTIVATIONS:
        raise ValueError(f"activation must be one of {', '.join(ACTIVATIONS)}; got {name!r}")
    half = POINTS // 2
    x = torch.arange(-half, half + 1, dtype=torch.float64) * (REACH / half)
    x.requires_grad_()
    y = ACTIVATIONS[name](x) * (through if name == "swiglu" else 1.0)
    (slope,) = torch.autograd.grad(y.sum(), x)
    return Curve(*(part.detach().numpy() for part in (x, y, slope)))


def slopes(name: str, values: np.ndarray) -> np.ndarray:
    """Return the derivative of an activation function at some values (N,), by autograd."""
    import torch

    from llmviz.nn.layers import ACTIVATIONS

    x = torch.tensor(values, dtype=torch.float64, requires_grad=True)
    return torch.autograd.grad(ACTIVATIONS[name](x).sum(), x)[0].numpy()


def gelu_gap() -> tuple[float, float]:
    """Return where GELU's tanh form is furthest from the exact one, and by how much.

    The difference is the same at −x, so only x ≥ 0 is looked at, in steps of 0.0001.

    Reference: Hendrycks, Gimpel 2016, "Gaussian Error Linear Units", section 2.
    """
    import torch

    from llmviz.nn.layers import ACTIVATIONS

    x = torch.arange(60_001, dtype=torch.float64) / 10_000
    gap = (ACTIVATIONS["gelu"](x) - ACTIVATIONS["gelu_tanh"](x)).abs()
    at = int(gap.argmax())
    return float(x[at]), float(gap[at])
