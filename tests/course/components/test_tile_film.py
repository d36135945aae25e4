"""What the film of tiles is sent, and what it refuses."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from llmviz.course.components.tile_film.view import WORDS, film_payload
from llmviz.course.lessons.efficiency.flash.model import TiledText

T, N, SIDE, D = 3, 3, 2, 4
TILES = TiledText(
    scores=np.full((T, T), -np.inf, np.float32),
    exponentials=np.zeros((T, T)),
    tiles=np.array([[0, 2, 0, 2], [2, 3, 0, 2], [2, 3, 2, 3]]),
    **{
        name: np.zeros((N, SIDE))
        for name in ("maximum_before", "maximum", "rescale", "total_before", "total")
    },
    output=np.ones((N, SIDE, D)),
    read=np.array([1, 2, 3]),
    written=np.array([0, 0, 4]),
    difference=0.0,
)
GIVEN = dict(names=["a", "b", "c"], tiles=TILES, captions=["x"] * N, words=dict.fromkeys(WORDS, ""))


def test_arrays_travel_as_they_are():
    sent = film_payload(**GIVEN)
    assert sent["scores"].dtype == np.float32 and (sent["scores"] == -np.inf).all()
    np.testing.assert_array_equal(sent["tiles"], TILES.tiles)
    assert sent["tiles"].dtype == sent["read"].dtype == np.int32
    assert sent["names"] == ["a", "b", "c"] and len(sent["captions"]) == N


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        (dict(names=["a"]), r"scores must be \(1, 1\); got \(3, 3\)"),
        (dict(captions=["x"]), r"tiles must be \(1, 4\)"),
        (dict(words={}), "words lack blind, done"),
        (dict(total=np.zeros((N, 1))), r"total must be \(3, 2\); got \(3, 1\)"),
        (dict(output=np.zeros((N, SIDE))), "output must be"),
        (dict(output=np.full((N, SIDE, D), np.nan)), "output must be finite"),
    ],
)
def test_data_that_do_not_fit_are_refused(changes, rule):
    fields = {name: value for name, value in changes.items() if name not in GIVEN}
    given = GIVEN | {name: value for name, value in changes.items() if name in GIVEN}
    given["tiles"] = dataclasses.replace(TILES, **fields)
    with pytest.raises(ValueError, match=rule):
        film_payload(**given)
