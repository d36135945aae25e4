"""Tables of the pages: what stands in them is what was given, in its order."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest


def page() -> None:
    """Three tables, one of them without rows."""
    import numpy as np

    from llmviz.course.ui.common import rows_table

    rows_table([["a", 1, 0.5], ["b", 2, float("nan")]], ["name", "steps", "loss"])
    rows_table(zip(np.arange(3), ["<b>x</b>", "", "é"], strict=True), "za", width=300)
    rows_table([], ["name", "steps"])


def test_rows_and_columns_come_as_given():
    app = AppTest.from_function(page).run()
    assert not app.exception
    rows, columns, none = (one.value for one in app.dataframe)
    assert list(rows.columns) == ["name", "steps", "loss"]
    assert list(rows["name"]) == ["a", "b"] and list(rows["steps"]) == [1, 2]
    assert rows["loss"][0] == 0.5 and rows["loss"].isna().tolist() == [False, True]
    assert columns.to_dict("list") == {"z": [0, 1, 2], "a": ["<b>x</b>", "", "é"]}
    assert list(none.columns) == ["name", "steps"] and len(none) == 0
