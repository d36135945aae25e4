"""Each step against transformers and its definition; the pipeline's order, and the draw."""

import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from llmviz.sampling import (
    SamplingSettings,
    entropy,
    nucleus_size,
    sampling_steps,
    softmax,
    softmax_terms,
    temperature_limit,
    usual_order,
)
from llmviz.sampling import steps as pure
from llmviz.sampling.kinds import STEPS

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
def test_bad_input_of_a_step_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call(ROWS["small"])


LOGITS = RNG.normal(size=200) * 2
SETTINGS = dict(
    temperature=0.8, top_k=40, top_p=0.9, min_p=0.02, repetition_penalty=1.3, previous=[3, 5, 3]
)


def test_all_steps_together_equal_transformers():
    from transformers.generation import logits_process as theirs

    scores = torch.tensor(LOGITS)[None]
    ids = torch.tensor([[3, 5, 3]])
    for processor in (
        theirs.RepetitionPenaltyLogitsProcessor(1.3),
        theirs.TemperatureLogitsWarper(0.8),
        theirs.TopKLogitsWarper(40),
        theirs.TopPLogitsWarper(0.9),
        theirs.MinPLogitsWarper(0.02),
    ):
        scores = processor(ids, scores.clone())
    expected = torch.softmax(scores, -1)[0].numpy()
    np.testing.assert_allclose(sampling_steps(LOGITS, **SETTINGS).probabilities, expected)


def test_each_step_says_what_it_did():
    steps = sampling_steps(LOGITS, **SETTINGS)
    assert tuple(step.name for step in steps.steps) == usual_order()
    assert [step.name for step in steps.steps if step.active] == [
        name for name in usual_order() if name in SETTINGS
    ]
    before = softmax(LOGITS)
    alive = np.ones(200, dtype=bool)
    for step in steps.steps:
        np.testing.assert_array_equal(step.before, before)
        np.testing.assert_array_equal(step.kept, alive & ~step.cut)
        left = np.where(step.cut, 0.0, step.before)
        assert left.sum() == pytest.approx(1 - step.mass_cut)
        assert step.probabilities.sum() == pytest.approx(1)
        if step.name in ("top_k", "top_p", "min_p"):  # a cut only renormalises
            np.testing.assert_allclose(step.probabilities, left / left.sum())
        before, alive = step.probabilities, step.kept
    np.testing.assert_array_equal(steps.probabilities, before)
    np.testing.assert_array_equal(steps.kept, alive)
    assert steps["top_k"].kept.sum() == 40


def test_every_order_runs_and_order_matters():
    names = ("repetition_penalty", "temperature", "top_k", "top_p", "min_p")
    results = {}
    for order in itertools.permutations(names):
        steps = sampling_steps(LOGITS, **SETTINGS | {"temperature": 3, "top_k": 150}, order=order)
        shown = [step.name for step in steps.steps]
        assert [name for name in shown if name in order] == list(order)
        assert shown[0] == "banned" and sorted(shown) == sorted(usual_order())
        results[order] = int(steps.kept.sum())
    hot_first = results["repetition_penalty", "temperature", "top_p", "top_k", "min_p"]
    hot_last = results["repetition_penalty", "top_p", "top_k", "min_p", "temperature"]
    assert hot_last < hot_first  # heat spreads the mass, so the nucleus is larger after it


@pytest.mark.parametrize("strip", ["id", "probability"])
@pytest.mark.parametrize("settings", [{}, {"top_k": 7}, SETTINGS, {"temperature": 0.0}])
def test_token_is_the_inverse_cumulative_of_u(strip, settings):
    steps = sampling_steps(LOGITS, **settings, strip=strip)
    p = steps.probabilities
    order = range(200) if strip == "id" else sorted(range(200), key=lambda i: (-p[i], i))
    for u in np.random.default_rng(1).random(2000):
        token = steps.draw(u)
        begin, end = steps.interval(token)
        assert begin <= u < end
    assert steps.kept[steps.draw(np.nextafter(1, 0))]
    for u in [0.0, *np.random.default_rng(2).random(200)]:
        total = 0.0
        for expected in order:
            total += p[expected]
            if total / math.fsum(p) > u and p[expected] > 0:
                break
        assert steps.draw(float(u)) == expected
    us = np.random.default_rng(3).random(3000)
    assert steps.draw_many(us).tolist() == [steps.draw(u) for u in us]


def test_a_token_without_probability_is_never_drawn():
    steps = sampling_steps(np.array([0.0, 1.0, 0.5, 3.0, 1.0]), banned=[0, 3, 4])
    assert set(steps.draw_many(np.linspace(0, 1, 10_001)[:-1])) == {1, 2}
    assert steps.draw(0.0) == 1
    assert steps.draw(np.nextafter(1, 0)) == 2


def test_frequencies_of_100_000_draws_pass_a_chi_square_test():
    from scipy.stats import chisquare

    steps = sampling_steps(LOGITS, temperature=1.5, top_k=25)
    drawn = steps.draw_many(100_000, torch.Generator().manual_seed(0))
    counts = np.bincount(drawn, minlength=200)
    assert (counts[~steps.kept] == 0).all()
    expected = steps.probabilities[steps.kept] * 100_000
    assert chisquare(counts[steps.kept], expected).pvalue > 0.01


def test_generator_replays_and_one_draw_is_the_first_of_many():
    steps = sampling_steps(LOGITS)
    many = steps.draw_many(50, torch.Generator().manual_seed(5))
    assert many.tolist() == steps.draw_many(50, torch.Generator().manual_seed(5)).tolist()
    assert steps.draw(torch.Generator().manual_seed(5)) == many[0]


def test_bars_and_what_they_hide_are_everything():
    steps = sampling_steps(LOGITS, **SETTINGS)
    bars = steps.bars(12)
    assert bars.ids.tolist() == np.argsort(-LOGITS, kind="stable")[:12].tolist()
    assert bars.names == ("logits", *usual_order())
    np.testing.assert_allclose(bars.probabilities.sum(axis=1) + bars.hidden_mass, 1)
    alive = [200, *(int(step.kept.sum()) for step in steps.steps)]
    assert (bars.kept.sum(axis=1) + bars.hidden_tokens).tolist() == alive
    assert steps.bars(10_000).hidden_tokens.tolist() == [0] * len(bars.names)
    assert [steps.rank(i) for i in bars.ids] == list(range(1, 13))


def test_ranks_settle_ties_by_lowest_id():
    steps = sampling_steps([1.0, 2.0, 2.0, 0.0])
    assert [steps.rank(i) for i in range(4)] == [3, 1, 2, 4]
    assert steps.top(3).tolist() == [1, 2, 0]


def test_softmax_arithmetic_and_the_limits_of_temperature():
    terms = softmax_terms([1.0, 2.0, 4.0], 2.0)
    np.testing.assert_allclose(terms.scaled, [0.5, 1, 2])
    assert terms.shifted.max() == 0
    np.testing.assert_allclose(terms.exps, np.exp(terms.shifted))
    assert terms.total == pytest.approx(terms.exps.sum())
    expected = torch.softmax(torch.tensor([0.5, 1.0, 2.0], dtype=torch.float64), 0)
    np.testing.assert_allclose(terms.probabilities, expected)
    cold = temperature_limit(LOGITS, 0)
    np.testing.assert_allclose(softmax_terms(LOGITS, 1e-3).probabilities, cold, atol=1e-6)
    np.testing.assert_array_equal(sampling_steps(LOGITS, temperature=0).probabilities, cold)
    hot = temperature_limit(LOGITS, math.inf)
    np.testing.assert_allclose(softmax_terms(LOGITS, 1e6).probabilities, hot, atol=1e-6)
    cut = [1.0, -math.inf, 3.0, 3.0]
    assert temperature_limit(cut, 0).tolist() == [0, 0, 0.5, 0.5]
    assert temperature_limit(cut, math.inf).tolist() == pytest.approx([1 / 3, 0, 1 / 3, 1 / 3])


def test_entropy_rises_with_temperature_from_nothing_to_ln_v():
    stops = [0.0, *np.linspace(0.05, 10, 40), math.inf]
    curve = [entropy(sampling_steps(LOGITS, temperature=stop).probabilities) for stop in stops]
    assert curve[0] == 0
    assert (np.diff(curve) > 0).all()
    assert curve[-1] == pytest.approx(math.log(200))


def test_a_combination_that_cuts_everything_is_refused_with_the_reason():
    order = ("top_k", "banned", "temperature", "top_p", "min_p", "repetition_penalty")
    with pytest.raises(ValueError, match="no token is left to draw: top_k = 1 left only"):
        sampling_steps([0.0, 3.0], top_k=1, banned=[1], order=order)
    with pytest.raises(ValueError, match="no token is left to draw"):
        sampling_steps([0.0, 3.0], banned=[0, 1])
    assert sampling_steps([0.0, 3.0], top_k=1, banned=[1]).draw(0.5) == 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sampling_steps(LOGITS, top_k=201), "vocabulary of 200 tokens; got 201"),
        (lambda: sampling_steps(LOGITS, order=("top_k",)), "order must name each of"),
        (lambda: sampling_steps(LOGITS, order=(*usual_order(), "top_k")), "order must name"),
        (lambda: sampling_steps(LOGITS, strip="size"), "strip must be one of"),
        (lambda: sampling_steps(LOGITS).draw(1.0), "below 1; got 1.0"),
        (lambda: sampling_steps(LOGITS).draw(math.nan), "below 1; got nan"),
        (lambda: sampling_steps(LOGITS).interval(200), "from 0 to 199"),
        (lambda: sampling_steps(LOGITS)["top_q"], "no step is called 'top_q'"),
        (lambda: softmax_terms(LOGITS, 0), "0 is the arg-max"),
        (lambda: temperature_limit(LOGITS, 1.0), "0 or infinity"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_settings_that_change_nothing_are_inactive():
    neutral = SamplingSettings(top_p=1.0, min_p=0.0, repetition_penalty=1.0)
    assert not any(neutral.active(name) for name in usual_order())


@pytest.mark.parametrize("kind", STEPS, ids=lambda kind: kind.name)
def test_every_stop_of_a_slider_rises_is_in_a_link_and_is_a_value_of_its_step(kind):
    assert list(kind.stops) == sorted(set(kind.stops))
    for stop in kind.stops:
        assert kind.low <= stop <= kind.high
        kind.check(stop)
    assert not kind.stops or kind.none or kind.neutral in kind.stops
