"""Moving one weight: true losses, measured slopes, and shares that sum to 1."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from llmviz.course.lessons.training.backprop.model import (
    PRECISIONS,
    example_losses,
    position_shares,
    slope_errors,
    steepest_weight,
    weight_on_text,
)
from llmviz.models import GPT, GPTConfig
from llmviz.training.backprop import TARGET, autograd, example, forward

IDS = (0, 3, 1, 4, 1)


@pytest.fixture
def model():
    torch.manual_seed(0)
    return GPT(GPTConfig(vocab_size=6, context_length=8, n_layer=1, n_head=2, n_embd=8))


def test_the_losses_of_the_worked_network_are_its_own():
    given = example()
    weight = float(given["W2"][1, 2])
    losses = example_losses("W2", 1, 2, [weight, weight + 0.3])
    assert losses[0] == pytest.approx(float(forward(given, TARGET)["loss"]))
    given["W2"][1, 2] += 0.3
    assert losses[1] == pytest.approx(float(forward(given, TARGET)["loss"]))


@pytest.mark.parametrize("name", ["W_Q", "W1", "W_out"])
def test_a_measured_slope_is_that_of_autograd(name):
    given = example()
    slope = float(autograd(given, TARGET)[name][0, 0])
    steps, errors = slope_errors(given, name, 0, 0, slope)
    assert set(errors) == set(PRECISIONS) and steps == sorted(steps)
    assert min(errors["double"]) < 1e-9 and min(errors["double"]) <= min(errors["single"])
    assert given[name].dtype == torch.float64  # nothing given is changed


def test_the_steepest_weight_has_the_largest_gradient(model):
    name = "blocks.0.mlp.hidden.weight"
    row, column = steepest_weight(model, IDS, name)
    logits = model(torch.tensor([IDS[:-1]]))[0][0]
    torch.nn.functional.cross_entropy(logits, torch.tensor(IDS[1:])).backward()
    gradient = model.get_parameter(name).grad.abs()
    assert float(gradient[row, column]) == float(gradient.max())


def test_the_losses_of_a_weight_on_a_text_are_at_the_values_asked_for(model):
    name = "blocks.0.mlp.hidden.weight"
    before = model.get_parameter(name).detach().clone()
    gradient, losses = weight_on_text(model, IDS, name, 2, 3, lambda value: [value, value + 0.5])
    assert gradient.by_hand == pytest.approx(gradient.autograd, abs=1e-10)
    assert losses[0] == pytest.approx(gradient.loss, abs=1e-12) and losses[1] != losses[0]
    assert torch.equal(model.get_parameter(name), before)


@pytest.mark.parametrize("products", [[1.0, -3.0, 0.0], [0.0, 0.0], [2.0]])
def test_the_shares_of_the_positions(products):
    use = SimpleNamespace(local=torch.tensor(products), upstream=torch.ones(len(products)))
    shares = position_shares(SimpleNamespace(uses=(use,)))
    sizes = np.abs(products)
    assert np.allclose(shares, sizes / (sizes.sum() or 1))
