"""What a picture's numbers say in words, run in Node and held against NumPy."""

from __future__ import annotations

import json
import re
import shutil

import numpy as np
import pytest

from tests.course.components.test_finder import run

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="node is not here")


def said(*tables: dict) -> str:
    """Return the summary of these tables."""
    code = f"console.log(JSON.stringify(it.summary({json.dumps(tables)})))"
    return run("_shared/saver/summary.js", code)


def test_the_extremes_of_a_table_are_where_numpy_finds_them():
    for seed in range(3):
        values = np.random.default_rng(seed).normal(size=(5, 4)).round(2)
        rows = [[f"r{i}", *map(float, row)] for i, row in enumerate(values)]
        text = said({"title": "weights", "head": ["", "a", "b", "c", "d"], "rows": rows})
        assert text.startswith("weights: 5 rows, 20 numbers.")
        for name, place in (("largest", values.argmax()), ("smallest", values.argmin())):
            row, column = divmod(int(place), 4)
            found = re.search(rf"{name} is (\S+) at r{row}, {'abcd'[column]}\b", text)
            assert found and float(found[1]) == values[row, column]


def test_ties_one_value_no_numbers_and_covered_cells_are_said_as_they_are():
    table = {"title": "", "head": ["", "a", "b"], "rows": [["x", 2, 2], ["y", 2, 2]]}
    assert said(table) == "2 rows, 4 numbers. All are 2."
    table["rows"] = [["x", 3, 1], ["y", 3, "?"]]
    assert said(table) == (
        "2 rows, 3 numbers. The largest is 3 at x, a and 1 more; the smallest is 1 at x, b."
    )
    assert said({"title": "t", "head": ["word"], "rows": [["한국어"]]}) == "t: 1 row, 0 numbers."
    assert said() == said({"title": "", "head": None, "rows": []})
    many = [{"title": "", "head": ["", "a"], "rows": [["x", n]]} for n in range(6)]
    assert said(*many).endswith("2 more tables.")


def test_a_column_says_how_it_goes_from_its_first_to_its_last_number():
    for values, goes in (
        ([1, 2, 2, 3, 4], "from 1 to 4 and never falls."),
        ([4, 3, 2, 2, 1], "from 4 to 1 and never rises."),
        ([5, 5, 5, 5, 5], "from 5 to 5 and stays the same."),
        ([1, 3, 2, 5, 4], "from 1 to 4 and ends higher, not in a straight way."),
        ([4, 5, 2, 3, 1], "from 4 to 1 and ends lower, not in a straight way."),
        ([1, 5, 2, 3, 1], "from 1 to 1 and ends where it began."),
    ):
        table = {"title": "", "head": ["loss"], "rows": [[value] for value in values]}
        assert said(table).endswith(f"loss goes {goes}")
