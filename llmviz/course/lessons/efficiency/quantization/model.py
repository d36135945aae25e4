"""What rounding does to a model: its loss by bits, one row, each matrix, and a weight that learns.

N weights or tokens, R rows (outputs), C columns (inputs). The loss was measured once;
`python -m experiments make quantization` does it again, some minutes on one core.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch

from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.quantization.awq import matrix_inputs
from llmviz.quantization.grids import expand, quantize_steps
from llmviz.quantization.qat import fake_quantize
from llmviz.quantization.quantized_models import AWQ, ROUNDING
from llmviz.quantization.scheme import CHANNEL, GROUP, TENSOR, Scheme
from llmviz.training.files import read_json

if TYPE_CHECKING:
    from torch import Tensor

    from llmviz.models.base import LanguageModel

FILE = "quantization.json"
MODEL, DOCUMENTS, GROUP_OF = "tiny-world-gpt", 200, 32
COMMAND = "python -m experiments make quantization"
REACH, BEYOND = 1.0, 2.0  # where the grid of the picture ends, and the largest weight in it
POINTS = 601


@dataclass(frozen=True)
class Way:
    """One line of the chart: a scheme at every number of bits, and how the codes are chosen."""

    symmetric: bool
    per: str
    method: str = ROUNDING

    @property
    def key(self) -> str:
        return f"{'symmetric' if self.symmetric else 'asymmetric'}-{self.per}-{self.method}"

    def scheme(self, bits: int) -> Scheme:
        return Scheme(bits, self.symmetric, self.per, GROUP_OF)


WAYS = (
    *(Way(symmetric, per) for per in (TENSOR, CHANNEL, GROUP) for symmetric in (True, False)),
    *(Way(symmetric, GROUP, AWQ) for symmetric in (True, False)),
)


@dataclass(frozen=True)
class Point:
    """One measurement: nats per token, and bytes of the whole model and of its matrices."""

    bits: int
    loss: float
    total: int
    matrices: int


@dataclass(frozen=True)
class Curves:
    """What was measured: the model's own loss and size, the floor, and the points of each way."""

    documents: int
    tokens: int
    loss: float  # of the model as it is, nats per token
    floor: float
    float16: int  # bytes of the model with 16 bits a number
    float16_matrices: int  # of them, those of the matrices that are quantized
    points: dict[str, tuple[Point, ...]]


def curves(folder: Path = EXPERIMENT_FOLDER) -> Curves:
    """Return the bundled measurements. Raises ValueError where they are not in this copy."""
    raw = read_json(folder / FILE)
    try:
        points = {way.key: tuple(Point(**row) for row in raw["points"][way.key]) for way in WAYS}
        names = ("documents", "tokens", "loss", "floor", "float16", "float16_matrices")
        return Curves(**{name: raw[name] for name in names}, points=points)
    except (KeyError, TypeError) as error:
        raise ValueError(f"{FILE} lacks {error}") from None


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


@dataclass(frozen=True, eq=False)
class Staircase:
    """Weights (N,), what they are rounded to, and the gradient that comes to each from 1."""

    weights: np.ndarray
    rounded: np.ndarray
    gradient: np.ndarray


@dataclass(frozen=True)
class Update:
    """One update of one weight: exact and rounded value, loss, and both gradients."""

    weight: float
    rounded: float
    loss: float
    at_rounded: float  # of the loss by the rounded weight
    at_weight: float  # what comes through to the exact weight
    slope: float  # of the loss by the exact weight as it is: a small step of it, measured


def picture_scheme(bits: int) -> Scheme:
    """The grid of the picture: symmetric, with its end at REACH for weights up to BEYOND."""
    return Scheme(bits, symmetric=True, per=TENSOR, clip=REACH / BEYOND)


def staircase(bits: int) -> Staircase:
    """Return the forward and the backward pass for weights from −BEYOND to BEYOND."""
    w = torch.linspace(-BEYOND, BEYOND, POINTS)[None].requires_grad_(True)
    rounded = fake_quantize(w, picture_scheme(bits))
    rounded.sum().backward()
    assert w.grad is not None
    arrays = (tensor.detach()[0].double().numpy() for tensor in (w, rounded, w.grad))
    return Staircase(*arrays)


def walk(bits: int, start: float, target: float, rate: float, updates: int) -> list[Update]:
    """Train one weight so that its rounded value comes near a target: loss ½ (rounded − target)².

    rate: of plain gradient descent. The first entry is before any update.
    """
    scheme = picture_scheme(bits)
    ends = [BEYOND, -BEYOND]  # they hold the grid where it is
    w, steps = torch.tensor(start), []
    for _ in range(updates + 1):
        row = torch.stack([*map(torch.tensor, ends), w])[None].requires_grad_(True)
        rounded = fake_quantize(row, scheme)
        rounded.retain_grad()
        loss = 0.5 * (rounded[0, 2] - target) ** 2
        loss.backward()
        assert rounded.grad is not None and row.grad is not None
        small = 1e-4
        with torch.no_grad():
            moved = row.detach().clone()
            moved[0, 2] += small
            other = 0.5 * (fake_quantize(moved, scheme)[0, 2] - target) ** 2
        at_rounded, at_weight = rounded.grad[0, 2], row.grad[0, 2]
        values = [w, rounded[0, 2], loss, at_rounded, at_weight, (other - loss.detach()) / small]
        steps.append(Update(*(value.item() for value in values)))
        w = (w - rate * at_weight).clamp(-BEYOND, BEYOND).detach()
    return steps
