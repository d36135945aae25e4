"""The machine's payload: data that do not fit are refused before they reach the browser."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from llmviz.course.components.machine.view import MachineRow, MachineValues, View, machine_payload

R, L, H, C, K = 3, 2, 2, 4, 5
ROWS = [MachineRow(f"t{i}", i, i) for i in range(R)]


def values(**changes) -> MachineValues:
    rng = np.random.default_rng(0)
    shapes = {
        "vectors": (L + 1, R, C),
        "weights": (L, H, R, R),
        **dict.fromkeys(("earlier", "queries", "keys", "values"), (L, H, R)),
        **dict.fromkeys(("attention", "mlp"), (L, R)),
        **dict.fromkeys(("top_logits", "top_probabilities"), (R, K)),
        "rest": (R,),
    }
    arrays = {name: rng.random(shape, np.float32) for name, shape in shapes.items()}
    ids = np.arange(R * K).reshape(R, K)
    given = MachineValues(**arrays, top_ids=ids, top_texts=[["x"] * K] * R)
    return replace(given, **changes)


def payload(given: MachineValues | None, view: View, rows=ROWS) -> dict:
    return machine_payload(rows, given, 9, {}, view, None, None, None)


def test_arrays_travel_as_they_are():
    given = values()
    sent = payload(given, View(1, (0, 1), -1, -1))
    assert np.array_equal(sent["values"]["weights"], given.weights)
    assert sent["values"]["top_ids"].dtype == np.int32
    assert payload(None, View())["values"] is None


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"mlp": np.zeros((L, R + 1), np.float32)}, "mlp must have the shape"),
        ({"vectors": np.zeros((L, R, C), np.float32)}, "vectors must have the shape"),
        ({"rest": np.full(R, np.nan, np.float32)}, "rest must be finite"),
        ({"top_texts": [["x"]] * R}, "top_texts must be 3 lists of 5"),
    ],
)
def test_values_that_do_not_fit_are_refused(changes, rule):
    with pytest.raises(ValueError, match=rule):
        payload(values(**changes), View(0, (0, 0)))


@pytest.mark.parametrize(
    ("view", "rule"),
    [
        (View(2, (0, 0)), "layer must be from 0 to 1"),
        (View(0, (0,)), "heads must be 2 numbers below 2"),
        (View(0, (0, 2)), "heads must be 2 numbers below 2"),
        (View(0, (0, 0), row=3), "row must be from -1 to 2"),
    ],
)
def test_views_that_do_not_fit_are_refused(view, rule):
    with pytest.raises(ValueError, match=rule):
        payload(values(), view)


def test_no_rows_are_refused():
    with pytest.raises(ValueError, match="at least one token"):
        payload(None, View(), rows=[])
