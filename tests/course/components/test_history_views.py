"""What the pictures from counts to GPT are sent: whole, and refused where it does not fit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from llmviz.corpus.drawn_pictures import SIDE, read_picture, write_picture
from llmviz.course.components._shared.transport import unpack
from llmviz.course.components.draw_pad.view import draw_pad
from llmviz.course.components.rings.view import rings
from llmviz.course.components.series_view.view import read_step, series_payload
from llmviz.course.components.table_film.view import film_of_table


@given(some.integers(0, 2**32 - 1))
def test_a_picture_comes_back_as_it_was_written(seed):
    picture = (np.random.default_rng(seed).random((SIDE, SIDE)) < 0.5).astype(np.uint8)
    np.testing.assert_array_equal(read_picture(write_picture(picture)), picture)


@pytest.mark.parametrize("raw", [None, 3, "", "0" * 99, "g" * 100, "0" * 101, [0] * 100])
def test_what_is_no_picture_is_let_go(raw):
    assert read_picture(raw) is None


def test_pictures_and_rings_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match=r"20 rows and 20 columns; got \(3, 3\)"):
        draw_pad(np.zeros((3, 3)), key="pad", words={})
    with pytest.raises(ValueError, match="got 2 and 1"):
        rings(["a", "b"], ["c"], key="rings", label="fields")
    with pytest.raises(ValueError, match="got 0 and 0"):
        rings([], [], key="rings", label="fields")


def test_a_film_holds_all_tables():
    tables = np.random.default_rng(0).random((3, 2, 2))
    film = film_of_table(tables, np.ones(3), tables[0])
    shown = unpack(film.data)
    np.testing.assert_allclose(shown["tables"], tables, rtol=1e-6)
    with pytest.raises(ValueError, match=r"a film needs .* got \(3, 2, 2\), \(2,\)"):
        film_of_table(tables, np.ones(2), tables[0])
    with pytest.raises(ValueError, match="the losses must be finite"):
        film_of_table(tables, np.array([1, np.nan, 2]), tables[0])


def test_a_series_that_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="2 of 3 values cannot be fitted with 4 numbers"):
        series_payload(np.ones(3), 2, [1, 2, 3, 4], 0, drawable=False)
    with pytest.raises(ValueError, match="coefficients must be finite"):
        series_payload(np.ones(3), 3, [1, np.inf], 0, drawable=False)
    with pytest.raises(ValueError, match="values from 0 to 100"):
        series_payload(np.array([3.0, 101]), 2, [], 0, drawable=True)
    with pytest.raises(ValueError, match=r"one row of values; got shape \(0,\)"):
        series_payload(np.ones(0), 0, [], 0, drawable=False)
    assert np.isnan(series_payload(np.array([1, np.nan]), 2, [], 0, drawable=False)["values"][1])
    assert (read_step(3, 2, 1), read_step("3", 5, 1), read_step(4, 5, 1)) == (1, 1, 4)
