"""Activation functions and their slopes against formulas written out with Python's own math."""

import math

import numpy as np
import pytest

from llmviz.course.lessons.transformer.units.bends import activation_curve, gelu_gap, slopes

CDF = lambda x: 0.5 * (1 + math.erf(x / math.sqrt(2)))  # noqa: E731
FORMULAS = {
    "relu": lambda x: max(x, 0.0),
    "gelu": lambda x: x * CDF(x),
    "gelu_tanh": lambda x: x / 2 * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    "silu": lambda x: x / (1 + math.exp(-x)),
    "swiglu": lambda x: x / (1 + math.exp(-x)),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_curves_are_their_formulas_and_slopes_their_differences(name):
    curve, f = activation_curve(name), FORMULAS[name]
    np.testing.assert_allclose(curve.y, [f(x) for x in curve.x], atol=1e-12)
    away = np.abs(curve.x) > 1e-3  # ReLU has a corner at 0
    step = 1e-5
    difference = [(f(x + step) - f(x - step)) / (2 * step) for x in curve.x[away]]
    np.testing.assert_allclose(curve.slope[away], difference, atol=1e-8)
    np.testing.assert_allclose(slopes(name, curve.x), curve.slope, atol=1e-12)


@pytest.mark.parametrize("through", [2.0, -1.0])
def test_what_goes_through_a_gate_scales_it(through):
    one, scaled = activation_curve("swiglu"), activation_curve("swiglu", through)
    np.testing.assert_allclose(scaled.y, through * one.y, atol=1e-12)
    np.testing.assert_allclose(activation_curve("silu", through).y, one.y)


def test_the_gap_is_the_largest_between_both_forms():
    at, gap = gelu_gap()
    difference = lambda x: abs(FORMULAS["gelu"](x) - FORMULAS["gelu_tanh"](x))  # noqa: E731
    assert gap == pytest.approx(difference(at), abs=1e-12)
    elsewhere = [difference(x) for x in np.linspace(-8, 8, 9_001)]
    assert gap - 1e-9 < max(elsewhere) <= gap + 1e-12
    assert difference(-at) == pytest.approx(gap, abs=1e-12)


def test_an_unknown_function_is_named():
    with pytest.raises(ValueError, match="got 'tanh'"):
        activation_curve("tanh")
