"""Numbers in few bits: typed ones, sums, gradients and updates, trainings in several precisions."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as some

from llmviz.course.lessons.efficiency.bits import step_gradients
from llmviz.course.lessons.efficiency.bits.precision_race import (
    WAYS,
    PrecisionEnd,
    PrecisionStep,
    precision_race,
)
from llmviz.course.lessons.efficiency.bits.small_sums import running_sums
from llmviz.course.lessons.efficiency.bits.typed_number import read_number
from llmviz.pretrained import load_bundled
from llmviz.quantization.formats import BFLOAT16, FLOAT16, FLOAT32, FORMATS


@settings(deadline=None)
@given(some.floats())
def test_every_float_is_read_as_it_is_written(value):
    read = read_number(repr(value))
    assert read == value or (math.isnan(read) and math.isnan(value))
    assert math.isnan(value) or math.copysign(1, read) == math.copysign(1, value)


@settings(deadline=None, max_examples=60)
@given(some.text(max_size=80))
def test_any_text_is_read_or_refused_in_one_line(text):
    try:
        assert isinstance(read_number(text), float)
    except ValueError as error:
        assert "\n" not in str(error) and str(error)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("", "a number is needed"),
        ("   ", "a number is needed"),
        ("abc", "a number is needed, .* got 'abc'"),
        ("1_000", "a number is needed"),
        ("0x10", "a number is needed"),
        ("snan", "a number is needed"),
        ("1,5", "a number is needed"),
        ("1e400", "1e400 is too large"),
        ("-1e400", "-1e400 is too large"),
        ("1e-400", "1e-400 is too small"),
        ("1e999999999999", "too large"),
        ("1" * 61, "may have 60 characters; got 61"),
    ],
)
def test_what_is_refused_says_the_rule(text, rule):
    with pytest.raises(ValueError, match=rule):
        read_number(text)


def test_a_true_minus_and_spaces_are_read():
    assert read_number(" −0.5 ") == -0.5
    assert read_number("1e-60") == 1e-60
    assert math.isinf(read_number("inf")) and math.isnan(read_number("nan"))


numbers = some.floats(2.0**-10, 2.0**10)


@settings(deadline=None, max_examples=40)
@given(numbers, numbers, some.integers(1, 60))
def test_each_addition_is_the_exact_sum_rounded_once(large, small, n):
    """Of two numbers of a format, in float64, where their sum is exact."""
    for name, one in running_sums(large, small, n).items():
        format = FORMATS[name]
        total = float(format.round(large))
        assert one.running[0] == one.large == total
        assert one.small == float(format.round(small))
        for sum_so_far in one.running[1:]:
            total = float(format.round(total + one.small))
            assert sum_so_far == total


@pytest.mark.parametrize("name", ["float32", "float16"])
def test_the_sum_one_by_one_is_that_of_numpy(name):
    kind = np.dtype(name).type
    given_numbers = np.array([256.0, *[0.1] * 1000], dtype=kind)
    theirs = np.add.accumulate(given_numbers, dtype=kind)
    ours = running_sums(256.0, 0.1, 1000)[name]
    np.testing.assert_array_equal(ours.running, theirs.astype(np.float64))


def test_bfloat16_stands_still_where_the_small_number_is_below_half_the_distance():
    assert (running_sums(1.0, 0.001, 100)["bfloat16"].running == 1.0).all()
    assert torch.finfo(torch.bfloat16).eps / 2 > 0.001


def test_no_addition_is_refused():
    with pytest.raises(ValueError, match="at least one number must be added; got n=0"):
        running_sums(1.0, 1.0, 0)


NAME = "names-gpt"


@pytest.fixture(scope="module")
def step() -> step_gradients.RealStep:
    return step_gradients.real_step(NAME)


def counted_by_torch(sizes: np.ndarray, power: int) -> step_gradients.Fates:
    """What torch makes of sizes in float16."""
    given_sizes = torch.from_numpy(sizes)
    half = (given_sizes.double() * 2.0**power).to(torch.float32).to(torch.float16).double()
    normal = (half >= 2.0**-14) & half.isfinite()
    zero = given_sizes == 0
    vanish = (half == 0) & ~zero
    infinite = half.isinf()
    other = ~(normal | zero | vanish | infinite)
    return step_gradients.Fates(
        *(int(one.sum()) for one in (zero, vanish, other, normal, infinite))
    )


@settings(deadline=None, max_examples=60)
@given(
    some.lists(some.floats(0, 2.0**20, width=32), max_size=40),
    some.integers(-20, 40),
    some.sampled_from([0, 1, 5, 24]),
)
def test_the_counts_are_those_of_torchs_float16(sizes, exponent, power):
    edges = [2.0**-25, 2.0**-24, 2.0**-14, 2.0**-14 - 2.0**-25, 65504.0, 65520.0, 2.0**exponent]
    beside = [np.nextafter(np.float32(one), np.float32(to)) for one in edges for to in (0, np.inf)]
    values = np.sort(np.array([*sizes, *edges, *beside], dtype=np.float32) / np.float32(2**power))
    fates = step_gradients.Sizes(values).fates(power)
    assert fates == counted_by_torch(values, power)
    assert fates.total == len(values) and 0 <= fates.lost <= 1


@settings(deadline=None, max_examples=60)
@given(some.lists(some.floats(0, 2.0**60, width=32), max_size=40))
def test_the_powers_hold_every_size_but_zero_once(sizes):
    values = np.sort(np.array(sizes, dtype=np.float32))
    powers, counts = step_gradients.Sizes(values).powers
    above = values[values > 0].astype(np.float64)
    assert counts.sum() == len(above)
    for power, count in zip(powers.tolist(), counts.tolist(), strict=True):
        assert count == ((above >= 2.0**power) & (above < 2.0 ** (power + 1))).sum()


def test_the_gradients_are_those_of_torch_and_of_every_layer(step):
    model, tokenizer, card = load_bundled(NAME)
    data = step_gradients.batches_of(card["corpus"], tokenizer, model.context_length)
    model.requires_grad_(True)
    inputs, targets = data.batch(step_gradients.BATCHES, step_gradients.ROWS[NAME])
    loss = model(inputs, targets)[1]
    gradients = torch.autograd.grad(loss, list(model.parameters()))
    flat = torch.cat([one.reshape(-1).abs() for one in gradients]).sort().values
    np.testing.assert_allclose(
        step.gradients[step_gradients.WEIGHTS].sizes, flat.numpy(), atol=1e-9
    )
    assert step.loss == pytest.approx(float(loss.detach()), rel=1e-6)
    assert step.tokens == int((targets >= 0).sum())
    width, layers = model.config.n_embd, model.config.n_layer
    assert len(step.gradients[step_gradients.ACTIVATIONS].sizes) == inputs.numel() * width * layers


def test_a_scaled_loss_gives_the_shifted_gradients_bit_for_bit():
    """What the page shows: the bars move, and nothing has to be computed again."""
    model, tokenizer, card = load_bundled(NAME)
    batch = step_gradients.batches_of(card["corpus"], tokenizer, model.context_length).batch(1, 8)
    model.requires_grad_(True)
    *_, own, ends = step_gradients.gradients_of(model, batch)
    for power in (3, 16):
        *_, scaled, scaled_ends = step_gradients.gradients_of(model, batch, 2.0**power)
        for plain, other in zip(
            (*own.values(), *ends), (*scaled.values(), *scaled_ends), strict=True
        ):
            assert torch.equal(plain * 2.0**power, other)


def test_the_direction_is_the_one_that_torchs_adam_takes(step):
    gradients = torch.randn(6, 50, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    gradients *= 10.0 ** torch.arange(50).remainder(9).neg()  # some as small as Adam's ε
    weights = torch.zeros(50, dtype=torch.float64)
    optimizer = torch.optim.Adam(
        [weights], lr=1.0, betas=step_gradients.BETAS, eps=step_gradients.EPSILON
    )
    for one in gradients:
        before, weights.grad = weights.clone(), one
        optimizer.step()
    torch.testing.assert_close(before - weights, step_gradients.adam_direction(gradients))
    assert len(step.direction) == len(step.weights) > 50_000
    assert np.isfinite(step.direction).all()


@pytest.mark.parametrize(("format", "kind"), [(BFLOAT16, torch.bfloat16), (FLOAT16, torch.float16)])
def test_an_update_is_lost_where_torch_writes_the_same_weight_again(step, format, kind):
    weights = torch.from_numpy(step.weights).to(kind)
    for rate in (1e-2, 1e-3, 1e-5):
        after = (weights.double() - rate * torch.from_numpy(step.direction)).to(kind)
        theirs = float((after == weights).double().mean())
        assert step.lost_updates(format, rate) == pytest.approx(theirs, abs=1e-4)


def test_fewer_digits_and_smaller_rates_lose_more(step):
    rates = (1e-2, 1e-3, 1e-4, 1e-5)
    shares = {
        one.name: [step.lost_updates(one, rate) for rate in rates]
        for one in (FLOAT32, FLOAT16, BFLOAT16)
    }
    for own in shares.values():
        assert own == sorted(own)
    for fewer, more in (("bfloat16", "float16"), ("float16", "float32")):
        assert all(a >= b for a, b in zip(shares[fewer], shares[more], strict=True))
    powers, counts = step_gradients.update_steps(step, BFLOAT16, 1e-3)
    under = counts[powers < -2].sum() / counts.sum()
    assert under <= step.lost_updates(BFLOAT16, 1e-3) <= counts[powers < 0].sum() / counts.sum()


def test_a_model_that_is_not_known_is_refused():
    with pytest.raises(ValueError, match="the model must be one of names-gpt"):
        step_gradients.real_step("x")


def run(ways, steps, shrink=0):
    results = list(precision_race(tuple(ways), steps, shrink))
    found = {way: [one for one in results if one.way == way] for way in ways}
    assert all(isinstance(own[-1], PrecisionEnd) for own in found.values())
    return {way: (own[:-1], own[-1]) for way, own in found.items()}


def test_every_way_takes_turns_from_one_start_and_says_what_it_lost():
    results = list(precision_race(tuple(WAYS), 3))
    order = [one.way for one in results if isinstance(one, PrecisionStep)]
    assert order == list(WAYS) * 3
    first = [one for one in results if isinstance(one, PrecisionStep) and one.step == 1]
    for one in first:  # nothing is learned yet: the uniform guess, in every precision
        assert one.loss == pytest.approx(first[0].loss, abs=5e-3)
        assert one.loss == pytest.approx(math.log(29), abs=0.4)
    steps = [one for one in results if isinstance(one, PrecisionStep)]
    assert all(0 <= one.zero <= 1 and 0 <= one.unchanged <= 1 for one in steps)
    assert [one.problem for one in results if isinstance(one, PrecisionEnd)] == [""] * len(WAYS)
    last = [one for one in steps if one.step == 3]
    assert all(one.held_out is not None for one in last)


def test_where_the_loss_is_small_float16_needs_its_scale():
    found = run(("float32", "float16-scaled", "float16"), 8, shrink=14)
    ends = {way: own[-1] for way, (own, _) in found.items()}
    plain, scaled, bare = (ends[way] for way in ("float32", "float16-scaled", "float16"))
    assert scaled.held_out == pytest.approx(plain.held_out, abs=0.02)
    assert bare.held_out > plain.held_out + 0.1
    assert bare.zero > 0.5 > plain.zero + 0.3


def test_weights_in_16_bits_lose_updates_that_float32_keeps():
    found = run(("bfloat16", "bfloat16-all"), 6)
    kept, lost = (found[way][0] for way in ("bfloat16", "bfloat16-all"))
    for a, b in zip(kept, lost, strict=True):
        assert a.unchanged < b.unchanged


def test_a_smaller_loss_changes_nothing_in_float32():
    plain = run(("float32",), 4)["float32"][0]
    shrunk = run(("float32",), 4, shrink=6)["float32"][0]
    for a, b in zip(plain, shrunk, strict=True):
        assert b.loss == pytest.approx(a.loss, rel=1e-3)


@pytest.mark.parametrize("ways", [(), ("float32", "float32"), ("float64",)])
def test_ways_that_are_none_are_refused(ways):
    with pytest.raises(ValueError, match="the ways must be different ones of float32"):
        next(precision_race(ways, 2))
