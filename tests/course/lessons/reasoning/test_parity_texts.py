"""Texts for learning parity: what stands in them, how batches are drawn, and two orders."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments import think_first as make_think_first
from llmviz.course.lessons.reasoning import parity_texts as texts
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
