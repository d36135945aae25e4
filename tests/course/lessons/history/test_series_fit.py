"""A series from its own past: other people's least squares, exact series, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from llmviz.course.lessons.history.series import series_fit


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
