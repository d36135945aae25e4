"""A hidden layer of the window models as linked matrices: product, batch norm, tanh.

N rows (positions or nodes), F hidden width.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from llmviz.course import components as lv
from llmviz.course.lessons.history import words
from llmviz.course.ui.matrix_picture import Picture

if TYPE_CHECKING:
    from torch import Tensor

    from llmviz.models.mlp import HiddenLayer


def add_strip(
    picture: Picture, name: str, values: Tensor, op: lv.Op | None = None, **more: Any
) -> None:
    """Add a matrix of long rows that is drawn below the others."""
    label, formula = words.layer.get(name, (name, ""))
    more = {"scale": "diverging"} | more
    picture.add(name, values, label, formula, op=op, **more)
    picture.layout.append([name])


def add_layer(
    picture: Picture,
    layer: HiddenLayer,
    read: str,
    linear: Tensor,
    normed: Tensor,
    rows: Sequence[str],
) -> None:
    """Add what a layer makes of the matrix `read`: (N, F) each, batch norm with its own numbers.

    linear and normed are the layer's own values; what lies between them is computed here as batch
    norm defines it while evaluating: from the running mean and variance.
    """
    norm: Any = layer.norm  # batch norm, or nothing
    weight, bias = layer.linear.weight, layer.linear.bias
    picture.add("W", weight.T)  # not drawn, but in the arithmetic of a number
    if bias is not None:
        picture.add("bias", bias[None])
    named = {"row_labels": rows, "role": "neutral"}
    op = lv.matmul(read, "W", bias=None if bias is None else "bias")
    add_strip(picture, "linear", linear, op, **named)
    last = "linear"
    if hasattr(norm, "running_mean"):
        mean = norm.running_mean[None]
        deviation = (norm.running_variance + norm.epsilon).sqrt()[None]
        add_strip(picture, "mean", mean)
        add_strip(picture, "deviation", deviation, scale="sequential")
        add_strip(picture, "centred", linear - mean, lv.subtracted("linear", "mean"), **named)
        unit = (linear - mean) / deviation
        add_strip(picture, "unit", unit, lv.divided("centred", "deviation"), **named)
        add_strip(picture, "gain", norm.weight[None])
        add_strip(picture, "shift", norm.bias[None])
        gained = unit * norm.weight
        add_strip(picture, "gained", gained, lv.multiply("unit", "gain"), **named)
        add_strip(picture, "normed", normed, lv.add("gained", "shift"), **named)
        last = "normed"
    named["role"] = "value"
    add_strip(picture, "tanh", normed.tanh(), lv.function(last, "tanh"), limit=1.0, **named)
