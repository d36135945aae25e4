"""The chapter "Reinforcement": what its sentences say at any setting, and what it refuses."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmviz.course.lessons.reasoning import reward_runs
from llmviz.course.lessons.reasoning.reinforce import chapter
from llmviz.course.lessons.reasoning.reinforce.model import Group, Sample
from llmviz.course.lessons.reasoning.reward_runs import Look, config_of
from llmviz.course.lessons.reasoning.sum_texts import encode
from llmviz.course.ui.common import percent
from llmviz.finetuning.policy import METHODS
from llmviz.finetuning.rewarded import Update
from tests.pages.finished_job import FakeJob
from tests.pages.harness import fine, open_part, prose_of


@st.composite
def groups(draw):
    way = draw(st.sampled_from(list(METHODS)))
    how = METHODS[way]
    rewards = draw(st.lists(st.integers(0, 1), min_size=1 + how.compares, max_size=6))
    flat = len(set(rewards)) == 1
    samples = []
    for reward in rewards:
        length = draw(st.integers(1, 4))
        logs = [
            np.array(draw(st.lists(st.floats(-5, 0), min_size=length, max_size=length)))
            for _ in range(2)
        ]
        gained = reward if not how.compares else 0 if flat else reward - np.mean(rewards)
        samples.append(Sample(":1;;"[:length], float(reward), gained, *logs, logs[0] * 0))
    return Group((47, 85), way, how.clip, how.passes, tuple(samples))


@given(groups())
def test_a_group_is_told_as_it_is(found):
    said, right = chapter.group_read(found), int(found.rewards.sum())
    assert ("teaches nothing" in said) == (not any(one.advantage for one in found.samples))
    compared = found.flat and METHODS[found.way].compares
    assert ("none is better than the others" in said) == compared
    if 0 < right < len(found.samples):
        logs = {
            kind: [np.log(one.times) for one in found.samples if one.reward == kind]
            for kind in (0, 1)
        }
        assert f"answers, {right} are right." in said
        for kind, own in logs.items():
            (times,) = re.findall(r"them (\S+) times" if kind else r"ones (\S+) times", said)
            assert float(times.replace(",", "")) == pytest.approx(np.exp(np.mean(own)), rel=0.06)


@given(groups())
def test_a_wrong_answer_is_asked_for_beside_what_two_mistaken_people_would_say(found):
    asked = chapter.question(found)
    right = [one.times for one in found.samples if one.reward]
    wrong = [one.times for one in found.samples if not one.reward]
    if not right or not wrong:
        assert asked is None
        return
    values = [wrong[0], 1.0, 1 / np.exp(np.mean(np.log(right)))]
    gap = np.diff(np.log(sorted(values))).min()
    if abs(gap - np.log(chapter.APART)) > 1e-9:
        assert (asked is None) == (gap < np.log(chapter.APART))
    if asked is not None:
        np.testing.assert_allclose([value for (value,) in asked.values], values)
        assert asked.right == 0


@settings(deadline=None, max_examples=25)
@given(st.data())
def test_a_run_is_told_as_it_is(data):
    size, prompts = data.draw(st.integers(2, 16)), config_of("grpo").prompts
    share = data.draw(st.integers(0, size * prompts)) / (size * prompts)
    counts = data.draw(st.lists(st.integers(0, 9), min_size=3, max_size=3).filter(any))
    look = Look(0, tuple(counts), 0, 0.5, 6.0, 0.0, 1.0)
    first = (tuple(encode("12+34=")), ((tuple(encode(":46;")), 1.0, 0.5),))
    update = Update(1, share, 0.0, 1.0, 5.0, 0.0, 0.25, 1.0, 2.0, first)
    found, seen = chapter.parts(FakeJob([look, update, look]))
    assert (found, seen) == ([update], [look, look])
    said = chapter.live_end(seen)
    assert f"{percent(look.right)} before and {percent(look.right)} after" in said
    own, tested = chapter.run_lines(found, seen)
    assert (list(own.y), list(tested.y)) == ([update.reward], [look.right] * 2)


def test_the_record_is_told_within_its_error():
    base, runs = reward_runs.recorded().base, reward_runs.recorded().runs
    said = " ".join(chapter.pass_read().split())
    kinds = {}
    for way, case in zip(reward_runs.WAYS, chapter.run_cases(reward_runs.SAMPLES)[1:], strict=True):
        found = np.array([run.last.passed(reward_runs.SAMPLES) for run in runs[way]])
        apart = found.mean() - base.passed(reward_runs.SAMPLES)
        kinds[way] = chapter.verdict(found, base.passed(reward_runs.SAMPLES), base.questions)
        assert kinds[way] in ("tie", "above" if apart > 0 else "below")
        assert case.value == pytest.approx(found.mean())
    alike = set(kinds.values()) == {"tie"}
    assert ("no way can be told" in said) == alike
    assert alike or all(chapter.words.ways[way] in said for way in kinds)


def test_a_few_sums_do_not_tell_99_from_100_however_well_runs_agree():
    assert chapter.verdict(np.array([0.99] * 3), 1.0, 100) == "tie"
    assert chapter.verdict(np.array([1.0] * 3), 1.0, 100) == "tie"
    assert chapter.verdict(np.array([0.99] * 3), 1.0, 10_000) == "below"
    assert chapter.verdict(np.array([0.8] * 3), 0.5, 100) == "above"
    assert chapter.verdict(np.array([0.2, 0.5, 0.8]), 0.3, 10_000) == "tie"


def test_a_reward_that_is_the_same_for_all_is_said_to_teach_nothing():
    for draw in range(40):
        given = (10, 10), "grpo", 2, draw
        if chapter.group_of(given).flat:
            break
    page = open_part("reasoning", "reinforce", show="1", rlsum="10+10", rlgroup="2", rldraw=draw)
    fine(page)
    assert "none is better than the others" in prose_of(page)
    for one in chapter.group_of(given).samples:
        np.testing.assert_array_equal(one.before, one.after)
