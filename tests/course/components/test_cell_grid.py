"""What a grid of cells is sent, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from llmviz.course.components.cell_grid.view import grid_payload, read_cell

VALUES = np.array([[0.0, 0.5, 1.0], [0.25, 0.75, 2.0]])
NAMES = (["top", "bottom"], ["a", "b", "c"])
TEXTS = [["1", "2", "3"], ["4", "5", "6"]]


@given(hnp.arrays(np.float32, (2, 3), elements=st.floats(-9, 9, width=32)))
def test_values_travel_as_they_are_and_say_whether_they_have_a_sign(values):
    sent = grid_payload(values, *NAMES, TEXTS, TEXTS, values > 0, [1], "value")
    np.testing.assert_array_equal(sent["values"], values)
    assert sent["signed"] == bool((values < 0).any())
    np.testing.assert_array_equal(sent["strong"], (values > 0).astype(np.uint8))
    assert (sent["texts"], sent["notes"], sent["starts"]) == (TEXTS, TEXTS, [1])
    assert (sent["rowNames"], sent["columnNames"]) == NAMES


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        (dict(values=VALUES.T), "rows, columns"),
        (dict(values=VALUES[0]), "rows, columns"),
        (dict(values=VALUES[:, :0], column_names=[]), "rows, columns"),
        (dict(values=np.full((2, 3), np.nan)), "finite"),
        (dict(values=np.full((2, 3), -np.inf)), "finite"),
        (dict(texts=TEXTS[:1]), "texts must be 2 lists of 3"),
        (dict(notes=[["x"], ["y"]]), "notes must be 2 lists of 3"),
        (dict(strong=np.ones(3)), "strong must be"),
        (dict(role="purple"), "role must be one of .*; got 'purple'"),
    ],
)
def test_data_that_do_not_fit_are_refused(change, rule):
    given = dict(values=VALUES, row_names=NAMES[0], column_names=NAMES[1])
    with pytest.raises(ValueError, match=rule):
        grid_payload(**given | change)


@given(
    st.one_of(
        st.none(),
        st.text(),
        st.lists(st.one_of(st.integers(-3, 9), st.floats(), st.booleans(), st.text()), max_size=4),
    )
)
def test_what_the_browser_says_is_a_cell_of_the_grid_or_none(raw):
    cell = read_cell(raw, 3, 2)
    if cell is not None:
        assert list(cell) == list(raw) and 0 <= cell[0] < 3 and 0 <= cell[1] < 2
    elif isinstance(raw, list) and len(raw) == 2 and all(type(n) is int for n in raw):
        assert not (0 <= raw[0] < 3 and 0 <= raw[1] < 2)
