"""A model of sums that learns from rewards: looks, runs, one group, and the bundled results."""

from __future__ import annotations

import copy
import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from experiments import reward_runs as make_reward_runs
from llmviz.course.lessons.reasoning import reward_runs as runs
from llmviz.course.lessons.reasoning import sum_texts as sums
from llmviz.course.lessons.reasoning.reinforce.model import group_update
from llmviz.course.lessons.reasoning.reward_runs import Look
from llmviz.finetuning.policy import METHODS


@given(st.lists(st.integers(0, 5), min_size=5, max_size=5).filter(any), st.integers(1, 4))
def test_a_look_says_how_often_one_of_k_samples_is_right(counts, k):
    look = Look(0, tuple(counts), 0, 0.5, 6.0, 0.0, 1.0)
    hits = total = 0
    for right, questions in enumerate(counts):
        texts = [True] * right + [False] * (4 - right)
        every = list(itertools.combinations(texts, k))
        hits += questions * sum(map(any, every))
        total += questions * len(every)
    assert look.passed(k) == pytest.approx(hits / total)
    assert look.right == look.passed(1)


def test_rewards_look_at_the_answer_alone():
    question = sums.encode("47+85=")
    assert runs.numbers_in(question) == (47, 85)
    for text, reward in ((":132;", 1), ("1,1:132;", 1), ("12,13:122;", 0), ("132;", 0)):
        assert runs.right_reward(question, sums.encode(text)) == reward


def test_questions_of_an_update_are_its_own_and_never_held_out():
    held = {sums.question_of(one) for one in sums.sums()[1]}
    first, other = runs.questions_of(0), runs.questions_of(1)
    assert first(1, 16) == first(1, 16) != first(2, 16)
    assert first(1, 16) != other(1, 16)
    assert not {sums.decode(one) for one in first(3, 500)} & held


def test_a_run_yields_each_update_and_looks_and_leaves_the_bundled_model_alone():
    before = copy.deepcopy(sums.bundled().state_dict())
    config = runs.config_of("grpo", updates=3, prompts=4, group=4)
    found = list(runs.reward_run(config, every=2, questions=6, samples=4))
    looks = [one for one in found if isinstance(one, Look)]
    assert [one.step for one in looks] == [0, 2, 3]
    assert [one.step for one in found if not isinstance(one, Look)] == [1, 2, 3]
    assert looks[0].divergence == pytest.approx(0, abs=1e-6)
    assert looks[-1].divergence > 0
    assert all(one.questions == 6 and one.samples == 4 for one in looks)
    for name, value in sums.bundled().state_dict().items():
        torch.testing.assert_close(value, before[name], rtol=0, atol=0)


@pytest.mark.parametrize("way", METHODS)
def test_a_group_shows_the_update_that_is_made(way):
    group = group_update(sums.bundled(), (47, 85), way, 8, 3)
    how = METHODS[way]
    tokens = sum(len(one.text) for one in group.samples)
    for one in group.samples:
        assert one.reward == sums.is_right((47, 85), one.text)
        assert len(one.before) == len(one.after) == len(one.pull) == len(one.text)
        parts = {"text": 8, "tokens": tokens, "each": 8 * len(one.text)}[how.average]
        np.testing.assert_allclose(one.pull, one.advantage / parts, atol=1e-6)
        assert one.times == pytest.approx(math.exp(sum(one.after) - sum(one.before)))
    paid = group.rewards
    assert 0 < paid.sum() < 8, "the test wants a group of both kinds"
    right, wrong = (
        np.mean([np.log(one.times) for one in group.samples if one.reward == kind])
        for kind in (1, 0)
    )
    assert right > 0 and right > wrong


def test_before_an_update_the_numbers_are_those_of_the_model():
    group = group_update(sums.bundled(), (12, 34), "grpo", 3)
    for one in group.samples:
        text = sums.encode(sums.question_of((12, 34)) + one.text)
        with torch.no_grad():
            log_p = sums.bundled()(torch.tensor([text[:-1]]))[0][0].log_softmax(-1)
        own = log_p[sums.QUESTION - 1 :].gather(-1, torch.tensor(text[sums.QUESTION :])[:, None])
        np.testing.assert_allclose(one.before, own[:, 0].numpy(), atol=1e-5)


def test_the_bundled_results_hold_what_the_chapter_says_of_them():
    found = runs.recorded()
    for way in runs.WAYS:
        assert [one.seed for one in found.runs[way]] == list(runs.SEEDS)
        for run in found.runs[way]:
            assert run.first.counts == found.base.counts
            assert run.first.divergence == pytest.approx(0, abs=1e-6)
            assert run.last.step == runs.UPDATES
            assert run.last.questions == runs.QUESTIONS
            assert len(run.updates) == (0 if way == runs.DPO else runs.UPDATES)
    right = found.values("grpo", lambda one: one.right)
    assert right.min() > found.base.right + 0.1
    assert min(found.noise.plain, found.noise.compared, found.noise.error) > 0


def test_the_bundled_model_is_the_one_that_was_measured():
    held = sums.sums()[1][: runs.QUESTIONS]
    look = runs.look_at(sums.bundled(), sums.bundled(), 0, held, runs.SAMPLES)
    base = runs.recorded().base
    assert look.greedy == pytest.approx(base.greedy, abs=1)
    assert look.right == pytest.approx(base.right, abs=0.01)


@pytest.mark.slow  # a training of each way
def test_a_short_record_is_written_whole_and_goes_on(tmp_path, monkeypatch):
    for name, value in {
        "UPDATES": 2,
        "EVERY": 1,
        "QUESTIONS": 4,
        "SAMPLES": 3,
        "NOISE_BATCHES": 2,
        "SEEDS": (0,),
    }.items():
        for module in (runs, make_reward_runs):
            monkeypatch.setattr(module, name, value, raising=False)
    real = runs.config_of
    for module in (runs, make_reward_runs):
        monkeypatch.setattr(
            module, "config_of", lambda way, seed=0: real(way, seed, updates=2, prompts=3, group=4)
        )
    make_reward_runs.make(tmp_path)
    first = (tmp_path / runs.FILE).read_text("utf-8")
    make_reward_runs.make(tmp_path)
    assert (tmp_path / runs.FILE).read_text("utf-8") == first
    found = runs.recorded(tmp_path)
    assert [look.step for look in found.runs["dpo"][0].looks] == [0, 1, 2]
    assert [one.step for one in found.runs["ppo"][0].updates] == [1, 2]
    runs.recorded.cache_clear()
