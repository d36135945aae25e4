"""Which weights are numbers that a model can compute with."""

import math

import pytest
import torch

from llmviz.nn.finite import LARGEST, wrong_tensor


def weights(value, dtype=torch.float32):
    tensor = torch.zeros(2, 3, dtype=dtype)
    tensor[1, 2] = value
    return [("first", torch.ones(4)), ("second", tensor)]


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (math.nan, "second holds NaN: 1 of its 6 values are not finite"),
        (math.inf, "second holds infinity: 1 of its 6 values are not finite"),
        (-math.inf, "second holds infinity: 1 of its 6 values are not finite"),
        (2 * LARGEST, "second holds 2.0e+05, and weights may be at most 100,000"),
        (-2 * LARGEST, "second holds 2.0e+05, and weights may be at most 100,000"),
    ],
)
def test_the_first_tensor_that_holds_no_number_is_named(value, told):
    assert wrong_tensor(weights(value)) == told


def test_infinity_beside_nan_is_counted_too():
    assert "NaN: 2 of its 2" in wrong_tensor([("w", torch.tensor([math.nan, math.inf]))])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_numbers_of_every_type_and_no_numbers_at_all_pass(dtype):
    assert wrong_tensor(weights(-7.0, dtype)) == ""
    assert (
        wrong_tensor([("empty", torch.zeros(0, dtype=dtype)), ("ids", torch.tensor(2**40))]) == ""
    )


def test_counts_may_be_larger_than_weights():
    assert wrong_tensor(weights(1e9, torch.float64)) == ""
    assert wrong_tensor(weights(math.inf, torch.float64)) != ""


def test_a_layer_of_the_largest_weights_does_not_overflow():
    """Gated products of two wide layers on a normalised row, as a Llama-type block has them."""
    width = 1024
    row = torch.full((width,), LARGEST)  # a norm whose gain is as large as it may be
    wide = LARGEST * row.sum()
    assert math.isfinite(wide * wide * LARGEST * 4 * width)
    assert math.isfinite(wide * wide * width)  # the score of a query and a key
