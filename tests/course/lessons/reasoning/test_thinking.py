"""Texts and models that think first: parity and two more tasks, what steps cost, the records."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils.flop_counter import FlopCounterMode

from experiments import think_first as make_think_first
from experiments import think_tasks as make_think_tasks
from llmviz.course.lessons.reasoning import parity_texts as texts
from llmviz.course.lessons.reasoning import think_first as think
from llmviz.course.lessons.reasoning.chain_of_thought import model as study
from llmviz.course.lessons.reasoning.chain_of_thought.model import BALL, SIGNS, SUMS, TASKS
from llmviz.course.lessons.reasoning.parity_texts import PATH, WAYS
from llmviz.nn.loss import IGNORED

BITS = st.lists(st.integers(0, 1), min_size=1, max_size=texts.SLOTS)


@given(BITS, st.sampled_from(texts.WAYS))
def test_a_text_ends_with_the_parity_and_its_path_counts_ones(bits, way):
    text = texts.text_of(bits, way)
    read = "".join(texts.TOKENS[one] for one in text)
    asked, behind = read.split("=")
    path, answer = behind.split(":")
    assert asked == "".join(map(str, bits)).ljust(texts.SLOTS, "_")
    assert int(answer) == bits.count(1) % 2
    counted = "".join(str(sum(bits[: at + 1]) % 2) for at in range(len(bits)))
    assert path == {texts.DIRECT: "", texts.DOTS: "." * len(bits), texts.PATH: counted}[way]


def bits_in(inputs: np.ndarray) -> list[list[int]]:
    return [[one for one in row if one != texts.BLANK] for row in inputs[:, : texts.SLOTS].tolist()]


@given(st.integers(0, 2**32 - 1), st.sampled_from(texts.WAYS), st.integers(1, texts.TRAINED))
def test_each_row_of_a_batch_is_a_text_and_only_what_is_behind_its_question_is_learned(
    seed, way, longest
):
    inputs, targets = texts.batch(np.random.default_rng(seed), way, longest)
    assert inputs.shape == targets.shape
    assert (inputs.dtype, targets.dtype) == (np.int64, np.int64)
    for bits, row, wanted in zip(bits_in(inputs), inputs.tolist(), targets.tolist(), strict=True):
        assert 1 <= len(bits) <= longest
        text = texts.text_of(bits, way)
        end = len(text) - 1
        assert row[:end] == text[:-1]
        assert set(row[end:]) <= {texts.BLANK, texts.COLON, 0, 1}
        assert wanted[texts.SLOTS : end] == text[texts.SLOTS + 1 :]
        assert set(wanted[: texts.SLOTS] + wanted[end:]) <= {IGNORED}


def test_each_way_of_a_seed_learns_from_the_same_bits():
    for longest in (1, 5, texts.TRAINED):
        drawn = [texts.batch(np.random.default_rng(3), way, longest)[0] for way in texts.WAYS]
        assert bits_in(drawn[0]) == bits_in(drawn[1]) == bits_in(drawn[2])


@pytest.mark.parametrize("longest", [1, 3, texts.TRAINED])
def test_a_batch_draws_as_one_text_after_the_other_would(longest):
    one, other, times = np.random.default_rng(1), np.random.default_rng(2), 60
    drawn = [
        bits for _ in range(times) for bits in bits_in(texts.batch(one, texts.DIRECT, longest)[0])
    ]
    looped = [
        other.integers(0, 2, texts.TRAINED)[: other.integers(1, longest + 1)].tolist()
        for _ in range(times * texts.BATCH)
    ]
    assert len(drawn) == len(looped)
    for seen in (len, sum, lambda bits: tuple(bits[:2]), lambda bits: bits[-1]):
        counts = [Counter(map(seen, rows)) for rows in (drawn, looped)]
        for kind in counts[0] | counts[1]:
            here, there = counts[0][kind], counts[1][kind]
            assert abs(here - there) <= 5 * (here + there) ** 0.5


@given(st.integers(1, 5000))
def test_the_longest_text_grows_evenly_or_is_the_same_from_the_start(steps):
    mixed = {make_think_first.longest_at(step, steps, texts.MIXED) for step in range(steps)}
    assert mixed == {texts.TRAINED}
    grown = [make_think_first.longest_at(step, steps, texts.SHORT_FIRST) for step in range(steps)]
    assert grown[0] == 1
    assert grown == sorted(grown)
    assert max(grown) <= texts.TRAINED
    part = make_think_first.GROWING * steps / texts.TRAINED  # steps of each length
    counts = Counter(grown)
    if part >= 1:
        assert set(counts) == set(range(1, texts.TRAINED + 1))
        assert all(abs(counts[n] - part) <= 1 for n in range(1, texts.TRAINED))


ITEMS = st.lists(st.integers(0, 9), min_size=1, max_size=study.SLOTS)


@given(ITEMS)
def test_the_path_of_a_sum_is_the_sum_so_far(items):
    path = TASKS[SUMS].paths(np.array(items))
    assert [TASKS[SUMS].states[one] for one in path] == [
        str(sum(items[: at + 1])) for at in range(len(items))
    ]


@given(ITEMS)
def test_the_path_of_the_ball_is_who_holds_it_when_all_hands_are_followed(items):
    task, hands, held = TASKS[BALL], {one: one for one in study.PEOPLE}, []
    for item in items:
        one, other = task.items[item]
        hands[one], hands[other] = hands[other], hands[one]
        held += [who for who, thing in hands.items() if thing == study.PEOPLE[0]]
    assert [task.states[one] for one in task.paths(np.array(items))] == held
    assert task.spelled(items)[1] == " ".join(held)


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("way", WAYS)
def test_only_what_stands_behind_the_equals_sign_is_learned(name, way):
    task = TASKS[name]
    inputs, targets = make_think_tasks.batch(task, np.random.default_rng(0), way)
    equals, colon = (SIGNS.index(one) for one in "=:")
    for read, learned in zip(inputs, targets, strict=True):
        places = (learned != IGNORED).nonzero()[0]
        assert read[study.SLOTS] == equals and places[0] == study.SLOTS
        said = [task.tokens[one] for one in learned[places]]
        items = [one - len(SIGNS) for one in read[: study.SLOTS] if one >= len(SIGNS)]
        path = [task.states[one] for one in task.paths(np.array(items))]
        dots = ["."] * len(items)
        between = {"direct": [], "dots": dots, "path": path}[way]
        assert said == [*between, ":", path[-1]]
        assert (read[places[1:]] == learned[places[:-1]]).all()
        assert 1 <= len(items) <= study.TRAINED and read[places[-1]] == colon


@pytest.mark.parametrize("name", TASKS)
def test_each_way_of_a_seed_reads_the_same_items(name):
    read = [make_think_tasks.batch(TASKS[name], np.random.default_rng(1), way)[0] for way in WAYS]
    assert all((one[:, : study.SLOTS] == read[0][:, : study.SLOTS]).all() for one in read)


class Knows(torch.nn.Module):
    """Writes the right path and the right answer."""

    def __init__(self, task, mistakes=0):
        super().__init__()
        self.task, self.mistakes = task, mistakes

    def forward(self, texts, last_only):
        places, first = len(SIGNS) + len(self.task.items), len(SIGNS)
        out = torch.zeros(len(texts), 1, len(self.task.tokens))
        for row, text in enumerate(texts.numpy()):
            items = [one - first for one in text[: study.SLOTS] if one >= first]
            at = len(text) - study.SLOTS - 1
            path = self.task.paths(np.array(items))
            state = path[-1] if text[-1] == SIGNS.index(":") else path[min(at, len(path) - 1)]
            out[row, 0, places + (state + self.mistakes) % len(self.task.states)] = 1
        return out, None


@pytest.mark.parametrize("name", TASKS)
def test_who_knows_the_task_is_measured_as_right_and_who_does_not_as_wrong(name):
    for way in WAYS:
        best = make_think_tasks.measure(Knows(TASKS[name]), name, way, 0, 0.0)
        worst = make_think_tasks.measure(Knows(TASKS[name], 1), name, way, 0, 0.0)
        assert {one.value for one in best.right.values()} == {1.0}
        assert {one.value for one in worst.right.values()} == {0.0}
        assert bool(best.steps_right) == (way == PATH)
        assert {one.value for one in best.steps_right.values()} <= {1.0}


def test_a_training_is_repeated_to_the_bit():
    first, second = (make_think_tasks.train(BALL, PATH, 3, steps=3) for _ in range(2))
    assert first[1] == second[1]
    for one, other in zip(first[0].parameters(), second[0].parameters(), strict=True):
        assert torch.equal(one, other)


def test_the_record_is_whole():
    for (name, way), models in study.recorded().items():
        assert [(one.task, one.way, one.seed) for one in models] == [
            (name, way, seed) for seed in study.SEEDS
        ]
        for one in models:
            assert tuple(one.right) == study.LENGTHS
            assert tuple(one.steps_right) == (study.LENGTHS if way == PATH else ())
            assert all(each.of == study.TESTS for each in one.right.values())


KINDS = list(product(texts.ORDERS, texts.WAYS))


@pytest.mark.parametrize("bits", [[], [2], [0] * (texts.SLOTS + 1)])
def test_bits_that_are_none_are_refused(bits):
    with pytest.raises(ValueError, match="bit"):
        think.write(think.bundled(), bits)


@pytest.mark.parametrize("change", [-1, 3])
def test_a_step_that_is_not_there_cannot_be_changed(change):
    with pytest.raises(ValueError, match="3 steps"):
        think.write(think.bundled(), [0, 1, 1], change)


@pytest.mark.parametrize("tokens", [1, 22, 38])
def test_multiplications_are_those_that_torch_counts(tokens):
    model = think.new_model().eval()
    counter = FlopCounterMode(display=False)
    with torch.no_grad(), counter:
        model(torch.zeros(1, tokens, dtype=torch.long))
    # torch counts a multiplication and an addition as two, and the attention of this kernel not.
    pairs = sum(query + 1 for query in range(tokens))
    attention = think.LAYERS * 2 * think.WIDTH * pairs  # a score and a share of a value
    assert counter.get_total_flops() // 2 + attention == think.multiplications(tokens)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 1), min_size=1, max_size=texts.TRAINED), st.data())
def test_the_bundled_model_goes_on_from_a_changed_step(bits, data):
    plain = think.write(think.bundled(), bits)
    assert plain.path == texts.path_of(bits, texts.PATH)
    assert plain.is_right
    assert plain.slips == []
    place = data.draw(st.integers(0, len(bits) - 1))
    changed = think.write(think.bundled(), bits, place)
    assert changed.path[:place] == plain.path[:place]
    assert changed.path[place:] == [1 - one for one in plain.path[place:]]
    assert changed.answer == 1 - plain.answer
    assert changed.slips == [place]


def test_the_bundled_results_hold_what_the_chapter_says_of_them():
    found = think.recorded()
    assert list(found) == KINDS
    for (order, way), models in found.items():
        assert [(one.order, one.way, one.seed) for one in models] == [
            (order, way, seed) for seed in think.SEEDS
        ]
        for one in models:
            assert tuple(one.right) == think.LENGTHS
            assert all(share.of == think.TESTS for share in one.right.values())
            assert bool(one.steps_right) == bool(one.shown) == bool(one.changed)
            assert bool(one.changed) == (way == texts.PATH)
    error = 3 * (0.25 / think.TESTS) ** 0.5  # of a guess
    for one in found[think.WRITES]:
        others = [one.shown[kind].value for kind in think.SHOWN if kind != think.OWN]
        assert max(others) <= 0.5 + error < one.shown[think.OWN].value
        assert one.right[texts.TRAINED].value > 0.9


def test_the_bundled_model_is_the_one_that_was_measured():
    measured = think.recorded()[think.WRITES][0]
    rng = np.random.default_rng(12_345)
    for n in think.LENGTHS[:4]:
        bits = rng.integers(0, 2, (think.TESTS, n))
        asked = np.array([texts.question(row) for row in bits.tolist()])
        written = make_think_first.write_path(think.bundled(), asked, n)
        right = make_think_first.answers(think.bundled(), written) == bits.sum(-1) % 2
        assert int(right.sum()) == measured.right[n].hits


def test_the_bundled_model_without_steps_is_the_one_that_was_measured():
    measured = think.recorded()[think.AT_ONCE][0]
    rng = np.random.default_rng(12_345)
    for n in think.LENGTHS:
        bits = rng.integers(0, 2, (think.TESTS, n))
        asked = np.array([texts.question(row) for row in bits.tolist()])
        right = make_think_first.answers(think.bundled(think.AT_ONCE), asked) == bits.sum(-1) % 2
        # Where two answers are as likely, another machine may prefer the other one.
        assert abs(int(right.sum()) - measured.right[n].hits) <= 2
    one = think.write_at_once(think.bundled(think.AT_ONCE), [1])
    assert (one.answer, one.steps, one.is_right) == (1, (), True)
    with pytest.raises(ValueError, match="bit"):
        think.write_at_once(think.bundled(think.AT_ONCE), [])


def test_a_short_training_learns_and_can_be_measured(monkeypatch):
    monkeypatch.setattr(make_think_first, "TESTS", 8)
    monkeypatch.setattr(make_think_first, "LENGTHS", (1, texts.TRAINED))
    _, before = make_think_first.train(texts.MIXED, texts.PATH, 0, 1)
    for order in texts.ORDERS:
        model, loss = make_think_first.train(order, texts.PATH, 0, 12)
        assert loss < before
    measured = make_think_first.measure(model, order, texts.PATH, 0, loss)
    assert set(measured.shown) == set(think.SHOWN)
    assert measured.changed is not None
    assert measured.changed.follows.hits + measured.changed.right.hits <= 8


def test_a_training_draws_no_text_longer_than_its_step_allows(monkeypatch):
    drawn = []

    def counted(rng, way, longest):
        inputs, targets = texts.batch(rng, way, longest)
        assert (inputs[:, : texts.SLOTS] != texts.BLANK).sum(-1).max() <= longest
        drawn.append(longest)
        return inputs, targets

    monkeypatch.setattr(make_think_first, "batch", counted)
    for order in texts.ORDERS:
        drawn.clear()
        make_think_first.train(order, texts.DIRECT, 0, 20)
        assert drawn == [make_think_first.longest_at(step, 20, order) for step in range(20)]
