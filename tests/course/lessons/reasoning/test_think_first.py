"""Parity at once, after dots and after written steps: texts, costs, and the bundled results."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils.flop_counter import FlopCounterMode

from experiments import think_first as make_think_first
from llmviz.course.lessons.reasoning import parity_texts as texts
from llmviz.course.lessons.reasoning import think_first as think

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
