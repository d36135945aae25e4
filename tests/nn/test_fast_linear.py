"""Packed products against torch's, and the way back when an operation is missing."""

import copy
import os
import subprocess
import sys

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


@pytest.mark.parametrize("precision", ["int8", "int4"])
def test_fewer_bits_are_the_rounded_weights(precision):
    """Against the product with weights that are rounded one by one, to a step for each group."""
    if precision == "int4" and not hasattr(torch.ops.aten, "_weight_int4pack_mm_for_cpu"):
        pytest.skip("this torch has no such kernel")
    linear = layer(700, 320)
    weight, group = linear.weight.detach(), 320 if precision == "int8" else fl.INT4_GROUP
    parts = weight.view(700, -1, group)
    steps = parts.abs().amax(-1, keepdim=True) / (127 if precision == "int8" else 7)
    rounded = ((parts / steps).round() * steps).view_as(weight)
    x = torch.randn(1, 320)
    with torch.inference_mode():
        found, exact = fl.fast_linear(linear, precision)(x), linear(x)
        expected = x @ rounded.T + linear.bias
    assert (found - expected).abs().max() < 0.02 * expected.abs().max()  # x is rounded, too
    assert 0 < (found - exact).abs().max() <= fl.TOLERANCE[precision] * exact.abs().max()


@pytest.mark.skipif(
    "onednn" not in torch.backends.quantized.supported_engines, reason="it is that library's limit"
)
def test_no_sum_is_cut_where_the_processor_has_no_vnni():
    """On inputs and weights that reach the bound, with a library that may not use VNNI."""
    code = (
        "import torch; torch.backends.quantized.engine = 'onednn'\n"
        "from llmviz.nn import fast_linear as fl\n"
        "for sign in (1, -1):\n"
        "    steps = torch.full((32,), 1 / 127, dtype=torch.float64)\n"
        "    product = fl.int8_multiply(sign * torch.ones(32, 96), steps)\n"
        "    for rows in (1, 4, 64):\n"
        "        found = product(torch.ones(rows, 96))\n"
        "        torch.testing.assert_close(found, torch.full_like(found, 96.0 * sign))\n"
    )
    places = {"ONEDNN_MAX_CPU_ISA": "AVX2", "DNNL_MAX_CPU_ISA": "AVX2"}
    subprocess.run([sys.executable, "-c", code], check=True, env=os.environ | places)


def test_what_is_used_is_said(monkeypatch):
    monkeypatch.setattr(fl, "pairs_saturate", lambda: True)
    assert "7 bits" in fl.about_int8()
    linear, x = layer(), torch.randn(4, 300)
    with torch.inference_mode():
        expected, found = linear(x), fl.fast_linear(linear, "int8")(x)
    assert 0 < (expected - found).abs().max() <= fl.TOLERANCE["int8"] * expected.abs().max()
    monkeypatch.setattr(fl, "pairs_saturate", lambda: False)
    assert fl.about_int8() == ""

    def missing():
        raise RuntimeError("not in this build")

    monkeypatch.setattr(fl, "pairs_saturate", missing)
    assert "float32 is used" in fl.about_int8()
    torch.testing.assert_close(fl.fast_linear(linear, "int8")(x), linear(x).detach())


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


@pytest.mark.parametrize("precision", fl.PRECISIONS[1:])
def test_a_single_layer_that_falls_back_says_what_is_used(monkeypatch, caplog, precision):
    def wrong(weight, bias, *_):
        return lambda x: 2 * (x @ weight.t() + bias)

    for name in ("_packed", "_int8", "_int4"):
        monkeypatch.setattr(fl, name, wrong)
    fl._tell_plain.cache_clear()
    odd, linear, x = layer(720, 320), layer(704, 320), torch.randn(1, 320)
    for chosen in (odd, linear, linear):
        torch.testing.assert_close(fl.fast_linear(chosen, precision)(x), chosen(x).detach())
    said = [record.getMessage() for record in caplog.records]
    assert [line.split(" is ")[0] for line in said] == [
        f"a layer of {chosen.out_features} × 320" for chosen in (odd, linear)
    ]
    assert all(f"in float32 and not by the product for {precision}: its" in line for line in said)
    caplog.clear()
    fl.fast_linear(linear, "float32")
    assert not caplog.records, "another way to the same numbers"


def test_a_wrong_result_falls_back(monkeypatch):
    monkeypatch.setattr(fl, "_packed", lambda w, b, *_: lambda x: 1.01 * (x @ w.t() + b))
    linear, x = layer(), torch.randn(1, 300)
    torch.testing.assert_close(fl.fast_linear(linear)(x), linear(x).detach())


def test_an_unknown_precision_is_refused():
    with pytest.raises(ValueError, match="precision must be one of"):
        fl.fast_linear(layer(), "float64")


def rows_of(shape, seed=1):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("bias", [True, False])
def test_a_product_of_many_rows_is_the_plain_one(bias):
    linear = layer(192, 200, bias)
    assert linear.weight.numel() >= fl.PACK_FROM_FOR_MANY_ROWS
    for x in (
        rows_of((300, 200)),
        rows_of((2, 150, 200)),
        rows_of((300, 230))[:, 15:215],  # a part of wider rows
        rows_of((200, 300)).t(),
        rows_of((1, 200)).expand(300, 200),
        rows_of((3, 200)),  # too few rows to be packed for
    ):
        found = fl.product(x, linear.weight, linear.bias)
        torch.testing.assert_close(found, linear(x).detach(), atol=1e-5, rtol=1e-5)
    turned = fl.product(rows_of((300, 192)), linear.weight.t())
    torch.testing.assert_close(
        turned, rows_of((300, 192)) @ linear.weight.detach(), atol=1e-5, rtol=1e-5
    )
    double = layer(192, 200, bias).double()
    assert fl.product(rows_of((300, 200)).double(), double.weight).dtype == torch.float64


@pytest.mark.parametrize("problem", [AttributeError, 1.01])
def test_without_the_packed_product_many_rows_take_the_plain_one(monkeypatch, problem):
    def packed(weight, bias, *_):
        if problem is AttributeError:
            raise problem("not in this build")
        return lambda x: problem * torch.nn.functional.linear(x, weight, bias)

    monkeypatch.setattr(fl, "_packed", packed)
    fl._many_rows_agree.cache_clear()
    linear, x = layer(192, 200), rows_of((300, 200))
    found = fl.product(x, linear.weight, linear.bias)
    fl._many_rows_agree.cache_clear()
    assert torch.equal(found, linear(x).detach())


def test_a_packed_model_answers_as_the_model_that_it_is_packed_from_and_leaves_it_alone():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(200, 300), nn.Sequential(nn.ReLU(), nn.Linear(300, 5)))
    packed, x = fl.packed_for_rows(model, 300), rows_of((2, 150, 200))
    with torch.inference_mode():
        torch.testing.assert_close(packed(x), model(x), atol=1e-5, rtol=1e-5)
    assert isinstance(packed[0], fl.PackedLinear) and type(model[0]) is nn.Linear


@pytest.mark.parametrize("bias", [True, False])
def test_a_frozen_layer_keeps_its_weights_and_a_copy_or_a_gradient_is_of_an_ordinary_one(bias):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(200, 300, bias), nn.ReLU(), nn.Linear(300, 5, bias))
    table = nn.Embedding.from_pretrained(model[0].weight.detach())
    model.add_module("table", nn.Identity())
    model.table.weight = table.weight = model[0].weight  # as a tied head has it
    plain = copy.deepcopy(model).requires_grad_(False)
    fl.freeze_packed(model.eval().requires_grad_(False), 300)
    x = rows_of((2, 150, 200))
    assert isinstance(model[0], fl.FrozenLinear) and type(model[2]) is nn.Linear
    with torch.inference_mode():
        for given in (x, x[0], x[0, 0], x[:, :0], x.transpose(0, 1)):
            torch.testing.assert_close(model(given), plain(given), atol=1e-5, rtol=1e-5)
    assert list(model.state_dict()) == list(plain.state_dict())
    copied = copy.deepcopy(model)
    assert type(copied[0]) is nn.Linear and copied[0].weight is copied.table.weight
    with torch.no_grad():
        copied[0].weight.zero_()
        assert not torch.equal(copied(x), plain(x))
        torch.testing.assert_close(model(x), plain(x), atol=1e-5, rtol=1e-5)
    wanted, other = (each.clone().requires_grad_() for each in (x, x))
    model(wanted).sum().backward()
    plain(other).sum().backward()
    torch.testing.assert_close(wanted.grad, other.grad)
