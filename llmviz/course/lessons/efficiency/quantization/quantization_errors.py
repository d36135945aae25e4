"""How far each matrix of a model is off on a grid: its weights, and its outputs on a text.

N tokens, R rows (outputs) and C columns (inputs) of a matrix.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

    from llmviz.models.base import LanguageModel
    from llmviz.quantization.scheme import Scheme


@dataclass(frozen=True)
class MatrixError:
    """One matrix: ‖change‖ / ‖exact‖ of its weights and of its outputs, and its largest weight.

    largest: the largest magnitude, as a multiple of the root mean square of all weights, at row
    and column.
    """

    path: str
    shape: tuple[int, int]
    weights: float
    outputs: float
    largest: float
    row: int
    column: int


def matrix_errors(model: LanguageModel, ids: Sequence[int], scheme: Scheme) -> list[MatrixError]:
    """Return the errors of each matrix of a GPT when it alone is rounded; ids (N,): a text.

    Raises ValueError as `matrix_inputs` and `quantize`.
    """
    import torch

    from llmviz.quantization.awq import matrix_inputs
    from llmviz.quantization.grids import quantize_steps

    inputs = matrix_inputs(model, [torch.tensor([list(ids)])])
    errors = []
    with torch.inference_mode():
        for path, x in inputs.items():
            w = model.get_parameter(f"{path}.weight")
            change = quantize_steps(w, scheme).error
            row, column, largest = largest_weight(w)
            errors.append(
                MatrixError(
                    path,
                    (w.shape[0], w.shape[1]),
                    _share(change, w),
                    _share(x @ change.T, x @ w.T),
                    largest,
                    row,
                    column,
                )
            )
    return errors


def largest_weight(w: Tensor) -> tuple[int, int, float]:
    """Return where the largest weight of a matrix (R, C) is, and its multiple of the typical one.

    The typical one is the root mean square; for a matrix of zeros the multiple is 0.
    """
    at = int(w.abs().argmax())
    typical = float(w.square().mean().sqrt())
    size = abs(float(w.flatten()[at]))
    return at // w.shape[1], at % w.shape[1], size / typical if typical else 0.0


def _share(change: Tensor, exact: Tensor) -> float:
    size = float(exact.norm())
    return float(change.norm()) / size if size else 0.0
