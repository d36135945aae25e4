"""Cells against torch.nn's layers with copied weights: values and gradients."""

import pytest
import torch
from torch import nn

from llmviz.models import GRU, LSTM, RNN, RNNConfig
from llmviz.nn.recurrent import Recurrence
from llmviz.trace import record

LAYERS = {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}
PARTS = {"weight_ih": "input.weight", "bias_ih": "input.bias"} | {
    "weight_hh": "recurrent.weight",
    "bias_hh": "recurrent.bias",
}


@pytest.mark.parametrize("cell", LAYERS)
def test_a_layer_is_that_of_torch(cell):
    torch.manual_seed(0)
    ours, theirs = Recurrence(cell, 5, 4).double(), LAYERS[cell](5, 4, batch_first=True).double()
    with torch.no_grad():
        for name, path in PARTS.items():
            getattr(theirs, f"{name}_l0").copy_(ours.get_parameter(path))
    x = torch.randn(3, 6, 5, dtype=torch.float64)
    a, b = x.clone().requires_grad_(), x.clone().requires_grad_()
    y, (expected, _) = ours(a), theirs(b)
    assert torch.allclose(y, expected)
    upstream = torch.randn_like(y)
    y.backward(upstream)
    expected.backward(upstream)
    assert torch.allclose(a.grad, b.grad)
    for name, path in PARTS.items():
        gradient = getattr(theirs, f"{name}_l0").grad
        assert torch.allclose(ours.get_parameter(path).grad, gradient)


@pytest.mark.parametrize(("model", "cell"), [(RNN, "rnn"), (GRU, "gru"), (LSTM, "lstm")])
def test_stacked_layers_are_those_of_torch(model, cell):
    torch.manual_seed(0)
    ours = model(RNNConfig(vocab_size=9, n_layer=2, n_embd=6, hidden_size=4))
    theirs = LAYERS[cell](6, 4, num_layers=2, batch_first=True)
    with torch.no_grad():
        for i, layer in enumerate(ours.layers):
            for name, path in PARTS.items():
                getattr(theirs, f"{name}_l{i}").copy_(layer.get_parameter(path))
    idx = torch.randint(0, 9, (2, 7))
    expected = ours.head(theirs(ours.token(idx))[0])
    assert torch.allclose(ours(idx)[0], expected, atol=1e-6)


def test_gates_are_recorded_and_explain_the_state():
    torch.manual_seed(0)
    lstm = LSTM(RNNConfig(vocab_size=9, n_embd=4))
    with record() as trace:
        lstm(torch.randint(0, 9, (2, 7)))
    part = {name: trace[f"layers.0.{name}"] for name in ("input", "forget", "candidate", "cell")}
    before = torch.cat((torch.zeros(2, 1, 4), part["cell"][:, :-1]), dim=1)
    cell = part["forget"] * before + part["input"] * part["candidate"]
    assert torch.allclose(part["cell"], cell)
    hidden = trace["layers.0.output"] * cell.tanh()
    assert torch.allclose(trace["layers.0.hidden"], hidden)


def test_an_unknown_cell_is_named():
    with pytest.raises(ValueError, match="cell must be one of rnn, gru, lstm; got 'xyz'"):
        Recurrence("xyz", 2, 2)
