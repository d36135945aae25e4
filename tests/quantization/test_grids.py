"""Weights on a grid: half a step, odd rows, torch's own int8 and int4, refusals."""

import dataclasses
import warnings

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as some

from llmviz.nn import fast_linear
from llmviz.quantization.grids import dequantize, expand, quantize, quantize_steps
from llmviz.quantization.kernels import has_int4, int4_product, int8_product
from llmviz.quantization.scheme import PER, Scheme

sizes = some.floats(0, 10) | some.just(0.0) | some.floats(0, 1e-7)


@some.composite
def matrices(draw):
    """A matrix (R, 8) of any size, with rows that are constant, zero, or hold one large weight."""
    rows = draw(some.integers(1, 4))
    seed, size = draw(some.integers(0, 2**31)), draw(sizes)
    w = torch.randn(rows, 8, generator=torch.Generator().manual_seed(seed)) * size
    row = draw(some.integers(0, rows - 1))
    match draw(some.sampled_from(["plain", "zero", "constant", "large", "above", "below"])):
        case "zero":
            w[row] = 0
        case "constant":
            w[row] = draw(some.floats(-3, 3))
        case "large":
            w[row, draw(some.integers(0, 7))] *= 1000
        case "above":
            w = w.abs() + 1
        case "below":
            w = -w.abs() - 1
    return w


schemes = some.builds(
    Scheme,
    bits=some.integers(2, 8),
    symmetric=some.booleans(),
    per=some.sampled_from(PER),
    group=some.sampled_from([1, 2, 4, 8]),
)


NORMAL = torch.finfo(torch.float16).tiny  # below it float16 is coarse: a step may double there


@settings(max_examples=200)
@given(matrices(), schemes)
@example(torch.tensor([[1.3e-6] * 7 + [0.9e-6]]), Scheme(4, symmetric=True, per="tensor"))
def test_no_weight_moves_by_more_than_half_a_step(w, scheme):
    found = quantize(w, scheme)
    each = expand(found.scale, w.shape)
    assert bool(((dequantize(found) - w).abs() <= each * 0.5 * (1 + 1e-4)).all())
    assert found.codes.min() >= scheme.lowest and found.codes.max() <= scheme.highest
    assert torch.equal(found.scale.half().float(), found.scale)  # what is stored is what was used
    # A second rounding changes nothing: what is on the grid stays. Where a step is so small that
    # float16 holds it coarsely, the second grid may be finer, and keeps to its own half step.
    if scheme.symmetric:
        on_grid = dequantize(found)
        again = quantize(on_grid, scheme)
        moved, normal = (dequantize(again) - on_grid).abs(), each >= NORMAL
        assert bool((moved[normal] <= on_grid[normal].abs() * 1e-3).all())
        assert bool((moved <= expand(again.scale, w.shape) * 0.5 * (1 + 1e-4)).all())


@settings(max_examples=50)
@given(matrices(), schemes)
def test_zero_stays_zero(w, scheme):
    w = w.clone()
    w[0, 0] = 0.0
    assert dequantize(quantize(w, scheme))[0, 0] == 0


@settings(max_examples=40)
@given(matrices(), schemes, some.floats(0.05, 0.9))
def test_a_clipped_grid_cuts_what_is_beyond_it_to_its_end(w, scheme, clip):
    steps = quantize_steps(w, dataclasses.replace(scheme, clip=clip))
    each = expand(steps.scale, w.shape)
    cut = steps.shifted != steps.codes
    assert bool((steps.error[~cut].abs() <= each[~cut] * 0.5 * (1 + 1e-4)).all())
    ends = torch.tensor([scheme.lowest, scheme.highest])
    assert bool(torch.isin(steps.codes[cut], ends).all())


@pytest.mark.parametrize("clip", [0.3, 0.6, 1.0])
def test_an_uneven_grid_reaches_the_share_of_both_ends(clip):
    w = torch.tensor([[-1.0, 0.25, 3.0, 0.5], [-8.0, -0.5, 0.125, 1.0]])
    scheme = Scheme(8, False, "channel", clip=clip)
    scale, zero = quantize_steps(w, scheme)[:2]
    ends = torch.cat(((0 - zero) * scale, (scheme.highest - zero) * scale), dim=1)
    expected = clip * torch.stack((w.amin(1), w.amax(1)), dim=1)
    assert bool(((ends - expected).abs() <= scale).all())


def test_each_step_follows_from_the_one_before():
    w = torch.randn(5, 12, generator=torch.Generator().manual_seed(0))
    for scheme in (Scheme(3, False, "group", 4), Scheme(5, True, "channel"), Scheme(4, False)):
        scheme = dataclasses.replace(scheme, group=4)
        steps = quantize_steps(w, scheme)
        each = expand(steps.scale, w.shape)
        torch.testing.assert_close(steps.divided * each, w)
        assert bool(((steps.rounded - steps.divided).abs() <= 0.5).all())
        zero = 0 if steps.zero_point is None else expand(steps.zero_point, w.shape)
        assert torch.equal(steps.shifted - zero, steps.rounded)
        assert torch.equal(steps.restored, (steps.codes - zero) * each)
        assert torch.equal(steps.error, steps.restored - w)


def test_more_of_what_shares_a_step_has_no_smaller_step():
    """One large weight stretches the grid of all that share its step, and of nothing else."""
    w = torch.ones(4, 16) * torch.linspace(0.1, 1, 16)
    w[2, 5] = 50.0
    tensor, channel, group = (quantize(w, Scheme(4, True, per, 4)) for per in PER)
    assert tensor.scale.item() == channel.scale[2, 0] == group.scale[2, 1]
    assert channel.scale[0, 0] < 1 and group.scale[2, 0] < 1
    assert (channel.scale[[0, 1, 3]] == channel.scale[0]).all()


@pytest.mark.parametrize("per", ["tensor", "channel"])
@pytest.mark.filterwarnings("ignore:torch.quantize")
def test_int8_gives_torchs_own_codes(per):
    w = torch.randn(6, 10, generator=torch.Generator().manual_seed(3))
    own = quantize(w, Scheme(8, True, per))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if per == "tensor":
            theirs = torch.quantize_per_tensor(w, own.scale.item(), 0, torch.qint8)
        else:
            scale, zero = own.scale[:, 0].double(), torch.zeros(6, dtype=torch.int64)
            theirs = torch.quantize_per_channel(w, scale, zero, 0, torch.qint8)
    assert torch.equal(theirs.int_repr().short(), own.codes)
    torch.testing.assert_close(theirs.dequantize(), dequantize(own))


@pytest.mark.parametrize("bits", [2, 3, 4, 5, 8])
@pytest.mark.parametrize("symmetric", [True, False])
def test_each_row_is_what_torchs_fake_quantization_makes_of_it(bits, symmetric):
    w = torch.randn(5, 12, generator=torch.Generator().manual_seed(bits))
    scheme = Scheme(bits, symmetric, "channel")
    own = quantize(w, scheme)
    zero = torch.zeros(5, dtype=torch.int32) if symmetric else own.zero_point[:, 0].int()
    theirs = torch.fake_quantize_per_channel_affine(
        w, own.scale[:, 0], zero, 0, scheme.lowest, scheme.highest
    )
    torch.testing.assert_close(theirs, dequantize(own))


@pytest.mark.parametrize("narrow", [fast_linear.pairs_saturate, lambda: True])
def test_the_int8_kernel_multiplies_with_these_weights(monkeypatch, narrow):
    monkeypatch.setattr(fast_linear, "pairs_saturate", narrow)
    scheme = Scheme(8, True, "channel")
    w = torch.randn(16, 32, generator=torch.Generator().manual_seed(0))
    x = torch.randn(3, 32, generator=torch.Generator().manual_seed(1))
    own = quantize(w, scheme)
    exact = x @ dequantize(own).T
    off = (int8_product(own, scheme)(x) - exact).abs().max()
    step = (x.max() - x.min()) / (127 if narrow() else 255)  # x is rounded to such steps, too
    assert off <= step * dequantize(own).abs().sum(1).max() * 1.001
    with pytest.raises(ValueError, match="8 bits, a step for each row"):
        int8_product(own, Scheme(8, False, "channel"))


@pytest.mark.skipif(not has_int4(), reason="this torch has no int4 kernel for the processor")
@pytest.mark.parametrize("symmetric", [True, False])
def test_the_int4_kernel_multiplies_with_these_weights(symmetric):
    scheme = Scheme(4, symmetric, "group", 32)
    w = torch.randn(64, 128, generator=torch.Generator().manual_seed(0))
    x = torch.randn(3, 128, generator=torch.Generator().manual_seed(1))
    own = quantize(w, scheme)
    exact = x @ dequantize(own).T
    off = (int4_product(own, scheme)(x) - exact).abs().max()
    assert off <= 0.02 * exact.abs().max()  # bfloat16 has 8 bits of precision
    plain = x @ w.T
    assert off < 0.5 * (plain - exact).abs().max()  # far below what the rounding itself changed
    with pytest.raises(ValueError, match="4 bits and groups of 32"):
        int4_product(own, Scheme(4, symmetric, "group", 16))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"bits": 1}, "bits must be from 2 to 8; got 1"),
        ({"bits": 33}, "bits must be from 2 to 8; got 33"),
        ({"bits": 4.0}, "bits must be a whole number"),
        ({"bits": True}, "bits must be a whole number"),
        ({"group": 0}, "group must be a whole number of at least 1; got 0"),
        ({"per": "layer"}, "per must be one of tensor, channel, group"),
        ({"clip": 0}, "clip must be above 0 and at most 1; got 0"),
        ({"clip": 1.5}, "clip must be above 0 and at most 1; got 1.5"),
        ({"clip": float("nan")}, "clip must be above 0"),
        ({"symmetric": "yes"}, "symmetric must be true or false"),
    ],
)
def test_a_scheme_that_does_not_exist_is_refused(changes, said):
    with pytest.raises(ValueError, match=said):
        Scheme(**changes)


@pytest.mark.parametrize(
    ("w", "said"),
    [
        (torch.full((2, 4), float("nan")), "there is NaN among them"),
        (torch.tensor([[1.0, float("inf")]]), "there is infinity among them"),
        (torch.ones(4), r"must be a matrix; got the shape \(4,\)"),
        (torch.ones(0, 4), "must be a matrix"),
        (torch.ones(2, 4, dtype=torch.int64), "floating-point numbers; got int64"),
        (torch.full((1, 4), 1e30), "a step must be at most 65,504"),
    ],
)
def test_what_is_no_matrix_of_finite_numbers_is_refused(w, said):
    with pytest.raises(ValueError, match=said):
        quantize(w, Scheme(4, per="tensor"))


@pytest.mark.parametrize(
    ("group", "said"),
    [(16, "group must be at most 12, the weights of a row; got 16"), (5, "group must divide 12")],
)
def test_a_group_that_does_not_fit_a_row_is_refused(group, said):
    with pytest.raises(ValueError, match=said):
        quantize(torch.ones(3, 12), Scheme(group=group))
