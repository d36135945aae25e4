"""Positions: the identities that they are made for."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from llmviz.nn.positions import (
    Rotary,
    ntk_base,
    rotary_angles,
    sinusoidal_positions,
    sinusoidal_shift,
    stretched,
    turned,
    yarn_scaling,
    yarn_sharpening,
)

BASES = [100.0, 10_000.0, 500_000.0]


@pytest.mark.parametrize("base", BASES)
@given(st.integers(0, 200), st.integers(0, 200), st.integers(-100, 100))
@settings(max_examples=25)
def test_rotary_scores_depend_on_distance_alone(base, m, n, shift):
    generator = torch.Generator().manual_seed(m + 7 * n)
    q, k = torch.randn(2, 1, 16, generator=generator, dtype=torch.float64)

    def score(a: int, b: int) -> torch.Tensor:
        at = torch.tensor([a, b], dtype=torch.float64)
        return turned(q, at[:1], base) @ turned(k, at[1:], base).T

    assert torch.allclose(score(m, n), score(m + shift, n + shift), atol=1e-9)
    assert torch.allclose(score(0, 0), q @ k.T)


def test_turning_at_given_positions_is_what_the_model_does():
    x = torch.randn(1, 3, 12, 8)
    rotary = Rotary(20, 8)
    expected = rotary(x, start=4)
    for head in range(3):
        assert torch.allclose(turned(x[0, head], torch.arange(4, 16)), expected[0, head], atol=1e-5)


def test_turning_keeps_lengths_and_turns_each_pair_by_its_angle():
    x = torch.randn(1, 6)
    at = torch.tensor([5.0])
    assert torch.allclose(turned(x, at).norm(), x.norm())
    angles = rotary_angles(at, 6)[0]
    assert angles.tolist() == pytest.approx([5 / 10_000 ** (2 * i / 6) for i in range(3)])
    pairs = torch.complex(x[0, :3], x[0, 3:]) * torch.polar(torch.ones(3), angles)
    assert torch.allclose(turned(x, at)[0], torch.cat((pairs.real, pairs.imag)), atol=1e-6)


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("steps", [0, 1, 7, -3])
def test_one_matrix_moves_every_sinusoidal_position_on(steps, base):
    table = sinusoidal_positions(60, 12, base).double()
    shift = sinusoidal_shift(steps, 12, base).double()
    start, end = max(0, -steps), 60 - max(0, steps)
    moved = table[start:end] @ shift
    assert torch.allclose(moved, table[start + steps : end + steps], atol=1e-4)
    assert torch.allclose(shift @ shift.T, torch.eye(12, dtype=torch.float64), atol=1e-6)


def test_sinusoidal_products_depend_on_distance_alone():
    table = sinusoidal_positions(50, 16).double()
    products = table @ table.T
    for distance in range(10):
        line = products.diagonal(distance)
        assert torch.allclose(line, line[:1].expand_as(line), atol=1e-4)
    assert torch.allclose(products.diagonal(), torch.full((50,), 8.0, dtype=torch.float64))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sinusoidal_positions(4, 5), "even width; got 5"),
        (lambda: sinusoidal_shift(1, 5), "even width; got 5"),
        (lambda: Rotary(4, 3), "even head size; got 3"),
        (lambda: rotary_angles(torch.arange(3), 7), "even head size; got 7"),
        (lambda: turned(torch.ones(1, 3), torch.arange(3)), "even head size; got 3"),
    ],
)
def test_odd_widths_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def turns_of(base: float, d: int) -> torch.Tensor:
    """How far each pair turns from one position to the next."""
    return rotary_angles(torch.ones(1, dtype=torch.float64), d, base)[0]


@pytest.mark.parametrize("factor", [1.0, 2.0, 8.0])
@pytest.mark.parametrize("d", [4, 16, 64])
def test_the_ntk_base_slows_the_slowest_pair_by_the_factor_and_the_quickest_not_at_all(factor, d):
    slowed = turns_of(10_000.0, d) / turns_of(ntk_base(10_000.0, d, factor), d)
    assert slowed[0] == pytest.approx(1.0)
    assert slowed[-1] == pytest.approx(factor, rel=1e-6)
    assert (slowed.diff() >= -1e-6).all()


def test_yarn_slows_whole_turns_not_at_all_and_slow_pairs_as_interpolation_does():
    """So within the stretched context no slow pair stands at an angle that it never had."""
    before, factor, context = turns_of(10_000.0, 64), 4.0, 128
    after = stretched(before, yarn_scaling(factor, context))
    turned_in_context = context * before / (2 * torch.pi)
    assert torch.allclose(after[turned_in_context >= 32], before[turned_in_context >= 32])
    slow = turned_in_context <= 1
    assert slow.any() and torch.allclose(after[slow], stretched(before, (factor,))[slow])
    assert (after <= before).all() and (after >= before / factor * (1 - 1e-6)).all()
    farthest = after[slow] * (factor * context)
    assert (farthest <= before[slow] * context * (1 + 1e-6)).all()


def test_no_stretch_changes_nothing_and_a_shrinking_is_refused():
    before = turns_of(10_000.0, 32)
    assert torch.equal(stretched(before, yarn_scaling(1.0, 64)), before)
    assert ntk_base(500.0, 32, 1.0) == 500.0 and yarn_sharpening(1.0) == 1.0
    assert yarn_sharpening(16.0) > yarn_sharpening(4.0) > 1
    for call in (lambda f: ntk_base(1e4, 8, f), lambda f: yarn_scaling(f, 64), yarn_sharpening):
        for factor in (0.5, 0.0, -1.0, float("inf"), float("nan")):
            with pytest.raises(ValueError, match="factor"):
                call(factor)
    for d in (2, 7):
        with pytest.raises(ValueError, match="head size"):
            ntk_base(1e4, d, 2.0)
