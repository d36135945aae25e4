"""The questions of the two tests: one answer is right, by other means than the code's own."""

from __future__ import annotations

import inspect
import math
import re
from collections import Counter
from itertools import pairwise, product

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as some
from tokenizers.models import BPE

from llmviz.course.document.marks import unmarked
from llmviz.course.lessons.before_after import two_tests
from llmviz.course.lessons.before_after.questions import questions
from llmviz.course.lessons.before_after.two_tests import TASKS, TESTS, items

A, B = (questions(test) for test in TESTS)
QUICK = settings(max_examples=60, deadline=None)


@QUICK
@given(word=some.text("abc", min_size=2, max_size=7), seed=some.integers(0, 10**6))
def test_merges_are_done_in_their_order_as_another_library_does_them(word, seed):
    chance = np.random.default_rng(seed)
    known, merges = list("abc"), []
    for _ in range(4):
        left, right = chance.choice(known), chance.choice(known)
        if left + right not in known:
            known.append(str(left + right))
            merges.append(f"{left}+{right}")
    found = two_tests.pieces(merges, word)
    names = [*"abc", *(merge.replace("+", "") for merge in merges)]
    ids = {name: at for at, name in enumerate(names)}
    pairs = [tuple(merge.split("+")) for merge in merges]
    other = BPE(ids, pairs).tokenize(word)
    assert found["right"] == " | ".join(token.value for token in other)
    assert found["letters"] == " | ".join(word)


@QUICK
@given(tokens=some.integers(3, 12), data=some.data(), score=some.floats(-5, 5))
def test_equal_scores_share_what_a_token_sees(tokens, data, score):
    asks = data.draw(some.integers(2, tokens))
    asked = data.draw(some.integers(1, asks - 1))
    found = two_tests.weights(tokens, asks, asked)
    scores = np.full((tokens, tokens), score)
    scores[np.triu_indices(tokens, 1)] = -np.inf
    row = np.exp(scores[asks - 1]) / np.exp(scores[asks - 1]).sum()
    assert found["right"] == pytest.approx(row[asked - 1]) == pytest.approx(1 / asks)
    assert found["unmasked"] == pytest.approx(1 / tokens)


@QUICK
@given(data=some.data())
def test_what_is_copied_came_after_the_last_token_before(data):
    m, k, t, a = data.draw(some.permutations("bcdfgh"))[:4]
    found = two_tests.copied(m + k + t + a + k)
    assert [found[name] for name in ("right", "itself", "last", "first")] == [t, k, a, m]


@QUICK
@given(some.integers(1, 9), some.integers(2, 4))
def test_one_of_some_tries_is_right_in_so_many_of_all_cases(tenths, times):
    found = two_tests.tries(f"0.{tenths}", times)
    cases = [[digit < tenths for digit in case] for case in product(range(10), repeat=times)]
    assert found["right"] == pytest.approx(sum(map(any, cases)) / len(cases))
    assert found["every"] == pytest.approx(sum(map(all, cases)) / len(cases))


@QUICK
@given(some.integers(1, 9), some.integers(1, 9), some.integers(1, 4))
def test_lora_trains_as_many_numbers_as_its_layer_has(rows, columns, rank):
    rank = min(rank, rows, columns)
    model = torch.nn.Sequential(torch.nn.Linear(columns, rows, bias=False))
    adapter = [torch.zeros(rank, columns), torch.zeros(rows, rank)]
    assert (adapter[1] @ adapter[0]).shape == model[0].weight.shape
    found = two_tests.adapter(rows, columns, rank)
    assert found["right"] == sum(part.numel() for part in adapter)


@pytest.mark.parametrize("test", TESTS)
def test_a_calibrated_model_is_right_as_often_as_it_says(test):
    (numbers,) = (task.numbers[test] for task in TASKS if task.compute is two_tests.calibrated)
    found = two_tests.calibrated(*numbers)
    assert 100 * found["right"] == found["asked"] * found["sure"]
    assert found["right"] + found["wrong"] == found["asked"]


@QUICK
@given(word=some.text("abcd", min_size=3, max_size=12), data=some.data())
def test_counted_pairs_give_the_share(word, data):
    first, second = data.draw(some.sampled_from(list(pairwise(word))))
    count = Counter(pairwise(word))
    after = sum(number for (a, _), number in count.items() if a == first)
    found = two_tests.pairs(word, first, second)
    assert found["right"] == pytest.approx(count[first, second] / after)
    assert (found["times"], found["all"]) == (count[first, second], after)
    assert found["of_pairs"] == pytest.approx(count[first, second] / (len(word) - 1))
    assert found["kinds"] == len({b for a, b in count if a == first})


@QUICK
@given(share=some.integers(2, 20), temperature=some.sampled_from([0.25, 0.5, 2.0]))
def test_a_ratio_of_probabilities_at_a_temperature_is_a_power(share, temperature):
    found = two_tests.temperature(share, temperature)
    assert found["right"] == pytest.approx(share ** (1 / temperature))
    assert found["root"] == pytest.approx(share**temperature)


@QUICK
@given(losses=some.lists(some.tuples(*[some.integers(5, 40)] * 2), min_size=2, max_size=6))
def test_the_state_for_new_texts_has_their_lowest_loss(losses):
    training, new = ([one / 10 for one in column] for column in zip(*losses, strict=True))
    found = two_tests.stop(training, new)
    assert all(new[found["right"] - 1] <= one for one in new)
    assert all(training[found["trained"] - 1] <= one for one in training)


@pytest.mark.parametrize("test", TESTS)
def test_the_nearest_by_cosine_points_the_same_way(test):
    (numbers,) = (task.numbers[test] for task in TASKS if task.compute is two_tests.direction)
    vectors, asked = numbers
    found = two_tests.direction(vectors, asked)
    x, y = vectors[asked]
    angles = {
        name: abs(math.remainder(math.atan2(v, u) - math.atan2(y, x), math.tau))
        for name, (u, v) in vectors.items()
        if name != asked
    }
    far = {name: math.dist(vectors[asked], vectors[name]) for name in angles}
    assert found["right"] == min(angles, key=angles.__getitem__)
    assert found["opposite"] == max(angles, key=angles.__getitem__)
    assert found["near"] == min(far, key=far.__getitem__) != found["right"]
    assert found["square_cosine"] == pytest.approx(0)
    with pytest.raises(ValueError, match="one of each kind"):
        two_tests.direction({"a": (1, 0), "b": (2, 0), "c": (0, 1), "d": (-1, 0)}, "a")


# ---- the two tests beside each other


def test_the_two_tests_have_the_same_ten_tasks_and_no_question_in_common():
    first, second = (items(test) for test in TESTS)
    assert [one.name for one in first] == [one.name for one in second]
    assert len(first) == len({one.name for one in first}) == 10
    for task, one, other in zip(TASKS, A, B, strict=True):
        assert len(one.answers) == len(other.answers) == 4
        assert one.text != other.text and one.text not in [question.text for question in B]
        kinds = [{type(part) for part in task.numbers[test]} for test in TESTS]
        assert kinds[0] == kinds[1]
        for own, others in ((one, other), (other, one)):
            if re.search(r"\d", own.answers[own.right]) and task.compute is not two_tests.stop:
                assert own.answers[own.right] != others.answers[others.right]


def test_the_two_tests_are_as_long_and_their_numbers_as_large():
    """What makes a question harder: more to read, more numbers, numbers of more figures."""
    for one, other in zip(A, B, strict=True):
        length = [len(unmarked(question.text)) for question in (one, other)]
        assert max(length) <= 1.3 * min(length), one.text
        numbers = [re.findall(r"\d+(?:\.\d+)?", question.text) for question in (one, other)]
        assert abs(len(numbers[0]) - len(numbers[1])) <= 2, one.text
        figures = [max(map(len, found), default=0) for found in numbers]
        assert abs(figures[0] - figures[1]) <= 1, one.text


@pytest.mark.parametrize("question", [*A, *B], ids=lambda one: unmarked(one.text)[:40])
def test_a_right_answer_is_not_told_by_its_place_or_its_length(question):
    longest = max(question.answers, key=lambda answer: len(unmarked(answer)))
    plain = re.search(r"\d", longest) or len(longest) < 12
    assert plain or question.answers[question.right] != longest


def test_right_answers_stand_at_all_places():
    for asked in (A, B):
        places = Counter(question.order.index(question.right) for question in asked)
        assert len(places) >= 3 and max(places.values()) <= 5


def test_every_task_says_what_it_computes():
    assert all(inspect.getdoc(task.compute) for task in TASKS)
