"""What the map of points, the pairs and the table of positions are sent, and what is refused."""

from itertools import pairwise

import numpy as np
import pytest

from llmviz.course.components.pairs_view import view as pairs
from llmviz.course.components.positions_view import view as positions
from llmviz.course.components.scatter_film import view as film
from llmviz.course.figures import theme

POINTS = np.arange(12, dtype=float).reshape(2, 3, 2)
NEAR = film.Near(0, np.array([[1], [2]]), np.array([[0.5], [0.25]]))


def payload(points=POINTS, labels=("a", "b", "c"), **more):
    given = {"words": {}, "axes": ("x", "y")}
    return film.film_payload(film.Film(points, labels, **(given | more)))


def test_frames_neighbours_and_curve_arrive_as_given():
    sent = payload(
        kinds=np.array([0, -1, 1]),
        kind_names=["red", "blue"],
        near=[NEAR],
        captions=["first", "second"],
        links=[(film.ORIGIN, 2), (0, 1)],
        curve=film.Curve("loss", [None, 2.0]),
        shade=film.Shade("trust", np.array([0.5, 0.75, 1.0]), 0.5),
    )
    assert np.array_equal(sent["points"], POINTS)
    assert sent["kinds"].tolist() == [0, -1, 1]
    assert sent["near"][0]["ids"].tolist() == [[1], [2]]
    assert sent["near"][0]["values"].tolist() == [[0.5], [0.25]]
    assert sent["curve"] == {"title": "loss", "values": [None, 2.0]}
    assert sent["shade"]["low"] == 0.5
    assert sent["links"].tolist() == [[-1, 2], [0, 1]]
    assert (sent["colors"], sent["shapes"]) == (len(theme.CATEGORIES["light"]), list(theme.SHAPES))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: payload(POINTS[0]), r"\(frames, points, 2\)"),
        (lambda: payload(POINTS + np.inf), "two finite numbers"),
        (lambda: payload(labels=("a",)), "labels must be 3; got 1"),
        (lambda: payload(captions=("a",)), "captions must be 2; got 1"),
        (lambda: payload(links=[(0, 3)]), "links must join points from 0 to 2, or -1"),
        (lambda: payload(links=[(-2, 0)]), "links must join points from 0 to 2, or -1"),
        (lambda: payload(kinds=np.array([0, 0, 3]), kind_names=("red",)), "kind 3 has no name"),
        (lambda: payload(near=[film.Near(7, NEAR.ids, NEAR.values)]), "among the 3 points"),
        (lambda: payload(near=[film.Near(0, NEAR.ids[:1], NEAR.values[:1])]), r"must be \(2, k\)"),
        (
            lambda: pairs.pairs_payload(["a"], np.ones(1), [0], np.array([[0, 1]]), [], {}),
            "places among the 1 words",
        ),
        (lambda: pairs.pairs_payload(["a"], np.ones(2), [0], np.zeros((0, 2)), [], {}), "places"),
        (lambda: positions.positions_picture(np.ones(3), np.eye(3)), r"\(positions, columns\)"),
        (lambda: positions.positions_picture(np.ones((3, 2)), np.eye(2)), "3 by 3"),
        (
            lambda: positions.positions_picture(np.full((1, 2), np.nan), np.eye(1)),
            "finite numbers",
        ),
    ],
)
def test_data_that_do_not_fit_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_every_kind_has_a_look_of_its_own():
    for mode in ("light", "dark"):
        looks = [theme.category_style(kind, mode) for kind in range(32)]
        assert len(set(looks)) == 32
        assert all(a[0] != b[0] for a, b in pairwise(looks))
