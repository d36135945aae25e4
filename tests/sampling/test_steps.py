"""Each step against the logits processor of transformers, and against its own definition."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from llmviz.sampling import entropy, nucleus_size, softmax
from llmviz.sampling import steps as pure

RNG = np.random.default_rng(0)
ROWS = {
    "flat": RNG.normal(size=500) * 0.1,
    "random": RNG.normal(size=1000) * 3,
    "peaked": np.concatenate([[30.0, 29.0, 5.0], RNG.normal(size=300)]),
    "small": np.array([0.3, -1.0, 2.0, 0.0]),
}
PREVIOUS = [0, 2, 2, 3, 0]
row = pytest.mark.parametrize("logits", ROWS.values(), ids=ROWS.keys())
any_logits = arrays(np.float64, st.integers(1, 12), elements=st.integers(-4, 4).map(float))


@row
@pytest.mark.parametrize(
    ("name", "step", "values"),
    [
        ("TemperatureLogitsWarper", pure.apply_temperature, [0.05, 0.7, 1.0, 3.0]),
        ("TopKLogitsWarper", pure.keep_top_k, [1, 3, 4]),
        ("TopPLogitsWarper", pure.keep_top_p, [1e-9, 0.1, 0.5, 0.9, 0.999]),
        ("MinPLogitsWarper", pure.keep_min_p, [0.0, 0.05, 0.5, 1.0]),
        (
            "RepetitionPenaltyLogitsProcessor",
            lambda logits, penalty: pure.penalise_repetition(logits, PREVIOUS, penalty),
            [0.5, 1.0, 1.3, 5.0],
        ),
        ("SuppressTokensLogitsProcessor", pure.ban, [[3, 1, 3]]),
    ],
)
def test_each_step_equals_the_processor_of_transformers(logits, name, step, values):
    from transformers.generation import logits_process as theirs

    for value in values:
        processor = getattr(theirs, name)(value)
        expected = processor(torch.tensor([PREVIOUS]), torch.tensor(logits)[None].clone())[0]
        np.testing.assert_allclose(step(logits, value), expected, rtol=1e-12)


@given(any_logits, st.data())
def test_exactly_k_survive_ties_lowest_id_first(logits, data):
    k = data.draw(st.integers(1, logits.size))
    kept = np.flatnonzero(~np.isneginf(pure.keep_top_k(logits, k)))
    assert kept.tolist() == sorted(sorted(range(logits.size), key=lambda i: (-logits[i], i))[:k])


@given(any_logits, st.floats(0.001, 0.999))
def test_nucleus_is_the_smallest_set_that_reaches_p(logits, p):
    probabilities = softmax(logits)
    kept = ~np.isneginf(pure.keep_top_p(logits, p))
    mass, smallest_kept = probabilities[kept].sum(), probabilities[kept].min()
    assert kept.sum() >= 1
    assert mass >= p - 1e-9
    assert mass - smallest_kept < p  # one fewer would not reach it
    assert (probabilities[~kept] <= smallest_kept).all()


@pytest.mark.parametrize("spread", [0.01, 1.0, 5.0])
def test_nucleus_over_a_full_vocabulary_is_counted_one_by_one(spread):
    logits = np.random.default_rng(7).normal(size=20_000) * spread
    exps = [math.exp(z) for z in logits]
    total, mass, expected = math.fsum(exps), 0.0, set()
    for i in sorted(range(len(exps)), key=lambda i: -exps[i]):
        expected.add(i)
        mass += exps[i] / total
        if mass >= 0.92:
            break
    assert set(np.flatnonzero(~np.isneginf(pure.keep_top_p(logits, 0.92)))) == expected
    assert nucleus_size(softmax(logits), 0.92) == len(expected)
    # On the 50 largest alone the nucleus would come out too small.
    if len(expected) > 50:
        assert nucleus_size(softmax(np.sort(logits)[-50:]), 0.92) < len(expected)


def test_a_set_that_reaches_p_exactly_is_enough():
    logits = np.log([0.1, 0.5, 0.3, 0.1])
    assert nucleus_size(softmax(logits), 0.8) == 2
    assert nucleus_size(softmax(np.zeros(10)), 0.3) == 3
    short_of_one = np.array([0.0, 0.5, 0.5 - 1e-9, 0.0])  # all there is does not reach p
    assert nucleus_size(short_of_one, 1.0) == 2


def test_p_of_one_keeps_even_what_rounds_to_nothing():
    logits = np.array([0.0, -50.0, -800.0])
    assert not np.isneginf(pure.keep_top_p(logits, 1.0)).any()


@given(any_logits)
def test_temperature_zero_is_arg_max_and_lowest_id(logits):
    kept = np.flatnonzero(~np.isneginf(pure.apply_temperature(logits, 0.0)))
    assert kept.tolist() == [int(logits.argmax())]


def test_temperature_at_infinity_is_uniform_over_what_is_not_cut():
    probabilities = softmax(pure.apply_temperature(np.array([3.0, -np.inf, 1.0]), math.inf))
    assert probabilities.tolist() == [0.5, 0, 0.5]


def test_entropy_limits():
    assert entropy(np.array([1.0, 0.0])) == 0
    assert entropy(np.full(8, 1 / 8)) == pytest.approx(math.log(8))
    rows = softmax(RNG.normal(size=(3, 5)))
    expected = torch.distributions.Categorical(torch.tensor(rows)).entropy().numpy()
    np.testing.assert_allclose(entropy(rows), expected)


def test_logits_of_any_kind_are_taken_and_left_alone():
    half = torch.tensor([1.0, 2.0], dtype=torch.bfloat16, requires_grad=True)
    assert pure.as_logits(half).tolist() == [1, 2]
    given_row = np.array([1.0, 2.0])
    pure.ban(pure.as_logits(given_row), [0])
    assert given_row.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda z: pure.apply_temperature(z, -0.1), r"0 \(arg-max\) or above; got -0.1"),
        (lambda z: pure.apply_temperature(z, math.nan), "got nan"),
        (lambda z: pure.apply_temperature(z, 1e-320), "too small to divide by"),
        (lambda z: pure.apply_temperature(z - z.max() - 1e300 * (z < 0), 1e-20), "too small to"),
        (lambda z: pure.keep_top_k(z, 0), "1 or more; got 0"),
        (lambda z: pure.keep_top_k(z, 2.5), "whole number of tokens, 1 or more; got 2.5"),
        (lambda z: pure.keep_top_k(z, 5), "must not exceed the vocabulary of 4 tokens; got 5"),
        (lambda z: pure.keep_top_p(z, 0), "above 0 and at most 1 .*got 0; use temperature 0"),
        (lambda z: pure.keep_top_p(z, 1.01), "got 1.01"),
        (lambda z: pure.keep_top_p(z, math.nan), "got nan"),
        (lambda z: pure.keep_min_p(z, -0.1), "min_p must be from 0"),
        (lambda z: pure.keep_min_p(z, math.nan), "min_p must be from 0"),
        (lambda z: pure.penalise_repetition(z, [], 0), "above 0"),
        (lambda z: pure.penalise_repetition(z, [4], 2), "previous ids must be from 0 to 3"),
        (lambda z: pure.ban(z, [-1]), "banned ids must be from 0 to 3 .*got -1"),
        (lambda z: pure.as_logits(z[None]), "one row"),
        (lambda z: pure.as_logits([]), "one row"),
        (lambda z: pure.as_logits([0, math.nan]), "token 1 has nan"),
        (lambda z: pure.as_logits([math.inf, 0]), "token 0 has inf"),
        (lambda z: pure.as_logits([-math.inf] * 3), "every token is cut already"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call(ROWS["small"])
