"""Single weights of a model."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from llmviz.course.lessons.efficiency.bits.weight_cells import matrix_shapes, weight_cell


@pytest.fixture
def model():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 2), nn.LayerNorm(2), nn.Linear(2, 4, bias=False))


def test_the_matrices_are_all_parameters_of_two_axes(model):
    assert matrix_shapes(model) == {"0.weight": (2, 3), "2.weight": (4, 2)}


def test_a_cell_is_the_weight_and_the_largest_of_its_matrix(model):
    cell = weight_cell(model, "2.weight", 3, 1)
    assert cell.value == model[2].weight[3, 1].item()
    assert cell.largest == max(abs(one) for one in model[2].weight.flatten().tolist())


@pytest.mark.parametrize(
    ("matrix", "row", "column", "rule"),
    [
        ("0.bias", 0, 0, "no matrix '0.bias'"),
        ("0.weight", 2, 0, "2 rows and 3 columns; got 2, 0"),
        ("0.weight", 0, -1, "2 rows and 3 columns; got 0, -1"),
    ],
)
def test_a_cell_outside_is_refused(model, matrix, row, column, rule):
    with pytest.raises(ValueError, match=rule):
        weight_cell(model, matrix, row, column)
