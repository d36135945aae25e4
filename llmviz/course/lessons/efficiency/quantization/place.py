"""The weight that the learner looks at, and its row at each step of quantization."""

from typing import NamedTuple

from llmviz.course.lessons.efficiency.quantization.quantization_errors import largest_weight
from llmviz.course.lessons.efficiency.quantization.quantized_row import (
    RowSteps,
    row_steps,
    with_large_weight,
)
from llmviz.course.lessons.efficiency.quantization.setting import model
from llmviz.course.ui import engine, kit
from llmviz.quantization.scheme import Scheme


class Place(NamedTuple):
    """A weight of the model: path of its matrix, row and column, and the matrix's size."""

    path: str
    row: int
    column: int
    rows: int
    columns: int


def place_of(state: kit.PageState) -> Place:
    """Return the weight that the controls name; where they name none, the largest one."""
    layers = len(model().model.blocks)
    path = f"blocks.{min(state['qlayer'], layers - 1)}.{state['qmatrix']}"
    weight = model().model.get_submodule(path).weight
    rows, columns = weight.shape
    row = largest_weight(weight)[0] if state["qrow"] < 0 else min(state["qrow"], rows - 1)
    column = state["qweight"]
    if column < 0:
        column = largest_weight(weight[row : row + 1])[1]
    return Place(path, row, min(column, columns - 1), rows, columns)


@kit.kept(64)
def steps_of(bundled: engine.Bundled, place: Place, times: int, scheme: Scheme) -> RowSteps:
    """Return the row at each step, its weight `times` as large as it is."""
    w = with_large_weight(bundled.model, place.path, place.row, place.column, times)
    return row_steps(w, place.row, scheme)
