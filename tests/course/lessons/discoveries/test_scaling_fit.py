"""Scaling laws: planted laws are found again, the gradient is right, and the bundled runs agree."""

from __future__ import annotations

from dataclasses import astuple, replace

import numpy as np
import pytest
from scipy.optimize import check_grad, least_squares, minimize_scalar

from experiments import scaling_fits as make_scaling_fits
from llmviz.course.lessons.discoveries.scaling import scaling_fit as fits
from llmviz.course.lessons.discoveries.scaling import scaling_runs
from llmviz.course.lessons.discoveries.scaling.scaling_fit import (
    HUBER,
    LEAST,
    Law,
    check,
    fit_from,
    objective,
    start_of,
)
from llmviz.course.lessons.discoveries.scaling.scaling_runs import (
    AMOUNTS,
    HELD_OUT,
    SIZES,
    Size,
    came_loss,
    measured,
    recorded,
    tokenizer,
    train_one,
)
from llmviz.models import build
from llmviz.training.held_out_texts import held_out

PLANTED = Law(0.8, 40.0, 0.35, 900.0, 0.45)
N, D = (grid.ravel() for grid in np.meshgrid(np.geomspace(2e3, 3e5, 8), np.geomspace(7e4, 2e6, 5)))


def test_a_planted_law_is_found_again():
    found = fit_from((2.0, 5.0, 0.5, 0.5, -1.0), N, D, PLANTED.loss(N, D))
    assert astuple(found)[:5] == pytest.approx(astuple(PLANTED)[:5], rel=1e-2)
    held = fit_from((2.0, 5.0, 0.5, 0.5, -1.0), N, D, PLANTED.loss(N, D), PLANTED.e)
    assert held.e == pytest.approx(PLANTED.e)
    assert held.left <= 1e-9


def test_a_few_runs_that_went_wrong_pull_little():
    losses = PLANTED.loss(N, D) * np.exp(np.random.default_rng(0).normal(0, 1e-4, len(N)))
    losses[[3, 20, 31]] *= 1.3
    found = fit_from(start_of(PLANTED), N, D, losses)
    assert found.e == pytest.approx(PLANTED.e, abs=0.05)


def test_the_gradient_is_that_of_the_loss():
    logs = [np.log(one) for one in (N, D, PLANTED.loss(N, D) * 1.1)]
    for x in ([2.0, 5.0, 0.5, 0.5, -1.0], [3.7, 6.8, 0.35, 0.45, -0.2]):
        off = check_grad(lambda x: objective(x, *logs)[0], lambda x: objective(x, *logs)[1], x)
        assert off < 1e-6 * np.linalg.norm(objective(np.array(x), *logs)[1]) + 1e-7


@pytest.mark.parametrize(
    "taken", [fits.Taken(), fits.Taken(fits.ALL, 2, 0), fits.Taken(fits.BLOCKS)]
)
def test_another_method_finds_no_better_law_of_the_bundled_runs(taken):
    n, d, losses = taken.numbers(recorded()[1])
    found = fits.recorded()[taken.name]
    logs = [np.log(one) for one in (n, d, losses)]

    def apart(x):
        a, b, alpha, beta, e = x
        said = np.exp(e) + np.exp(a - alpha * logs[0]) + np.exp(b - beta * logs[1])
        return np.log(said) - logs[2]

    other = least_squares(
        apart, start_of(found.law), loss="huber", f_scale=HUBER, x_scale="jac", max_nfev=2000
    )
    # scipy's Huber loss of half a square is ours.
    assert objective(other.x, *logs)[0] >= found.law.left * 0.999
    assert objective(np.array(start_of(found.law)), *logs)[0] == pytest.approx(found.law.left)


def test_the_best_size_is_the_lowest_point_of_equal_compute():
    for cost in (1e10, 1e12):
        lowest = minimize_scalar(
            lambda x, cost=cost: float(PLANTED.loss(np.exp(x), cost / 6 / np.exp(x))),
            bounds=(1, 30),
            method="bounded",
            options={"xatol": 1e-9},
        )
        assert PLANTED.best_size(cost) == pytest.approx(np.exp(lowest.x), rel=1e-3)


@pytest.mark.parametrize(
    ("places", "message"),
    [
        (slice(0, LEAST - 1), "at least 5 runs; got 4"),
        (slice(0, 0), "got 0"),
        (slice(0, 8), "amounts of text needs at least 3 of them; got 1"),
        (slice(0, 40, 8), "sizes needs at least 3 of them; got 1"),
    ],
)
def test_runs_that_tell_too_little_are_refused(places, message):
    losses = PLANTED.loss(N, D)
    with pytest.raises(ValueError, match=message):
        check(N[places], D[places], losses[places])


def test_equal_runs_and_impossible_losses_are_refused():
    one = np.ones(9)
    with pytest.raises(ValueError, match="sizes needs at least 3"):
        make_scaling_fits.fitted(one, one, one)
    for wrong in (0.0, -1.0, np.nan, np.inf):
        losses = PLANTED.loss(N, D)
        losses[4] = wrong
        with pytest.raises(ValueError, match="above 0 and finite"):
            check(N, D, losses)


def test_intervals_hold_a_planted_law_and_do_not_depend_on_the_order_of_runs():
    losses = PLANTED.loss(N, D) * np.exp(np.random.default_rng(1).normal(0, 0.01, len(N)))
    found = make_scaling_fits.fitted(N, D, losses, draws=16)
    assert found.low[2] < PLANTED.alpha < found.high[2]
    assert found.low[4] < PLANTED.beta < found.high[4]
    back = make_scaling_fits.fitted(N[::-1], D[::-1], losses[::-1], draws=1)
    assert back.law.left == pytest.approx(found.law.left, rel=1e-3)


def test_the_bundled_runs_are_all_there_and_above_the_floor():
    floor, runs = recorded()
    assert {(one.width, one.stories) for one in runs} == {
        (size.width, amount) for size in SIZES for amount in AMOUNTS
    }
    for one in runs:
        assert one.expected > floor.entropy
        # Chance moves both by the same dice, so they stay close together.
        assert abs((one.loss - one.expected) - (floor.came - floor.entropy)) < 0.01
        assert one.parameters > one.in_blocks > 0
    for count in ({one.tokens for one in runs if one.stories == amount} for amount in AMOUNTS):
        assert len(count) == 1
    assert {one.name for one in fits.EVERY} == set(fits.recorded())


def test_the_floor_is_that_of_the_grammar():
    floor, _ = recorded()
    texts, nats = held_out({"data": {"corpus": "tiny-world"}}, HELD_OUT)
    tokens = sum(len(tokenizer().encode(text)) + 1 for text in texts)
    assert tokens == floor.tokens
    assert sum(nats) / tokens == pytest.approx(floor.came)


def test_a_small_run_has_a_seed_and_is_measured_in_both_ways_alike(monkeypatch):
    monkeypatch.setattr(scaling_runs, "HELD_OUT", 3)
    *_, last = train_one(Size(2, 1, 1), 16, seed=3)
    run = last.run
    assert (run.stories, run.seed, last.step) == (16, 3, 4)
    assert run.expected is None
    again = list(train_one(Size(2, 1, 1), 16, seed=3))[-1].run
    assert replace(again, seconds=run.seconds) == run
    shape = {"vocab_size": 1024, "context_length": 320, "n_layer": 1, "n_head": 1, "n_embd": 4}
    model = build("gpt", shape)
    scaling_runs.truths.cache_clear()
    try:
        assert measured(model)[0] == pytest.approx(came_loss(model), abs=1e-6)
        for weights in model.parameters():
            weights.data.zero_()
        assert measured(model) == pytest.approx((np.log(1024),) * 2, abs=1e-5)
    finally:
        scaling_runs.truths.cache_clear()
