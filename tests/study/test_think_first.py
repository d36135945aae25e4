"""Parity at once, after dots and after written steps: texts, costs, and the bundled results."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils.flop_counter import FlopCounterMode

from llmviz.nn.loss import IGNORED
from llmviz.study import think_first as think

BITS = st.lists(st.integers(0, 1), min_size=1, max_size=think.SLOTS)


@given(BITS, st.sampled_from(think.WAYS))
def test_a_text_ends_with_the_parity_and_its_path_counts_ones(bits, way):
    text = think.text_of(bits, way)
    read = "".join(think.TOKENS[one] for one in text)
    asked, behind = read.split("=")
    path, answer = behind.split(":")
    assert asked == "".join(map(str, bits)).ljust(think.SLOTS, "_")
    assert int(answer) == bits.count(1) % 2
    counted = "".join(str(sum(bits[: at + 1]) % 2) for at in range(len(bits)))
    assert path == {think.DIRECT: "", think.DOTS: "." * len(bits), think.PATH: counted}[way]


def test_each_way_of_a_seed_learns_from_the_same_bits_and_only_behind_the_question():
    batches = {way: think.batch(np.random.default_rng(3), way) for way in think.WAYS}
    asked = [inputs[:, : think.SLOTS + 1] for inputs, _ in batches.values()]
    assert all((one == asked[0]).all() for one in asked)
    lengths = (asked[0] < 2).sum(-1)
    assert lengths.min() >= 1
    assert lengths.max() <= think.TRAINED
    for way, (inputs, targets) in batches.items():
        assert (targets[:, : think.SLOTS] == IGNORED).all()
        steps = 0 if way == think.DIRECT else lengths
        assert ((targets != IGNORED).sum(-1) == steps + 2).all()
        follow = (targets[:, :-1] != IGNORED) & (targets[:, 1:] != IGNORED)
        assert (inputs[:, 1:][follow] == targets[:, :-1][follow]).all()


@pytest.mark.parametrize("bits", [[], [2], [0] * (think.SLOTS + 1)])
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
@given(st.lists(st.integers(0, 1), min_size=1, max_size=think.TRAINED), st.data())
def test_the_bundled_model_goes_on_from_a_changed_step(bits, data):
    plain = think.write(think.bundled(), bits)
    assert plain.path == think.path_of(bits, think.PATH)
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
    assert [one.seed for one in found[think.PATH]] == list(think.SEEDS)
    for way in think.WAYS:
        for one in found[way]:
            assert tuple(one.right) == think.LENGTHS
            assert all(share.of == think.TESTS for share in one.right.values())
    error = 3 * (0.25 / think.TESTS) ** 0.5  # of a guess
    for one in found[think.PATH]:
        others = [one.shown[kind].value for kind in think.SHOWN if kind != think.OWN]
        assert max(others) <= 0.5 + error < one.shown[think.OWN].value
        assert one.right[think.TRAINED].value > 0.9
    for way in (think.DIRECT, think.DOTS):
        assert max(one.right[think.TRAINED].value for one in found[way]) <= 0.5 + error


def test_the_bundled_model_is_the_one_that_was_measured():
    measured = think.recorded()[think.PATH][0]
    rng = np.random.default_rng(12_345)
    for n in think.LENGTHS[:4]:
        bits = rng.integers(0, 2, (think.TESTS, n))
        asked = np.array([think.question(row) for row in bits.tolist()])
        texts = think.write_path(think.bundled(), asked, n)
        right = think.answers(think.bundled(), texts) == bits.sum(-1) % 2
        assert int(right.sum()) == measured.right[n].hits


def test_results_that_are_missing_or_damaged_name_the_command(tmp_path):
    for read in (think.recorded, think.bundled):
        with pytest.raises(ValueError, match=think.COMMAND):
            read(tmp_path)
    (tmp_path / think.FILE).write_text(json.dumps({"models": [{"way": "path"}]}), "utf-8")
    think.recorded.cache_clear()
    with pytest.raises(ValueError, match="damaged"):
        think.recorded(tmp_path)
    think.recorded.cache_clear()


def test_a_short_training_learns_and_can_be_measured(monkeypatch):
    monkeypatch.setattr(think, "TESTS", 8)
    monkeypatch.setattr(think, "LENGTHS", (1, think.TRAINED))
    _, before = think.train(think.PATH, 0, 1)
    model, loss = think.train(think.PATH, 0, 12)
    assert loss < before
    measured = think.measure(model, think.PATH, 0, loss)
    assert set(measured.shown) == set(think.SHOWN)
    assert measured.changed is not None
    assert measured.changed.follows.hits + measured.changed.right.hits <= 8
