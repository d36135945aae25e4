"""Which rows are nearest, out of values that were measured once; the measures have their own."""

from __future__ import annotations

import numpy as np
import pytest

from llmviz.similarity import METRICS, analogy, best, measure_all, nearest


@pytest.fixture
def rows() -> np.ndarray:
    """Random rows, one of them zero."""
    made = np.random.default_rng(5).normal(size=(40, 6))
    made[7] = 0
    return made


@pytest.mark.parametrize("metric", METRICS)
def test_values_measured_once_give_what_a_search_gives(rows, metric):
    values = measure_all(rows, rows[3], metric)
    found, searched = best(values, 5, metric, [3]), nearest(rows, rows[3], 5, metric, [3])
    assert np.array_equal(found.ids, searched.ids)
    assert np.array_equal(found.values, searched.values)
    order = [i for i in np.argsort(values if metric == "euclidean" else -values) if i != 3]
    assert found.ids.tolist() == order[:5]


def test_without_k_all_rows_with_a_value_come_the_best_first(rows):
    every = analogy(rows, 0, 1, 2, None)
    assert sorted(every.ids) == [i for i in range(40) if i not in (0, 1, 2, 7)]
    assert every.undefined == 1 and (np.diff(every.values) <= 0).all()
    assert np.array_equal(analogy(rows, 0, 1, 2, 4).ids, every.ids[:4])


def test_more_than_there_are_is_refused(rows):
    with pytest.raises(ValueError, match="from 1 to the 38 rows that remain; got 39"):
        best(measure_all(rows, rows[3]), 39, exclude=[3])
