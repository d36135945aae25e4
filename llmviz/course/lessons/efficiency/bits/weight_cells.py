"""Single weights of a model: which matrices it has, and what one cell of one holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from llmviz.models.base import LanguageModel


class WeightCell(NamedTuple):
    """One weight, and the largest magnitude in its matrix."""

    value: float
    largest: float


def matrix_shapes(model: LanguageModel) -> dict[str, tuple[int, int]]:
    """Return rows and columns of each of a model's matrices, by name."""
    return {
        name: (weight.shape[0], weight.shape[1])
        for name, weight in model.named_parameters()
        if weight.dim() == 2 and weight.numel()
    }


def weight_cell(model: LanguageModel, matrix: str, row: int, column: int) -> WeightCell:
    """Return a weight. Raises ValueError: no such matrix, or a cell outside of it."""
    shapes = matrix_shapes(model)
    if matrix not in shapes:
        raise ValueError(f"the model has no matrix {matrix!r:.80}")
    rows, columns = shapes[matrix]
    if not (0 <= row < rows and 0 <= column < columns):
        raise ValueError(f"{matrix} has {rows:,} rows and {columns:,} columns; got {row}, {column}")
    weights = model.get_parameter(matrix).detach()
    return WeightCell(float(weights[row, column]), float(weights.abs().max()))
