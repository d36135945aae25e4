"""From counts to units: pairs of letters, series that are fitted, and units that remember."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as some
from torch import nn

from llmviz.corpus.counts import LETTERS, count_letter_pairs, letter_pair_counts
from llmviz.course.lessons.history.counting.model import learned_pairs, table_descent
from llmviz.course.lessons.history.letter_pairs import (
    average_loss,
    fall,
    one_hot_fit,
    probabilities,
    sample_name,
    walk,
)
from llmviz.course.lessons.history.recurrent.unit_roles import LATER, find_roles
from llmviz.course.lessons.history.series import series_fit
from llmviz.tokenizers import train_tokenizer
from llmviz.trace import Tap, name_taps

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
    throws = sample_name(table, seed, longest=30)
    for one in throws:
        assert one.start <= one.u < one.end or one.end == pytest.approx(1)
        row, column = LETTERS.index(one.first), LETTERS.index(one.letter)
        assert one.end - one.start == pytest.approx(table[row, column])
        assert table[row, column] > 0
    assert [one.letter for one in throws[:-1]] == [one.first for one in throws[1:]]
    assert throws[-1].letter == "." or len(throws) == 30


def test_letters_come_as_often_as_the_table_says():
    first = [sample_name(probabilities(COUNTS), seed, 1)[0].letter for seed in range(2_000)]
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


@settings(max_examples=40, deadline=None)
@given(some.integers(0, 10_000), some.integers(1, 8), some.floats(0.01, 1000))
def test_coefficients_are_those_of_numpy_and_sklearn(seed, lags, size):
    from sklearn.linear_model import LinearRegression

    values = size * np.random.default_rng(seed).normal(3, 1, 60)
    fit = series_fit.fit_series(values, lags)
    np.testing.assert_allclose(fit.b, np.linalg.lstsq(fit.x, fit.y, rcond=None)[0], rtol=1e-6)
    other = LinearRegression().fit(fit.x[:, 1:], fit.y)
    np.testing.assert_allclose(fit.b[1:], other.coef_, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(fit.normal @ fit.b, fit.right, rtol=1e-8)
    np.testing.assert_allclose(fit.x.T @ fit.errors, 0, atol=1e-6 * size**2 * 60)


def test_rows_hold_a_one_and_the_values_before_the_last_first():
    fit = series_fit.fit_series(np.array([1.0, 5.0, 2.0, 8.0, 3.0, 9.0]), 2)
    assert fit.x.tolist() == [[1, 5, 1], [1, 2, 5], [1, 8, 2], [1, 3, 8]]
    assert fit.y.tolist() == [2, 8, 3, 9]


def test_rows_at_a_gap_are_left_out():
    values = np.array([1.0, 5, 2, np.nan, 8, 3, 9, 4, 7])
    fit = series_fit.fit_series(values, 1)
    assert fit.left_out == 2
    assert fit.y.tolist() == [5, 2, 3, 9, 4, 7]


def test_a_damped_swing_is_found_and_told_exactly():
    values = series_fit.swing(40)
    fit = series_fit.fit_series(values[:20], 2)
    turn = 2 * np.pi / 12
    np.testing.assert_allclose(fit.b, [0, 2 * 0.96 * np.cos(turn), -(0.96**2)], atol=1e-10)
    np.testing.assert_allclose(series_fit.forecast(values[:20], fit.b, 20), values[20:], atol=1e-9)


def test_fibonacci_is_found():
    fit = series_fit.fit_series(series_fit.read_series("1 1 2 3 5 8 13 21 34 55"), 2)
    np.testing.assert_allclose(fit.b, [0, 1, 1], atol=1e-9)


def test_yules_sunspots_give_about_what_yule_published():
    values = series_fit.sunspots()
    assert len(values) == 1924 - series_fit.FIRST_YEAR + 1
    # Yule 1927 has 1.34254 and −0.65504 on deviations from the mean, 44.75.
    fit = series_fit.fit_series(values, 2)
    np.testing.assert_allclose(fit.b[1:], [1.34254, -0.65504], atol=0.01)
    assert values.mean() == pytest.approx(44.75, abs=0.05)


def test_errors_run_over_what_is_known():
    errors = series_fit.running_error(np.array([1.0, 2, 3]), np.array([np.nan, 4, 3]))
    assert np.isnan(errors[0])
    np.testing.assert_allclose(errors[1:], [2, np.sqrt(2)])


@pytest.mark.parametrize(
    ("values", "lags", "rule"),
    [
        ([5], 1, "at least 2 values; the part that is fitted has 1"),
        ([1, 2, 4], 3, "3 values before each one needs at least 4"),
        ([4, 4, 4, 4, 4, 4], 2, "all values that are looked back at are 4"),
        ([1, 2, 4, 9], 2, "3 coefficients need at least 3 rows"),
        ([1, 2, 1, 2, 1, 2, 1, 2, 1], 2, "only 2 of the 3 columns of X are independent"),
        ([1, 2, 3, 4, 5, 6, 7, 8], 2, "infinitely many b fit equally well"),
        ([1, np.nan, 2, np.nan, 3, np.nan], 1, "there are 0 without a gap"),
        ([1e9, 1e9 + 1, 1e9 + 3, 1e9, 1e9 + 2, 1e9 + 7], 1, "has no reliable inverse"),
        ([1, 2, 3], 0, "at least 1 lag is needed; got 0"),
    ],
)
def test_what_has_no_single_best_fit_is_refused_with_the_reason(values, lags, rule):
    with pytest.raises(series_fit.SeriesError, match=rule):
        series_fit.fit_series(np.array(values, dtype=float), lags)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("", "no number yet"),
        (" , ?, nan", "no number yet"),
        ("1 two 3", "got 'two'"),
        ("1 inf", "between −10⁹ and 10⁹; got 'inf'"),
        ("1 2e9", "got '2e9'"),
        ("1 " * 401, "at most 400 values here; got 401"),
    ],
)
def test_a_text_that_is_no_series_is_refused(text, rule):
    with pytest.raises(series_fit.SeriesError, match=rule):
        series_fit.read_series(text)


def test_gaps_and_signs_are_read():
    values = series_fit.read_series("−1.5; 2,,  ?\n3")
    np.testing.assert_array_equal(values, [-1.5, 2, np.nan, np.nan, 3])


def test_a_forecast_needs_values_to_begin_with():
    with pytest.raises(series_fit.SeriesError, match="one of them is a gap"):
        series_fit.forecast(np.array([1.0, 2, np.nan]), np.array([0.0, 1, 1]), 3)
    assert series_fit.forecast(np.array([2.0, 3.0]), np.array([1.0, 0.5]), 2).tolist() == [
        2.5,
        2.25,
    ]


def test_the_sea_is_warmest_in_the_months_that_the_source_says_and_in_el_nino():
    years = series_fit.sea_temperatures().reshape(-1, 12)
    assert len(years) == 15 and years.min() > 17 and years.max() < 30
    assert set(years.mean(0).argsort()[-2:]) <= {1, 2, 3}  # February to April in the south
    assert years.mean(1).argmax() in (2, 3)  # 1997 and 1998


# Of the even ones, on which units are searched, most begin with a; of the others most with b.
NAMES = ["abcde", "bcdeab", "adceb", "bdcae", "cadbe", "ceabd"] * 6
TOKENIZER = train_tokenizer("char", NAMES)


class Known(nn.Module):
    """Unit 0 counts letters, unit 1 holds the first one once `LATER` others came, 2 is noise."""

    context_length = 12

    def __init__(self) -> None:
        super().__init__()
        layer = nn.Module()
        layer.tap = Tap("hidden")
        self.layers = nn.ModuleList([layer])
        name_taps(self)

    def forward(self, idx: torch.Tensor) -> None:
        place = torch.arange(idx.shape[1]).expand(idx.shape)  # 0 is the start
        first = idx[:, 1:2].expand(idx.shape)
        noise = torch.rand(idx.shape, generator=torch.Generator().manual_seed(0))
        held = torch.where(place > LATER, first, 100 * noise)
        self.layers[0].tap(torch.stack((-2.0 * place, held, noise), dim=-1))


def test_the_counting_and_the_remembering_unit_are_found_and_measured_on_other_names():
    found = find_roles(Known(), TOKENIZER, NAMES)
    assert (found.counts, found.remembers) == (0, 1)
    assert found.correlation == pytest.approx(-1)
    assert found.explained == pytest.approx(1) and found.names == len(NAMES) // 2
    searched, other = NAMES[::2], NAMES[1::2]
    firsts = [name[0] for name in searched for _ in name[LATER:]]
    usual = max(set(firsts), key=firsts.count)
    asked = [name[0] for name in other for _ in name[LATER:]]
    assert found.usual == pytest.approx(asked.count(usual) / len(asked))
    assert found.usual != pytest.approx(firsts.count(usual) / len(firsts))
