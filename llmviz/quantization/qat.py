"""Quantization-aware training: the forward pass uses rounded weights, the update the exact ones.

Rounding is a staircase: its slope is 0 almost everywhere, so no gradient would come through. The
straight-through estimator takes the slope 1 in its place for weights inside the grid, and 0 for
weights that were cut off at its end.

Reference: Bengio et al. 2013, "Estimating or propagating gradients through stochastic neurons for
conditional computation"; Jacob et al. 2018, section 3. Deviation: the steps follow the weights at
every pass, and no gradient goes through them.
"""

from __future__ import annotations

import copy
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from llmviz.models.base import LanguageModel
from llmviz.quantization.grids import quantize_steps
from llmviz.quantization.model import QuantizedModel, linears, quantize_model
from llmviz.quantization.scheme import Scheme


class _StraightThrough(torch.autograd.Function):
    @staticmethod
    def forward(context: Any, w: Tensor, scheme: Scheme) -> Tensor:
        steps = quantize_steps(w, scheme)
        context.save_for_backward(steps.shifted == steps.codes)
        return steps.restored.to(w.dtype)

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> tuple[Tensor, None]:
        (inside,) = context.saved_tensors
        return gradient * inside, None


def fake_quantize(w: Tensor, scheme: Scheme) -> Tensor:
    """Return the weights (R, C) that the codes of w stand for; the gradient goes straight through.

    That is: to each weight inside the grid comes the gradient of its rounded value, and 0 to each
    weight that was cut off. Raises ValueError as `quantize_steps` does.
    """
    return _StraightThrough.apply(w, scheme)


class RoundedLinear(nn.Linear):
    """A linear layer that computes with `fake_quantize(weight)`; `weight` itself is what learns."""

    def __init__(self, layer: nn.Linear, scheme: Scheme):
        has_bias = layer.bias is not None
        super().__init__(layer.in_features, layer.out_features, has_bias, device="meta")
        self.weight, self.bias, self.scheme = layer.weight, layer.bias, scheme

    def forward(self, x: Tensor) -> Tensor:
        """(…, in) to (…, out)."""
        return F.linear(x, fake_quantize(self.weight, self.scheme), self.bias)

    def plain(self) -> nn.Linear:
        """Return an ordinary layer around the same exact weights."""
        has_bias = self.bias is not None
        layer = nn.Linear(self.in_features, self.out_features, has_bias, device="meta")
        layer.weight, layer.bias = self.weight, self.bias
        return layer


def prepare_qat(model: LanguageModel, scheme: Scheme) -> LanguageModel:
    """Return a copy of a model that computes with rounded weights and can be trained.

    Its parameters have the names that they had, so it is saved as any model; the rounded one is
    what `finish_qat` returns. Raises ValueError for a model without transformer blocks, one that is
    prepared already, and a group that does not divide a row.
    """
    own = copy.deepcopy(model).requires_grad_(True)
    for path, layer in linears(own).items():
        if isinstance(layer, RoundedLinear):
            raise ValueError(f"{path} computes with rounded weights already")
        scheme.group_size(layer.in_features)
        own.set_submodule(path, RoundedLinear(layer, scheme))
    return own


def finish_qat(model: LanguageModel) -> QuantizedModel:
    """Return a trained model on the grid that it was trained with; the model is not changed.

    Raises ValueError for a model that `prepare_qat` did not make.
    """
    own = copy.deepcopy(model)
    schemes = set()
    for path, layer in linears(own).items():
        if isinstance(layer, RoundedLinear):
            schemes.add(layer.scheme)
            own.set_submodule(path, layer.plain())
    if len(schemes) != 1:
        raise ValueError("the model was not prepared for training on a grid: see prepare_qat")
    return quantize_model(own, schemes.pop())
