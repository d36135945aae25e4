"""The chapter "MLP": its window is the model's, its sizes are counted."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from llmviz.course.lessons.history.mlp import chapter
from llmviz.course.lessons.history.mlp.model import read_windows
from llmviz.course.ui import engine
from tests.pages import harness
from tests.pages.conftest import load_torch
from tests.pages.harness import fine_part, prose_of, sent

NAME = "olivia"


@pytest.fixture(scope="module", autouse=True)
def bundled():
    load_torch()
    return engine.load(chapter.MODEL)


def test_the_opened_window_is_what_torch_computes(bundled):
    app = fine_part("history", "mlp", name="Olivia", slideat="3")
    drawn = {
        one["name"]: one["values"] for one in harness.unpack_all(app, "matrix_view")[0]["matrices"]
    }
    model, ids = bundled.model, bundled.tokenizer.encode_from_start(NAME)
    config, layer = model.config, model.layers[0]
    padded = [config.vocab_size] * (config.window - 1) + ids
    with torch.no_grad():
        x = model.token.weight[torch.tensor(padded[3 : 3 + config.window])].flatten()[None]
        linear = F.linear(x, layer.linear.weight, layer.linear.bias)
        norm = layer.norm
        mean, variance = norm.running_mean, norm.running_variance
        normed = F.batch_norm(linear, mean, variance, norm.weight, norm.bias)
        p = model.head(normed.tanh()).softmax(-1)
    assert np.allclose(drawn["window"], x)
    assert np.allclose(drawn["linear"], linear, atol=1e-4)
    assert np.allclose(drawn["normed"], normed, atol=1e-4)
    assert np.allclose(drawn["gained"] + drawn["shift"], drawn["normed"], atol=1e-4)
    assert np.allclose(drawn["p"], p, atol=1e-5)


def test_the_grid_slides_and_says_what_each_place_adds(bundled):
    app = fine_part("history", "mlp", name=NAME)
    grid = sent(app, "cell_grid")
    assert grid["texts"][-1] == ["·", "·", *NAME]
    assert [row[-1] for row in grid["texts"]] == ["·", *NAME]
    for above, below in zip(grid["texts"], grid["texts"][1:], strict=False):
        assert above[1:] == below[:-1]
    model, ids = bundled.model, bundled.tokenizer.encode_from_start(NAME)
    found = read_windows(model, ids)
    assert np.allclose(grid["values"], found.added)
    weight = model.layers[0].linear.weight
    width = model.config.n_embd
    for slot in range(model.config.window):
        alone = torch.zeros_like(found.slots[4].flatten())
        alone[slot * width : (slot + 1) * width] = found.slots[4, slot]
        assert float((weight @ alone).norm()) == pytest.approx(
            float(found.added[4, slot]), rel=1e-4
        )


def test_another_model_is_refused():
    with pytest.raises(ValueError, match="an MLP of one hidden layer"):
        read_windows(engine.load("names-rnn").model, [1])


@pytest.mark.parametrize("times", [1, 2])
def test_a_longer_window_costs_what_a_model_of_that_size_has(bundled, times):
    from llmviz.models import MLP

    config = bundled.model.config
    longer = MLP(replace(config, window=times * config.window))
    sizes = {
        "window": config.window,
        "width": config.n_embd,
        "hidden": config.hidden_size,
        "row": config.window * config.n_embd,
        "parameters": engine.card(chapter.MODEL)["parameters"],
        "rows": 27**config.window,
    }
    count = sum(values.numel() for values in longer.parameters())
    asked = chapter.question(sizes)
    assert count == (sizes["parameters"] if times == 1 else asked.values[asked.right][0])
    powers = sorted(math.log10(value) for (value,) in asked.values)
    assert min(np.diff(powers)) > 1


def test_before_the_guess_the_longer_networks_size_is_not_told(covers):
    app = fine_part("history", "mlp")
    rows = harness.unpack_all(app, "case_rows")[0]["rows"]
    assert [row["value"] is None for row in rows] == [False, False, False, True]


def test_the_look_at_the_v_tells_what_both_models_give_it(bundled):
    told = chapter.at_the_v(bundled)
    app = fine_part("history", "mlp", name="olivia", slideat="3")
    looks = str(harness.unpack_all(app, "looks")[0])
    assert told["network"] in prose_of(app) and all(
        repr(one)[1:-1] in looks for one in told.values()
    )
    assert float(told["network"].split("\u00a0")[0]) > 10 * float(told["pairs"].split("\u00a0")[0])


@pytest.mark.parametrize("activation", ["tanh", "relu"])
def test_the_hidden_activation_is_a_setting_of_the_model(activation):
    from llmviz.models import MLP, MLPConfig

    model = MLP(MLPConfig(vocab_size=5, window=2, hidden_activation=activation)).eval()
    ids = torch.tensor([[0, 1, 2]])
    found = read_windows(model, ids[0].tolist())
    assert torch.equal(found.hidden, getattr(torch, activation)(found.normed))
    with pytest.raises(ValueError, match="hidden_activation must be one of tanh, relu"):
        MLPConfig(hidden_activation="gelu")
