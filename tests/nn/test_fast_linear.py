"""Packed products against torch's, and the way back when an operation is missing."""

import pytest
import torch
from torch import nn

from llmviz.nn import fast_linear as fl


def layer(outputs=700, inputs=300, bias=True):
    torch.manual_seed(0)
    return nn.Linear(inputs, outputs, bias=bias)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("precision", fl.PRECISIONS)
def test_packed_equals_plain(precision, bias):
    linear = layer(bias=bias)
    assert linear.weight.numel() >= fl.PACK_FROM
    product = fl.fast_linear(linear, precision)
    x = torch.randn(1, 300)
    with torch.inference_mode():
        expected, found = linear(x), product(x)
    assert found.dtype == torch.float32
    limit = fl.TOLERANCE[precision] * expected.abs().max()
    assert (expected - found).abs().max() <= limit
    torch.testing.assert_close(fl.plain_linear(linear)(x), expected)


def test_small_layers_stay_plain_and_follow_their_weights():
    linear = layer(4, 3)
    product = fl.fast_linear(linear, "int8")
    with torch.no_grad():
        linear.weight.fill_(2.0)
    x = torch.ones(1, 3)
    torch.testing.assert_close(product(x), linear(x).detach())


@pytest.mark.parametrize("precision", fl.PRECISIONS)
@pytest.mark.parametrize("outputs", [10, 300, 700])
def test_one_row_and_a_few_are_the_plain_layer(outputs, precision):
    linear = layer(outputs)
    product = fl.fast_for_one_or_few(linear, precision)
    for rows in (1, 2, 9):
        x = torch.randn(rows, 300)
        with torch.inference_mode():
            expected, found = linear(x), product(x)
        assert (expected - found).abs().max() <= fl.TOLERANCE[precision] * expected.abs().max()


def test_one_row_of_a_middling_layer_takes_the_plain_way(monkeypatch):
    monkeypatch.setattr(fl, "_packed", lambda w, b, *_: lambda x: 1.00001 * (x @ w.t() + b))
    linear, x = layer(300), torch.randn(4, 300)
    assert fl.PACK_FROM_FOR_ROWS <= linear.weight.numel() < fl.PACK_FROM
    product, plain = fl.fast_for_one_or_few(linear), fl.plain_linear(linear)
    assert torch.equal(product(x[:1]), plain(x[:1]))
    assert not torch.equal(product(x), plain(x))


@pytest.mark.parametrize("error", [AttributeError, RuntimeError, NotImplementedError])
def test_a_missing_operation_falls_back(monkeypatch, error):
    def missing(*_):
        raise error("not in this build")

    monkeypatch.setattr(fl, "_packed", missing)
    linear, x = layer(), torch.randn(1, 300)
    torch.testing.assert_close(fl.fast_linear(linear, "bfloat16")(x), linear(x).detach())


def test_a_wrong_result_falls_back(monkeypatch):
    monkeypatch.setattr(fl, "_packed", lambda w, b, *_: lambda x: 1.01 * (x @ w.t() + b))
    linear, x = layer(), torch.randn(1, 300)
    torch.testing.assert_close(fl.fast_linear(linear)(x), linear(x).detach())


def test_an_unknown_precision_is_refused():
    with pytest.raises(ValueError, match="precision must be one of"):
        fl.fast_linear(layer(), "float64")
