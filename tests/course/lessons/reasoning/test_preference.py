"""What is true of an ending, searches for a high reward, and the best of n by enumeration."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments._pair_kinds import pairs_of_kind
from experiments.reward_models import in_bins
from llmviz.corpus import is_story
from llmviz.course.lessons.reasoning.preference import best_of_n, preference_texts, reward_search
from llmviz.course.lessons.reasoning.preference.preference_record import CONFIDENCES, recorded
from llmviz.course.lessons.reasoning.preference.preference_record import settings as runs_of
from llmviz.finetuning.labeller import clean_pairs, whole
from llmviz.training.measures import Share

SMALL = st.lists(st.tuples(st.integers(0, 3).map(float), st.floats(-2, 2)), min_size=1, max_size=6)


@given(SMALL, st.integers(1, 6))
def test_the_best_of_n_is_the_mean_over_all_choices_and_all_ways_to_break_ties(samples, n):
    rewards, values = zip(*samples, strict=True)
    if n > len(samples):
        with pytest.raises(ValueError, match="n must be from 1 to"):
            best_of_n.best_of(rewards, values, n)
        return
    found = []
    for some in itertools.combinations(range(len(samples)), n):
        most = max(rewards[at] for at in some)
        same = [at for at in range(len(samples)) if rewards[at] == most]
        found.append(np.mean([values[at] for at in same]))
    assert best_of_n.best_of(rewards, values, n) == pytest.approx(np.mean(found), abs=1e-9)
    assert best_of_n.chances(len(samples), n).sum() == pytest.approx(1)


def test_an_ending_is_judged_by_the_rule_and_by_the_grammar():
    for pair in clean_pairs(20, 7):
        for ending in (pair.better, pair.worse):
            truth = preference_texts.judged(pair.story, ending)
            assert truth.grammatical and truth.breaks is None and not truth.in_story
            assert truth.good == (truth.mood > 0)
        broken = preference_texts.judged(pair.story, "glad glad glad")
        assert broken.mood == 1 and not broken.grammatical and not broken.good
        assert broken.breaks >= len(pair.story) and not broken.in_story
        assert preference_texts.judged(f"Oops. {pair.story}", pair.better).in_story


@pytest.mark.parametrize("story", ["", "日本語", "<b>Ada</b>", "Ada ran."])
def test_any_story_can_be_judged_and_may_have_no_good_ending(story):
    assert preference_texts.judged(story, "Ada was glad.").in_story or not story
    assert not preference_texts.judged(story, "").good
    assert preference_texts.good_endings(story, 4) == []


def test_good_endings_are_good_and_differ():
    story = clean_pairs(1, 9)[0].story
    found = preference_texts.good_endings(story, 6)
    assert len(set(found)) == len(found) > 1
    assert all(preference_texts.judged(story, one).good for one in found)


@pytest.mark.parametrize("kind", preference_texts.KINDS)
def test_pairs_of_other_kinds_are_what_they_are_called(kind):
    for pair in pairs_of_kind(kind, 5, 1):
        assert pair.better != pair.worse
        if kind in (preference_texts.UNTRUE, "shuffled"):
            assert preference_texts.judged(pair.story, pair.better).good
            assert not is_story(whole(pair.story, pair.worse))
            assert len(pair.better.split()) == len(pair.worse.split())


def test_an_unknown_kind_is_refused():
    with pytest.raises(ValueError, match="kind must be one of"):
        pairs_of_kind("x", 1)


@given(st.text(max_size=60), st.integers(0, 99))
def test_a_change_puts_one_known_word_in(ending, seed):
    new = reward_search.changed(ending, random.Random(seed))
    before, after = (reward_search.re.findall(r"[^\W_]+", one) for one in (ending, new))
    assert len(after) - len(before) in (0, 1)
    added = [one for one in after if one in reward_search.known_words()]
    assert added
    assert [c for c in new if not c.isalnum() and c != " "] == [
        c for c in ending if not c.isalnum() and c != " "
    ]


@given(st.lists(st.tuples(st.floats(-9, 9), st.booleans()), max_size=30))
def test_each_pair_is_in_one_bin(pairs):
    apart = np.array([one for one, _ in pairs])
    agreed = np.array([hit for _, hit in pairs], dtype=bool)
    found = in_bins(apart, agreed)
    assert sum(count for count, _, _ in found) == len(pairs)
    assert sum(hits for _, _, hits in found) == agreed.sum()
    for (count, total, _), low, high in zip(found, CONFIDENCES, CONFIDENCES[1:], strict=False):
        assert count * low - 1e-9 <= total <= count * high + 1e-9


@pytest.fixture(scope="module")
def models():
    from llmviz.course.lessons.reasoning.preference.preference_model import both_models

    return both_models()


def test_a_search_never_lowers_the_reward_and_says_what_is_true(models):
    from llmviz.finetuning.reward_model import Endings

    pair = clean_pairs(1, 11)[0]
    found = list(reward_search.search(models, pair.story, pair.worse, 4, 3, 1))
    assert [one.step for one in found] == [0, 1, 2, 3, 4]
    assert found[0].ending == pair.worse and found[0].how == reward_search.OWN
    assert [one.tried for one in found] == [1, 5, 37, 69, 101]
    reader = Endings(models[1], models[2], pair.story, reward_search.LONGEST)
    for before, now in itertools.pairwise(found):
        assert now.reward >= before.reward and (now.how == "kept") == (now.ending == before.ending)
        assert now.truth == preference_texts.judged(pair.story, now.ending)
    assert reader.rewards([found[-1].ending])[0] == pytest.approx(found[-1].reward, abs=1e-3)
    assert found == list(reward_search.search(models, pair.story, pair.worse, 4, 3, 1))


@settings(max_examples=6, deadline=None)
@given(st.sampled_from(["", "x", "<script>", "日本語 🙂"]), st.sampled_from(["", "!?", "ä" * 300]))
def test_a_search_begins_with_anything(models, story, ending):
    found = list(reward_search.search(models, story, ending, 0, 1))
    assert found[0].ending == ending and found[-1].reward >= found[0].reward


def test_the_bundled_model_is_the_recorded_one(models):
    """The record's own pairs again, with the weights as they are bundled."""
    from experiments.reward_models import HELD_OUT
    from llmviz.course.lessons.reasoning.preference.preference_record import HELD_OUT_SEED
    from llmviz.finetuning.reward_model import Endings

    _, model, tokenizer = models
    some = clean_pairs(HELD_OUT, HELD_OUT_SEED)[:60]
    hits = 0
    for pair in some:
        reader = Endings(model, tokenizer, pair.story, reward_search.LONGEST)
        better, worse = reader.rewards([pair.better, pair.worse])
        hits += better > worse
    low, high = Share(hits, len(some)).interval
    assert low <= recorded().bundled.right["all"].share <= high


def test_the_record_is_whole_and_its_holes_are_holes():
    found = recorded()
    assert len(found.runs) == len(runs_of()) and found.seconds > 0
    for one in found.searches[:10]:
        truth = preference_texts.judged(one.story, one.ending)
        assert (truth.mood, truth.grammatical) == (one.mood, one.grammatical)
        assert one.first <= one.sampled <= one.last
        assert one.hole == (not truth.good and one.last > one.best_good)
    for run in found.runs:
        parts = run.right["longer"].count + run.right["shorter"].count
        assert parts <= run.right["all"].count == sum(count for count, _, _ in run.bins)
    for _, _, curve in found.curves:
        assert list(curve.reward) == sorted(curve.reward)
        assert curve.reward[0] == pytest.approx(0, abs=1e-3)
        assert all(
            a <= min(b, c) + 1e-9
            for a, b, c in zip(curve.good, curve.glad, curve.grammatical, strict=True)
        )


def test_a_copy_without_the_record_names_the_command(tmp_path):
    with pytest.raises(ValueError, match="reward-models` makes it"):
        recorded(tmp_path)
