"""Pairs of tokens that come again, against counting by hand and against equal weights."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from llmviz.course.lessons.discoveries.induction.pairs_again import (
    again_in,
    on_random_tokens,
    pairs_again,
)
from llmviz.models import GPT, GPTConfig
from llmviz.trace import record


@given(st.lists(st.integers(0, 3), max_size=14))
def test_pairs_are_those_that_stood_earlier_and_do_not_overlap(ids):
    expected = []
    for place in range(len(ids) - 1):
        earlier = [j for j in range(place - 1) if ids[j : j + 2] == ids[place : place + 2]]
        if earlier:
            expected.append((earlier[-1], place))
    assert pairs_again(ids) == expected


@pytest.fixture(scope="module")
def model() -> GPT:
    torch.manual_seed(3)
    config = GPTConfig(vocab_size=9, context_length=16, n_layer=2, n_head=2, n_embd=16)
    return GPT(config).eval()


def test_what_is_told_of_a_pair_is_the_models(model):
    ids = [8, 1, 2, 3, 1, 2, 8, 1]
    found = again_in(model, ids)
    assert [(one.before, one.place) for one in found] == [(1, 4), (0, 6)]
    with torch.no_grad(), record("blocks.*.attn.weights") as trace:
        chances = model(torch.tensor([ids]))[0][0].softmax(-1)
    for one in found:
        second = ids[one.place + 1]
        assert one.chance == pytest.approx(float(chances[one.place, second]), rel=1e-5)
        assert one.chance_before == pytest.approx(float(chances[one.before, second]), rel=1e-5)
        looks = [
            float(weights[0, head, one.place, one.before + 1])
            for weights in trace.values()
            for head in range(2)
        ]
        assert one.weight == pytest.approx(max(looks))
        assert looks.index(max(looks)) == 2 * one.layer + one.head
    assert again_in(model, [1, 2, 3]) == []


def test_a_model_that_looks_at_all_alike_scores_what_equal_weights_score(model):
    flat = GPT(model.config)
    with torch.no_grad():
        for block in flat.blocks:
            block.attn.qkv.weight.zero_()
            block.attn.qkv.bias.zero_()
    found = on_random_tokens(flat.eval(), range(9), texts=20, block=7)
    assert found.induction == pytest.approx(found.even, rel=1e-5)
    assert found.previous == pytest.approx(np.mean([1 / (i + 1) for i in range(2, 14)]), rel=1e-5)
    assert found.first > 0 < found.again_error
