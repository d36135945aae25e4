"""A model whose weights are no numbers is refused where it is read, with the tensor's name."""

from __future__ import annotations

import math

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from torch import nn

from llmviz.nn.finite import broken_weight
from llmviz.training.runs import load_trained
from tests.pages.small_model import make_checkpoint


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_the_first_weight_that_is_no_number_is_named(value):
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    assert broken_weight(model) is None
    with torch.no_grad():
        model[1].weight[0, 1] = value
    assert broken_weight(model) == "1.weight"


def test_a_model_with_such_a_weight_is_not_read(tmp_path):
    make_checkpoint(tmp_path)
    (folder,) = (path.parent for path in tmp_path.rglob("model.safetensors"))
    file = folder / "model.safetensors"
    with safe_open(file, "pt") as opened:
        tied = opened.metadata()  # which names are one tensor
    tensors = load_file(file)
    name = sorted(tensors)[0]
    tensors[name] = torch.full_like(tensors[name], math.nan)
    save_file(tensors, file, tied)
    with pytest.raises(ValueError, match=f"the weights {name} hold values that are NaN"):
        load_trained(folder)
