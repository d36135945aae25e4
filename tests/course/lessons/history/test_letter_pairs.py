"""The counted pairs: the known loss, a name's way, the dice, and the network that learns them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from llmviz.corpus.counts import LETTERS, count_letter_pairs, letter_pair_counts
from llmviz.course.lessons.history.counting.model import learned_pairs, table_descent
from llmviz.course.lessons.history.letter_pairs import (
    average_loss,
    fall,
    one_hot_fit,
    probabilities,
    throw_name,
    walk,
)

COUNTS = letter_pair_counts()
words = some.text("abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=15)


def test_the_loss_of_the_table_is_the_published_one():
    assert round(average_loss(COUNTS), 4) == 2.4540
    assert round(average_loss(COUNTS, added=1), 4) == 2.4546


@given(words)
def test_a_name_is_the_product_of_its_pairs(name):
    steps = walk(COUNTS, name)
    assert "".join(one.second for one in steps) == f"{name}."
    table = count_letter_pairs([name])
    shares = probabilities(COUNTS)
    assert steps[-1].product == pytest.approx(math.prod((shares**table).ravel()))
    if steps[-1].product:
        assert sum(one.loss for one in steps) == pytest.approx(-math.log(steps[-1].product))
    else:
        assert any(math.isinf(one.loss) for one in steps)


def test_a_row_without_counts_is_uniform():
    assert probabilities(np.zeros((3, 3))).tolist() == [[1 / 3] * 3] * 3


def test_least_squares_of_one_hot_rows_is_the_counted_table():
    small = count_letter_pairs(["abca", "cab", "bb"])[:4, :4]
    pairs = [(i, j) for i in range(4) for j in range(4) for _ in range(small[i, j])]
    x, y = np.eye(4)[[i for i, _ in pairs]], np.eye(4)[[j for _, j in pairs]]
    np.testing.assert_allclose(one_hot_fit(small), np.linalg.lstsq(x, y, rcond=None)[0], atol=1e-12)
    np.testing.assert_allclose(one_hot_fit(COUNTS), probabilities(COUNTS), atol=1e-12)
    with pytest.raises(ValueError, match="'a' never came first"):
        one_hot_fit(np.array([[1, 1], [0, 0]]))


@given(some.integers(0, 9_999))
def test_each_random_number_falls_into_the_piece_of_its_letter(seed):
    table = probabilities(COUNTS)
    throws = throw_name(table, seed, longest=30)
    for one in throws:
        assert one.start <= one.u < one.end or one.end == pytest.approx(1)
        row, column = LETTERS.index(one.first), LETTERS.index(one.letter)
        assert one.end - one.start == pytest.approx(table[row, column])
        assert table[row, column] > 0
    assert [one.letter for one in throws[:-1]] == [one.first for one in throws[1:]]
    assert throws[-1].letter == "." or len(throws) == 30


def test_letters_come_as_often_as_the_table_says():
    first = [throw_name(probabilities(COUNTS), seed, 1)[0].letter for seed in range(2_000)]
    share = COUNTS[0, 1] / COUNTS[0].sum()
    assert abs(first.count("a") / 2_000 - share) < 4 * math.sqrt(share * (1 - share) / 2_000)


def test_random_numbers_fall_on_pieces_as_long_as_their_share():
    row = np.array([0.0, 0.25, 0.75, 0.0])
    numbers, pieces = fall(row, 1_000, (1, 2))
    np.testing.assert_array_equal(pieces, np.where(numbers < 0.25, 1, 2))


@pytest.fixture(scope="module")
def way():
    return table_descent(200)


def test_the_network_reaches_the_counted_loss(way):
    assert way.tables.shape == (201, 27, 27)
    assert way.losses[0] == pytest.approx(math.log(27))
    assert way.floor == pytest.approx(average_loss(learned_pairs()))
    assert (way.losses >= way.floor - 1e-12).all()
    assert way.losses[-1] == pytest.approx(way.floor, abs=1e-3)


def test_each_table_has_the_loss_that_is_said(way):
    counts = learned_pairs()
    np.testing.assert_allclose(way.tables.sum(2), 1)
    own = -(counts * np.log(way.tables)).sum((1, 2)) / counts.sum()
    np.testing.assert_allclose(way.losses, own)
