"""What a model remembers: how it is measured, and what the chapter says of the bundled ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from llmviz.corpus.invented import invent
from llmviz.corpus.planted import Planted
from llmviz.course.lessons.errors import read_planted, tested_in_training
from llmviz.course.lessons.errors.small_reader import losses, read_text
from llmviz.course.lessons.errors.tested_in_training import COPIES, two_tests

shares = st.lists(st.floats(0, 9), min_size=1, max_size=30)


@given(shares, shares)
def test_the_area_is_that_of_scikit_learn(read, fresh):
    truth = [1] * len(read) + [0] * len(fresh)
    scores = [-one for one in (*read, *fresh)]
    assert read_planted.area(read, fresh) == pytest.approx(roc_auc_score(truth, scores))


@given(shares, shares, st.floats(0, 9))
def test_hits_and_false_alarms_are_counted(read, fresh, threshold):
    hits, alarms = read_planted.caught(read, fresh, threshold)
    assert hits == pytest.approx(sum(one < threshold for one in read) / len(read))
    assert alarms == pytest.approx(sum(one < threshold for one in fresh) / len(fresh))


@given(st.lists(st.booleans(), max_size=12))
def test_with_the_needed_tokens_all_others_follow_and_with_one_fewer_not(matches):
    count = read_planted.needed(matches)
    assert all(matches[count:])
    assert count == 0 or not matches[count - 1]


@pytest.fixture(scope="module")
def reader():
    """A model that read one sentence often and others once."""
    words = [f"{a} {b} {c}." for a in "pqrs" for b in "tuvw" for c in "xyz"]
    *_, last = read_text([*words, *["one two three four five."] * 60], passes=6, context=10)
    return last


def test_what_is_written_after_the_needed_tokens_is_the_rest(reader):
    one = read_planted.kept(reader, Planted("one two three four five.", 60), 10)
    assert one.needed <= 2
    for given_tokens in range(max(1, one.needed), len(one.tokens) + 1):
        assert (
            one.written[given_tokens - 1][: len(one.tokens) - given_tokens]
            == (one.tokens[given_tokens:])
        )


def test_a_loss_is_the_mean_of_its_tokens_and_that_of_a_batch_is_that_alone(reader):
    texts = ["one two three four five.", "p t x."]
    together = losses(reader, texts)
    for text, found in zip(texts, together, strict=True):
        assert found.numpy() == pytest.approx(losses(reader, [text])[0].numpy(), abs=1e-5)
    one = read_planted.kept(reader, Planted(texts[0], 60), 10)
    assert one.loss == pytest.approx(float(together[0].mean()), abs=1e-4)
    with pytest.raises(ValueError, match="longer than the context"):
        losses(reader, ["one two three four five one two three four five."])


@pytest.mark.parametrize("seed", read_planted.SEEDS)
@pytest.mark.parametrize("passes", read_planted.PASSES)
def test_what_the_chapter_says_of_each_text(seed, passes):
    model, once = (
        read_planted.bundled(seed, passes),
        read_planted.bundled(seed, passes, repeats=False),
    )
    by_times = {one.times: one for one in model.planted}
    assert by_times[1000].needed <= 1
    assert by_times[1000].loss < by_times[10].loss < by_times[1].loss < model.unread
    planted = {one.times: one for one in once.planted}
    assert planted[1000].loss > 10 * by_times[1000].loss  # deduplication
    assert read_planted.area(model.read, model.fresh) > 0.5
    assert (
        read_planted.area(read_planted.bundled(seed, 4).read, read_planted.bundled(seed, 4).fresh)
        > read_planted.area(model.read, model.fresh) - 1e-9
        or passes == 4
    )
    for one in model.planted:
        assert len(one.written) == len(one.tokens)
        right = one.written[max(one.needed, 1) - 1]
        assert right == one.tokens[max(one.needed, 1) :]


def test_a_test_in_the_training_says_nothing_of_other_questions():
    scores = tested_in_training.bundled()
    for seed in range(len(read_planted.SEEDS)):
        clean, most = scores[COPIES[0]][seed], scores[COPIES[-1]][seed]
        error = 3 * np.sqrt(0.5 / clean.questions)  # of a difference of shares
        assert abs(clean.read - clean.other) < error  # the tests are equally hard
        assert (most.read - clean.read) - (most.other - clean.other) > error


def test_both_tests_are_of_one_kind():
    test, other = two_tests(invent(0, each=8))
    assert sorted(one.times for one in test) == sorted(one.times for one in other)
    assert not {one.name for one in test} & {one.name for one in other}
