"""One row of a model's matrix on a grid, number by number, and what one large weight does to it.

R rows and C columns of the matrix.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from llmviz.quantization.scheme import GROUP, PER, Scheme

if TYPE_CHECKING:
    from torch import Tensor

    from llmviz.models.base import LanguageModel


@dataclass(frozen=True, eq=False)
class RowSteps:
    """A row (C,) at each step; `lowest` and `highest` are the codes that the grid ends with."""

    weights: np.ndarray
    scale: np.ndarray  # the step that each weight gets
    zero_point: np.ndarray  # 0 where the grid is symmetric
    divided: np.ndarray
    rounded: np.ndarray
    shifted: np.ndarray
    codes: np.ndarray
    restored: np.ndarray
    error: np.ndarray
    lowest: int
    highest: int

    def grid(self, column: int) -> np.ndarray:
        """Return all values that the weight in a column can get, from the smallest on."""
        codes = np.arange(self.lowest, self.highest + 1)
        return (codes - self.zero_point[column]) * self.scale[column]


@dataclass(frozen=True)
class Damage:
    """Mean |error| of weights other than the large one, as a share of the typical weight.

    group: of the weights around it that `group` of the scheme would put together with it. row: of
    the others of its row. others: of all other rows. None where there are no such weights.
    """

    group: float | None
    row: float | None
    others: float | None


def with_large_weight(
    model: LanguageModel, path: str, row: int, column: int, times: float
) -> Tensor:
    """Return a copy of a matrix (R, C) whose weight in a row and column is `times` as large."""
    w = model.get_parameter(f"{path}.weight").detach().clone()
    w[row, column] *= times
    return w


def row_steps(w: Tensor, row: int, scheme: Scheme) -> RowSteps:
    """Return a row of a matrix w (R, C) at each step of its quantization.

    Raises ValueError as `quantize_steps`.
    """
    from llmviz.quantization.grids import expand, quantize_steps

    steps = quantize_steps(w, scheme)
    zero = steps.scale * 0 if steps.zero_point is None else steps.zero_point
    each = {
        "weights": w,
        "scale": expand(steps.scale, w.shape),
        "zero_point": expand(zero, w.shape),
        "divided": steps.divided,
        "rounded": steps.rounded,
        "shifted": steps.shifted,
        "codes": steps.codes,
        "restored": steps.restored,
        "error": steps.error,
    }
    arrays = {name: matrix[row].double().numpy() for name, matrix in each.items()}
    return RowSteps(**arrays, lowest=scheme.lowest, highest=scheme.highest)


def damage(w: Tensor, row: int, column: int, scheme: Scheme) -> dict[str, Damage]:
    """Return what the weight in a row and column does to the others, by what shares a step.

    w (R, C). The typical weight is the root mean square of all others. Groups that do not divide a
    row are left out. Raises ValueError as `quantize`.
    """
    from llmviz.quantization.grids import quantize_steps

    place = np.zeros(tuple(w.shape), dtype=int)  # 0: other rows
    place[row] = 1
    first = column - column % scheme.group
    place[row, first : first + scheme.group] = 2
    place[row, column] = 3
    others = w.numpy()[place != 3]
    typical = float(np.sqrt(np.square(others, dtype=float).mean())) if others.size else 0.0
    damages = {}
    for per in PER:
        if per == GROUP and w.shape[1] % scheme.group:
            continue
        error = quantize_steps(w, replace(scheme, per=per)).error.abs().numpy()
        means = [
            float(error[place == kind].mean()) / typical
            if typical and (place == kind).any()
            else None
            for kind in (2, 1, 0)
        ]
        damages[per] = Damage(*means)
    return damages
