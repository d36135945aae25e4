"""What the two light figures are sent, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest

from llmviz.course.components.arrows.view import arrows_payload
from llmviz.course.components.histogram.view import histogram_payload
from llmviz.course.components.paired_bars.view import pairs_payload


def test_every_value_stands_in_one_bar_and_every_mark_is_a_line():
    values = np.random.default_rng(0).normal(size=4_000)
    sent = histogram_payload(values, values[:3])
    assert sent["counts"].sum() == len(values)
    edges = sent["edges"].astype(np.float64)
    for bar in (0, 30, 59):  # counted by hand; an edge is rounded to float32
        inside = (values > edges[bar] + 1e-6) & (values < edges[bar + 1] - 1e-6)
        assert abs(int(inside.sum()) - int(sent["counts"][bar])) <= 1
    np.testing.assert_allclose(sent["marks"], values[:3], rtol=1e-6)


def test_the_name_of_the_marks_stands_on_the_side_of_the_other_values():
    values = np.arange(100.0)
    assert not histogram_payload(values, [98.0, 99.0])["right"]
    assert histogram_payload(values, [1.0])["right"]


@pytest.mark.parametrize(
    ("values", "marks"), [([], []), ([1.0, np.nan], []), ([1.0], [np.inf]), ([[1.0]], [])]
)
def test_bars_of_what_is_no_number_are_refused(values, marks):
    with pytest.raises(ValueError, match="finite"):
        histogram_payload(np.array(values), marks)


def test_arrows_are_two_points_with_a_name_each():
    sent = arrows_payload(np.array([[1.0, 0.0], [0.5, 2.0]]), ["A", "B"])
    assert sent["tips"].tolist() == [[1.0, 0.0], [0.5, 2.0]] and sent["names"] == ["A", "B"]
    for points, names in (
        (np.zeros((2, 3)), ["A", "B"]),
        (np.array([[1.0, 0.0], [0.5, np.nan]]), ["A", "B"]),
        (np.zeros((2, 2)), ["A"]),
    ):
        with pytest.raises(ValueError, match="two"):
            arrows_payload(points, names)


def test_pairs_of_bars_fit_their_labels_and_their_room():
    sent = pairs_payload(["a", "b"], np.array([0.5, 0.25]), np.array([0.0, 0.125]), 0.5)
    assert sent["before"].tolist() == [0.5, 0.25] and sent["after"].tolist() == [0.0, 0.125]
    assert pairs_payload(["a"], np.array([0.5]), None, 0.5)["after"] is None
    for labels, before, limit, rule in (
        (["a"], [0.5, 0.5], 1.0, "as many values"),
        ([], [], 1.0, "as many values"),
        (["a", "b"], [0.5, -0.1], 1.0, "not below 0"),
        (["a", "b"], [0.5, 0.7], 0.6, "no room"),
    ):
        with pytest.raises(ValueError, match=rule):
            pairs_payload(labels, np.array(before), np.array(before), limit)
