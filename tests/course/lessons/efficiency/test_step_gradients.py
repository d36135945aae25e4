"""What float16 makes of real gradients and updates: counted, against torch's own conversion."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as some

from llmviz.course.lessons.efficiency.bits import step_gradients
from llmviz.pretrained import load_bundled
from llmviz.quantization.formats import BFLOAT16, FLOAT16, FLOAT32

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
