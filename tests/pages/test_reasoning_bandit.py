"""Three arms in the chapter "Reinforcement": what their sentences say at any setting."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from llmviz.course.lessons.reasoning.reinforce import RATES
from llmviz.course.lessons.reasoning.reinforce import bandit as chapter
from llmviz.course.lessons.reasoning.reinforce.bandit_model import BASELINES, UPDATES
from llmviz.sampling.steps import softmax

PAY = st.integers(-10, 10).map(lambda tenths: tenths / 10)
GIVEN = st.tuples(
    st.tuples(PAY, PAY, PAY),
    st.sampled_from(BASELINES),
    st.sampled_from([float(rate) for rate in RATES]),
    st.integers(0, 999),
)


@settings(deadline=None, max_examples=40)
@given(GIVEN, st.integers(0, UPDATES - 1))
def test_sentences_hold_at_any_setting(chosen, at):
    rewards, done = chosen[0], chapter.run_of(chosen)
    read = chapter.variance_read(chosen, at)
    none, mean, best = (chapter.numbers_of(chosen, at, one).variance for one in BASELINES)
    assert best <= min(none, mean) + 1e-12
    assert ("makes it worse" in read) <= (mean > none)
    assert ("nothing to find" in chapter.run_read(chosen)) == (len(set(rewards)) == 1)
    if "is 0 here" in read:
        assert none < 1e-12
    assert (read == chapter.words.no_signal) == (len(set(rewards)) == 1)
    parts = {one.name: one.values for one in chapter.matrices(chosen, at)}
    after = parts["after"][0]
    np.testing.assert_allclose(after, done.probabilities[at + 1], atol=1e-12)
    np.testing.assert_allclose(parts["rewards"] - parts["baseline"], parts["advantage"])


@given(GIVEN)
def test_one_pull_is_asked_for_with_what_two_mistaken_learners_would_do(chosen):
    rewards, baseline, rate, _ = chosen
    arm = rewards.index(min(rewards))
    off = {"right": 0.0, "compared": float(np.mean(rewards)), "same": rewards[arm]}
    wanted = [
        softmax(rate * (rewards[arm] - less) * (np.eye(3)[arm] - 1 / 3))[arm]
        for less in off.values()
    ]
    asked = chapter.first_question(chosen)
    apart = np.diff(sorted(wanted)).min()
    if abs(apart - chapter.APART) > 1e-9:
        assert (asked is None) == (baseline != "none" or apart < chapter.APART)
    if asked:
        np.testing.assert_allclose([value for (value,) in asked.values], wanted)
        assert asked.right == 0 and len(set(asked.answers)) == 3
