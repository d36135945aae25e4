"""One step in the open is the training loop's own; moving one weight gives slopes and shares."""

from __future__ import annotations

import dataclasses
import math
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
from llmviz.course.lessons.training.step.one_step import (
    HEAD,
    RATES,
    STEPS,
    StepChoice,
    one_step,
    prepared,
)
from llmviz.course.lessons.training.step.step_calls import calls, modes, resumed
from llmviz.models import GPT, GPTConfig
from llmviz.training.backprop import TARGET, autograd, example, forward
from llmviz.training.loop import train
from llmviz.training.schedule import learning_rate_at

TEXT = "The cat sat on the mat. The kitten slept; tokenization isn't magic 🙂"


@pytest.mark.parametrize("optimizer", list(RATES))
@pytest.mark.parametrize("step, clip", [(1, 0.5), (4, 0.5), (9, 0.0), (STEPS, 0.1)])
def test_a_step_is_that_of_the_training_loop_bit_for_bit(optimizer, step, clip):
    asked = StepChoice(TEXT, optimizer=optimizer, step=step, clip=clip)
    found = one_step(asked)
    _, data, model = prepared(asked)
    records = []
    for record in train(model, data, asked.config()):
        records.append(record)
        if record.step == step:
            break  # the weights are those after this step
    last = records[-1]
    assert found.losses == tuple(one.train_loss for one in records)
    assert found.loss == last.train_loss and found.rate == last.lr
    assert found.norm == pytest.approx(last.grad_norm, rel=1e-6)
    assert np.array_equal(found.after, model.get_parameter(HEAD).detach().numpy())


@pytest.mark.parametrize("optimizer", list(RATES))
@pytest.mark.parametrize("rows, width", [(1, 2), (2, 3), (3, 4)])
def test_every_number_follows_from_the_ones_before(optimizer, rows, width):
    asked = StepChoice(TEXT, rows, width, step=3, optimizer=optimizer)
    found = one_step(asked)
    n, vocabulary = rows * width, len(found.names)
    assert found.ids.shape == found.targets.shape == (rows, width)
    assert np.array_equal(found.ids[:, 1:], found.targets[:, :-1])  # the shift by one
    flat = found.hidden.reshape(n, -1).astype(np.float64) @ found.head.T
    assert np.allclose(flat, found.logits.reshape(n, vocabulary), atol=1e-6)
    losses = torch.nn.functional.cross_entropy(
        torch.tensor(flat), torch.tensor(found.targets.reshape(-1)), reduction="none"
    )
    assert float(losses.mean()) == pytest.approx(found.loss, abs=1e-6)
    assert math.sqrt(sum(one**2 for one in found.norms.values())) == pytest.approx(found.norm)
    assert found.factor == pytest.approx(min(1, asked.clip / found.norm), rel=1e-5)
    moved = sum(found.update[name] for name in ("step", "decay") if name in found.update)
    assert np.allclose(found.head + moved, found.after, atol=1e-7)
    if optimizer == "sgd":
        step = -learning_rate_at(3, asked.config()) * found.factor * found.gradient
        assert np.allclose(found.update["step"], step, atol=1e-8)


@pytest.mark.parametrize("text", ["ab", "aaaa", "한국어 텍스트", "👩‍🚀e\u0301", TEXT * 50])
def test_an_untrained_model_pays_about_ln_v(text):
    found = one_step(StepChoice(text))
    assert found.untrained_loss == pytest.approx(found.blind, abs=0.15)
    assert found.blind == pytest.approx(math.log(len(found.names)))


@pytest.mark.parametrize("change", [{"text": "a"}, {"text": ""}, {"step": 0}, {"step": STEPS + 1}])
def test_what_cannot_be_a_step_is_refused(change):
    with pytest.raises(ValueError, match=r"must be|at least 2"):
        one_step(dataclasses.replace(StepChoice(TEXT), **change))


@pytest.mark.parametrize("optimizer", list(RATES))
def test_each_call_does_what_is_said(optimizer):
    found = {one.name: one for one in calls(StepChoice(TEXT, optimizer=optimizer, step=2))}
    assert [one.name for one in found.values() if one.moved] == ["step"]
    once = found["backward"].norm
    assert once > 0 and found["forward"].norm == found["zero_grad"].norm == 0
    assert found["backward again"].norm == pytest.approx(2 * once)
    assert found["backward anew"].norm == once
    own = one_step(StepChoice(TEXT, optimizer=optimizer, step=2))
    assert once == pytest.approx(own.norm)
    assert found["clip"].norm == pytest.approx(min(own.norm, StepChoice(TEXT).clip), rel=1e-4)


def test_inference_gives_one_loss_and_training_another_each_time():
    found = modes(StepChoice(TEXT))
    assert found.inference[0] == found.inference[1] != found.training[0]
    assert found.training[0] != found.training[1]
    assert found.inference[0] == pytest.approx(one_step(StepChoice(TEXT)).loss)


def test_a_run_that_was_saved_and_loaded_goes_on_as_if_it_had_never_stopped():
    for optimizer in RATES:
        found = resumed(StepChoice(TEXT, optimizer=optimizer))
        assert found.resumed_apart == 0 and found.resumed_loss == found.loss
        assert (found.weights_only_apart == 0) == (optimizer == "sgd")
        assert {"model.safetensors", "optimizer.safetensors", "state.json"} <= set(found.files)


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
