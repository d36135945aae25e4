"""The policy gradient on a bandit: against finite differences, torch's autograd and enumeration."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from llmviz.course.lessons.reasoning.reinforce import bandit_model as bandit

LOGITS = st.lists(st.floats(-4, 4), min_size=3, max_size=3).map(np.array)
REWARDS = st.lists(st.floats(-1, 1), min_size=3, max_size=3)
BASELINE = st.sampled_from(bandit.BASELINES)


@given(LOGITS, REWARDS, BASELINE)
def test_the_mean_gradient_is_that_of_the_mean_reward_with_any_baseline(logits, rewards, baseline):
    def mean_reward(z: np.ndarray) -> float:
        raised = np.exp(z)
        return float(raised @ np.array(rewards) / raised.sum())

    small = 1e-5
    slopes = [
        (mean_reward(logits + small * one) - mean_reward(logits - small * one)) / (2 * small)
        for one in np.eye(3)
    ]
    assert bandit.update(logits, rewards, baseline).mean == pytest.approx(slopes, abs=1e-8)


@given(LOGITS, REWARDS, BASELINE)
def test_a_draw_gives_the_gradient_of_its_weighted_log_probability(logits, rewards, baseline):
    now = bandit.update(logits, rewards, baseline)
    for arm in range(3):
        z = torch.tensor(logits, requires_grad=True)
        (float(now.advantage[arm]) * z.log_softmax(-1)[arm]).backward()
        assert now.gradient[arm] == pytest.approx(z.grad.numpy(), abs=1e-12)
    np.testing.assert_allclose(now.probabilities @ now.direction, 0, atol=1e-12)


@given(LOGITS, REWARDS, st.floats(-2, 2))
def test_no_other_number_has_a_smaller_variance_than_the_best_baseline(logits, rewards, other):
    best = bandit.update(logits, rewards, bandit.BEST)
    gradients = (np.array(rewards) - other)[:, None] * best.direction
    spread = np.cov(gradients.T, aweights=best.probabilities, ddof=0)
    assert best.variance <= np.trace(spread) + 1e-12
    for baseline in (bandit.NONE, bandit.MEAN):
        assert best.variance <= bandit.update(logits, rewards, baseline).variance + 1e-12


@given(LOGITS, st.floats(-1, 1))
def test_equal_rewards_teach_nothing_on_average_and_nothing_at_all_with_their_mean(logits, reward):
    now = bandit.update(logits, [reward] * 3, bandit.MEAN)
    for values in (now.mean, now.gradient, now.advantage, now.after(0, 2.0) - logits):
        np.testing.assert_allclose(values, 0, atol=1e-12)
    plain = bandit.update(logits, [reward] * 3, bandit.NONE)
    np.testing.assert_allclose(plain.mean, 0, atol=1e-12)
    assert np.isfinite(plain.variance)


def test_a_run_draws_arms_as_often_as_their_probabilities_say():
    still = bandit.run([1.0, 0.5, 0.2], bandit.NONE, 0.0, 0, 30_000)
    shares = np.bincount(still.arms, minlength=3) / 30_000
    assert shares == pytest.approx([1 / 3] * 3, abs=4 * (2 / 9 / 30_000) ** 0.5)


@given(REWARDS, BASELINE, st.integers(0, 50))
def test_each_update_of_a_run_is_the_update_of_the_arm_that_came(rewards, baseline, seed):
    done = bandit.run(rewards, baseline, 0.5, seed, 20)
    for at, arm in enumerate(done.arms):
        now = bandit.update(done.logits[at], rewards, baseline)
        np.testing.assert_array_equal(done.logits[at + 1], now.after(int(arm), 0.5))


def test_what_is_no_reward_or_no_baseline_is_refused():
    with pytest.raises(ValueError, match="finite"):
        bandit.update(np.zeros(3), [1.0, float("nan"), 0.0], bandit.NONE)
    with pytest.raises(ValueError, match="one reward for each arm"):
        bandit.update(np.zeros(3), [1.0, 0.0], bandit.NONE)
    with pytest.raises(ValueError, match="none, mean, best"):
        bandit.update(np.zeros(3), [1.0, 0.0, 0.0], "median")
