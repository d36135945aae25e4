"""What the loss does when one weight moves, in the small worked network and in a trained model.

T positions of a text. Losses are in nats.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from llmviz.models.base import LanguageModel
    from llmviz.training.one_weight import WeightGradient

POWERS = range(-12, 0)  # of ten: the steps of a measured slope
PRECISIONS = ("double", "single")  # float64 and float32


def example_losses(
    name: str, row: int, column: int, values: Sequence[float] | np.ndarray
) -> np.ndarray:
    """Return the worked network's loss (S,) with one of its weights at each of the values (S,)."""
    from llmviz.training.backprop import TARGET, example, loss_with

    given = example()
    return np.array([loss_with(given, TARGET, name, row, column, float(value)) for value in values])


def slope_errors(
    given: Mapping[str, Any], name: str, row: int, column: int, slope: float
) -> tuple[list[float], dict[str, list[float]]]:
    """Return steps ε and, for both PRECISIONS, how far a slope measured with each is from `slope`.

    given: the matrices of a network like that of `llmviz.training.backprop.example`.
    """
    from llmviz.training.backprop import TARGET, central_difference, loss_with

    steps = [10.0**power for power in POWERS]
    errors = {}
    for precision in PRECISIONS:
        matrices = {
            key: value if precision == "double" else value.float() for key, value in given.items()
        }
        weight = float(matrices[name][row, column])

        def loss(value: float, matrices: dict[str, Any] = matrices) -> float:
            return loss_with(matrices, TARGET, name, row, column, value)

        errors[precision] = [abs(central_difference(loss, weight, step) - slope) for step in steps]
    return steps, errors


def steepest_weight(model: LanguageModel, ids: Sequence[int], matrix: str) -> tuple[int, int]:
    """Return row and column of the weight of a matrix with the largest gradient on a text."""
    from llmviz.training.one_weight import Copy

    gradient = Copy(model, ids).gradients(matrix).abs()
    row, column = divmod(int(gradient.argmax()), gradient.shape[1])
    return row, column


def weight_on_text(
    model: LanguageModel,
    ids: Sequence[int],
    matrix: str,
    row: int,
    column: int,
    values: Callable[[float], Sequence[float] | np.ndarray],
) -> tuple[WeightGradient, list[float]]:
    """Return where a weight's gradient on a text comes from, and the loss at some values of it.

    values: which ones, made from the weight's own value. Raises ValueError for a matrix or a cell
    that cannot be asked about.
    """
    from llmviz.training.one_weight import Copy

    copy = Copy(model, ids)
    gradient = copy.explain(matrix, row, column)
    return gradient, copy.losses_with(
        matrix, row, column, [float(value) for value in values(gradient.value)]
    )


def position_shares(gradient: WeightGradient) -> np.ndarray:
    """Return each position's share (T,) of the absolute products that make a weight's gradient.

    They sum to 1; all are 0 where every product is 0.
    """
    products = np.abs(sum((use.local * use.upstream).numpy() for use in gradient.uses))
    return products / (products.sum() or 1.0)
