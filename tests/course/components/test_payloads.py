"""What pictures are sent: whole, as given, and refused where it does not fit."""

from __future__ import annotations

import dataclasses
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from llmviz.corpus.drawn_pictures import SIDE, read_picture, write_picture
from llmviz.course.components._shared.transport import unpack
from llmviz.course.components.arrows.view import arrows_payload
from llmviz.course.components.bar_film import view as bar_film
from llmviz.course.components.byte_timeline.view import Life, Section, timeline_payload
from llmviz.course.components.cell_grid.view import grid_payload, read_cell
from llmviz.course.components.draw_pad.view import draw_pad
from llmviz.course.components.fill_film import view as fill_film
from llmviz.course.components.histogram.view import histogram_payload
from llmviz.course.components.lattice import view as lattice
from llmviz.course.components.machine.view import MachineRow, MachineValues, View, machine_payload
from llmviz.course.components.paired_bars.view import pairs_payload as paired_payload
from llmviz.course.components.pairs_view.view import pairs_payload
from llmviz.course.components.positions_view.view import positions_picture
from llmviz.course.components.rings.view import rings
from llmviz.course.components.scatter_film import view as film
from llmviz.course.components.series_view.view import read_step, series_payload
from llmviz.course.components.table_film.view import film_of_table
from llmviz.course.components.tile_film import view as tile_film
from llmviz.course.figures import theme
from llmviz.course.lessons.efficiency.flash.model import TiledText

# ---- byte_timeline

LIVE = np.array([[4, 4, 4], [0, 8, 0]])
LIVES = [Life("w", 0, 4, 0, 3), Life("t", 1, 8, 1, 2)]
SECTIONS = [Section("forward", "a", 0), Section("backward", "a", 2)]


def timeline(**changes):
    given = {"live": LIVE, "lives": LIVES, "kinds": ["kept", "passing"], "sections": SECTIONS}
    return timeline_payload(**given | {"operations": ["", "mm", "mm"]} | changes)


def test_a_time_line_of_bytes_travels_whole():
    sent = timeline()
    np.testing.assert_array_equal(sent["live"], LIVE)
    np.testing.assert_array_equal(sent["lives"], [[0, 0, 0, 3], [1, 1, 1, 2]])
    assert sent["names"] == ["w", "t"] and sent["sizes"].tolist() == [4, 8]
    assert sent["sections"] == [["forward", "a", 0], ["backward", "a", 2]]


# ---- cell_grid

VALUES = np.array([[0.0, 0.5, 1.0], [0.25, 0.75, 2.0]])
NAMES = (["top", "bottom"], ["a", "b", "c"])
TEXTS = [["1", "2", "3"], ["4", "5", "6"]]


def grid(**changes):
    given = dict(values=VALUES, row_names=NAMES[0], column_names=NAMES[1])
    return grid_payload(**given | changes)


@given(hnp.arrays(np.float32, (2, 3), elements=st.floats(-9, 9, width=32)))
def test_values_of_a_grid_travel_as_they_are_and_say_whether_they_have_a_sign(values):
    sent = grid_payload(values, *NAMES, TEXTS, TEXTS, values > 0, [1], "value")
    np.testing.assert_array_equal(sent["values"], values)
    assert sent["signed"] == bool((values < 0).any())
    np.testing.assert_array_equal(sent["strong"], (values > 0).astype(np.uint8))
    assert (sent["texts"], sent["notes"], sent["starts"]) == (TEXTS, TEXTS, [1])
    assert (sent["rowNames"], sent["columnNames"]) == NAMES


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


# ---- lattice

WORDS, TAGS = 3, 4
SAID = dict.fromkeys(lattice.TEXTS, "said")


def lattice_of(captions=WORDS + 1, texts=SAID, **changes):
    rng = np.random.default_rng(0)
    plain = lattice.LatticeNumbers(
        words=["a", "b", "c"],
        tags=list("WXYZ"),
        scores=-rng.random((WORDS, TAGS)),
        back=rng.integers(0, TAGS, (WORDS, TAGS)),
        emission=-rng.random((WORDS, TAGS)),
        start=-rng.random(TAGS),
        transition=-rng.random((TAGS, TAGS)),
        path=[0, 1, 2],
        seen=[True, False, True],
    )
    given = dataclasses.replace(plain, **changes)
    return given, lattice.lattice_payload(given, ["a"] * captions, texts)


def test_all_numbers_of_a_lattice_travel():
    given, sent = lattice_of()
    for name in ("scores", "emission", "start", "transition"):
        assert np.array_equal(sent[name], np.float32(getattr(given, name)))
    assert np.array_equal(sent["back"], given.back) and sent["seen"] == [True, False, True]


# ---- machine

R, L, H, C, K = 3, 2, 2, 4, 5


def machine(view=View(0, (0, 0)), rows=R, values=True, **changes):  # noqa: B008 - it is frozen
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
    plain = MachineValues(**arrays, top_ids=ids, top_texts=[["x"] * K] * R)
    given = dataclasses.replace(plain, **changes) if values else None
    named = [MachineRow(f"t{i}", i, i) for i in range(rows)]
    return given, machine_payload(named, given, 9, {}, view, None, None, None)


def test_arrays_of_the_machine_travel_as_they_are():
    given, sent = machine(View(1, (0, 1), -1, -1))
    assert np.array_equal(sent["values"]["weights"], given.weights)
    assert sent["values"]["top_ids"].dtype == np.int32
    assert machine(View(), values=False)[1]["values"] is None


# ---- scatter_film, pairs_view, positions_view

POINTS = np.arange(12, dtype=float).reshape(2, 3, 2)
NEAR = film.Near(0, np.array([[1], [2]]), np.array([[0.5], [0.25]]))


def scatter(points=POINTS, labels=("a", "b", "c"), **more):
    return film.film_payload(
        film.Film(points, labels, **({"words": {}, "axes": ("x", "y")} | more))
    )


def test_frames_neighbours_and_curve_arrive_as_given():
    sent = scatter(
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


def test_every_kind_has_a_look_of_its_own():
    for mode in ("light", "dark"):
        looks = [theme.category_style(kind, mode) for kind in range(32)]
        assert len(set(looks)) == 32
        assert all(a[0] != b[0] for a, b in pairwise(looks))


def pairs(values=1, joined=()):
    joined = np.array(joined).reshape(-1, 2)
    return pairs_payload(["a"], np.ones(values), [0], joined, [], {})


# ---- tile_film

T, N, TILE, D = 3, 3, 2, 4
TILES = TiledText(
    scores=np.full((T, T), -np.inf, np.float32),
    exponentials=np.zeros((T, T)),
    tiles=np.array([[0, 2, 0, 2], [2, 3, 0, 2], [2, 3, 2, 3]]),
    **{
        name: np.zeros((N, TILE))
        for name in ("maximum_before", "maximum", "rescale", "total_before", "total")
    },
    output=np.ones((N, TILE, D)),
    read=np.array([1, 2, 3]),
    written=np.array([0, 0, 4]),
    difference=0.0,
)


def tiled(names="abc", captions=N, words=tile_film.WORDS, **changes):
    tiles = dataclasses.replace(TILES, **changes)
    return tile_film.film_payload(list(names), tiles, ["x"] * captions, dict.fromkeys(words, ""))


def test_arrays_of_tiles_travel_as_they_are():
    sent = tiled()
    assert sent["scores"].dtype == np.float32 and (sent["scores"] == -np.inf).all()
    np.testing.assert_array_equal(sent["tiles"], TILES.tiles)
    assert sent["tiles"].dtype == sent["read"].dtype == np.int32
    assert sent["names"] == ["a", "b", "c"] and len(sent["captions"]) == N


# ---- histogram, arrows, paired_bars


def test_every_value_stands_in_one_bar_and_every_mark_is_a_line():
    values = np.random.default_rng(0).normal(size=4_000)
    sent = histogram_payload(values, values[:3])
    edges = sent["edges"].astype(np.float64)
    assert sent["counts"].sum() == len(values)
    counted = np.histogram(values, edges)[0]
    assert np.abs(counted - sent["counts"]).max() <= 1  # an edge is rounded to float32
    np.testing.assert_allclose(sent["marks"], values[:3], rtol=1e-6)


def test_the_name_of_the_marks_stands_on_the_side_of_the_other_values():
    values = np.arange(100.0)
    assert not histogram_payload(values, [98.0, 99.0])["right"]
    assert histogram_payload(values, [1.0])["right"]


def histogram(values, marks=()):
    return histogram_payload(np.array(values), marks)


def arrows(points, names):
    return arrows_payload(np.array(points), list(names))


def test_arrows_are_two_points_with_a_name_each():
    sent = arrows([[1.0, 0.0], [0.5, 2.0]], "AB")
    assert sent["tips"].tolist() == [[1.0, 0.0], [0.5, 2.0]] and sent["names"] == ["A", "B"]


def paired(labels, before, limit):
    return paired_payload(list(labels), np.array(before), np.array(before), limit)


def test_pairs_of_bars_travel_with_their_labels():
    sent = paired_payload(["a", "b"], np.array([0.5, 0.25]), np.array([0.0, 0.125]), 0.5)
    assert sent["before"].tolist() == [0.5, 0.25] and sent["after"].tolist() == [0.0, 0.125]
    assert paired_payload(["a"], np.array([0.5]), None, 0.5)["after"] is None


# ---- from counts to GPT: draw_pad, rings, table_film, series_view


@given(st.integers(0, 2**32 - 1))
def test_a_picture_comes_back_as_it_was_written(seed):
    picture = (np.random.default_rng(seed).random((SIDE, SIDE)) < 0.5).astype(np.uint8)
    np.testing.assert_array_equal(read_picture(write_picture(picture)), picture)


@pytest.mark.parametrize("raw", [None, 3, "", "0" * 99, "g" * 100, "0" * 101, [0] * 100])
def test_what_is_no_picture_is_let_go(raw):
    assert read_picture(raw) is None


def drawn(side):
    return draw_pad(np.zeros((side, side)), key="pad", words={})


def ringed(names, texts):
    return rings(list(names), list(texts), key="rings", label="fields")


def table(losses):
    tables = np.random.default_rng(0).random((3, 2, 2))
    return tables, film_of_table(tables, np.array(losses), tables[0])


def test_a_film_holds_all_tables():
    tables, sent = table([1.0, 1.0, 1.0])
    np.testing.assert_allclose(unpack(sent.data)["tables"], tables, rtol=1e-6)


def barred(heights, limit=1.0):
    heights = np.array(heights)
    names = [f"{n}" for n in range(3)]
    layers = [(name, "query") for name in names[:2]]
    return bar_film.film_payload(heights, names, layers, ["a"], ["b"], limit)


def test_bars_of_a_film_travel_by_step_and_layer():
    sent = barred([[[0.5, 0.25, 0.0], [0.5, 0.0, 0.125]]])
    assert sent["heights"].tolist() == [[[0.5, 0.25, 0.0], [0.5, 0.0, 0.125]]]


def filled(when=(1, 2), said="abc", notes="xy"):
    text = fill_film.Filling("one", ["a", "<b>"], when, list(notes), list(said))
    return fill_film.film_payload([text])


def test_a_text_that_fills_up_travels_with_its_moments():
    (text,) = filled()["texts"]
    assert (text["pieces"], text["when"], text["said"]) == (["a", "<b>"], [1, 2], ["a", "b", "c"])


def series(values, fitted, b, drawable=False):
    return series_payload(np.array(values, float), fitted, b, 0, drawable=drawable)


def test_a_gap_of_a_series_travels_and_a_step_is_one_of_its_own():
    assert np.isnan(series([1, np.nan], 2, [])["values"][1])
    assert (read_step(3, 2, 1), read_step("3", 5, 1), read_step(4, 5, 1)) == (1, 1, 4)


# ---- refusals

REFUSED = [
    (filled, dict(when=[1]), "needs 2 moments and notes"),
    (filled, dict(notes="x"), "needs 2 moments and notes"),
    (filled, dict(when=[1, 3]), "steps 1 to 2"),
    (filled, dict(when=[0, 1]), "steps 1 to 2"),
    (filled, dict(said=""), "needs a text and a moment"),
    (barred, dict(heights=[[[0.1, 0.2, 0.3]]]), r"needs heights \(1, 2, 3\)"),
    (barred, dict(heights=[[[0.1, 0.2, np.nan]] * 2]), "finite and not below 0"),
    (barred, dict(heights=[[[0.1, 0.2, -0.1]] * 2]), "finite and not below 0"),
    (barred, dict(heights=[[[0.1, 0.2, 0.6]] * 2]), "no room: 1.2 of 1"),
    (timeline, dict(live=LIVE[0]), r"live must be \(2, moments\)"),
    (timeline, dict(live=-LIVE), "must not be negative"),
    (timeline, dict(kinds=["one"]), r"live must be \(1, moments\)"),
    (timeline, dict(operations=["mm"]), "3 moments need as many operations; got 1"),
    (timeline, dict(sections=[]), "sections must begin at 0"),
    (timeline, dict(sections=[Section("a", "b", 1)]), "sections must begin at 0"),
    (timeline, dict(sections=[*SECTIONS, Section("a", "b", 3)]), "rise below 3"),
    (timeline, dict(lives=[Life("w", 0, 4, 2, 2)]), "the life of 'w' does not fit"),
    (timeline, dict(lives=[Life("w", 2, 4, 0, 2)]), "the life of 'w' does not fit"),
    (timeline, dict(live=np.ones((7, 3)), kinds=list("abcdefg")), "for 1 to 6 kinds; got 7"),
    (grid, dict(values=VALUES.T), "rows, columns"),
    (grid, dict(values=VALUES[0]), "rows, columns"),
    (grid, dict(values=VALUES[:, :0], column_names=[]), "rows, columns"),
    (grid, dict(values=np.full((2, 3), np.nan)), "finite"),
    (grid, dict(values=np.full((2, 3), -np.inf)), "finite"),
    (grid, dict(texts=TEXTS[:1]), "texts must be 2 lists of 3"),
    (grid, dict(notes=[["x"], ["y"]]), "notes must be 2 lists of 3"),
    (grid, dict(strong=np.ones(3)), "strong must be"),
    (grid, dict(role="purple"), "role must be one of .*; got 'purple'"),
    (lattice_of, dict(scores=np.zeros((WORDS, TAGS + 1))), "scores must be"),
    (lattice_of, dict(transition=np.zeros((TAGS, WORDS))), "transition must be"),
    (lattice_of, dict(path=[0]), "as many tags"),
    (lattice_of, dict(seen=[True]), "as many tags"),
    (lattice_of, dict(start=np.full(TAGS, -np.inf)), "must be finite"),
    (lattice_of, dict(captions=WORDS), "4 captions"),
    (lattice_of, dict(texts={k: v for k, v in SAID.items() if k != "sum"}), "no text for 'sum'"),
    (machine, dict(mlp=np.zeros((L, R + 1), np.float32)), "mlp must have the shape"),
    (machine, dict(vectors=np.zeros((L, R, C), np.float32)), "vectors must have the shape"),
    (machine, dict(rest=np.full(R, np.nan, np.float32)), "rest must be finite"),
    (machine, dict(top_texts=[["x"]] * R), "top_texts must be 3 lists of 5"),
    (machine, dict(view=View(2, (0, 0))), "layer must be from 0 to 1"),
    (machine, dict(view=View(0, (0,))), "heads must be 2 numbers below 2"),
    (machine, dict(view=View(0, (0, 2))), "heads must be 2 numbers below 2"),
    (machine, dict(view=View(0, (0, 0), row=3)), "row must be from -1 to 2"),
    (machine, dict(view=View(), rows=0, values=False), "at least one token"),
    (scatter, dict(points=POINTS[0]), r"\(frames, points, 2\)"),
    (scatter, dict(points=POINTS + np.inf), "two finite numbers"),
    (scatter, dict(labels=("a",)), "labels must be 3; got 1"),
    (scatter, dict(captions=("a",)), "captions must be 2; got 1"),
    (scatter, dict(links=[(0, 3)]), "links must join points from 0 to 2, or -1"),
    (scatter, dict(links=[(-2, 0)]), "links must join points from 0 to 2, or -1"),
    (scatter, dict(kinds=np.array([0, 0, 3]), kind_names=("red",)), "kind 3 has no name"),
    (scatter, dict(near=[film.Near(7, NEAR.ids, NEAR.values)]), "among the 3 points"),
    (scatter, dict(near=[film.Near(0, NEAR.ids[:1], NEAR.values[:1])]), r"must be \(2, k\)"),
    (pairs, dict(joined=[0, 1]), "places among the 1 words"),
    (pairs, dict(values=2), "places"),
    (positions_picture, dict(table=np.ones(3), similarity=np.eye(3)), r"\(positions, columns\)"),
    (positions_picture, dict(table=np.ones((3, 2)), similarity=np.eye(2)), "3 by 3"),
    (
        positions_picture,
        dict(table=np.full((1, 2), np.nan), similarity=np.eye(1)),
        "finite numbers",
    ),
    (tiled, dict(names="a"), r"scores must be \(1, 1\); got \(3, 3\)"),
    (tiled, dict(captions=1), r"tiles must be \(1, 4\)"),
    (tiled, dict(words=()), "words lack blind, done"),
    (tiled, dict(total=np.zeros((N, 1))), r"total must be \(3, 2\); got \(3, 1\)"),
    (tiled, dict(output=np.zeros((N, TILE))), "output must be"),
    (tiled, dict(output=np.full((N, TILE, D), np.nan)), "output must be finite"),
    (histogram, dict(values=[]), "finite"),
    (histogram, dict(values=[1.0, np.nan]), "finite"),
    (histogram, dict(values=[1.0], marks=[np.inf]), "finite"),
    (histogram, dict(values=[[1.0]]), "finite"),
    (arrows, dict(points=np.zeros((2, 3)), names="AB"), "two"),
    (arrows, dict(points=[[1.0, 0.0], [0.5, np.nan]], names="AB"), "two"),
    (arrows, dict(points=np.zeros((2, 2)), names="A"), "two"),
    (paired, dict(labels="a", before=[0.5, 0.5], limit=1.0), "as many values"),
    (paired, dict(labels="", before=[], limit=1.0), "as many values"),
    (paired, dict(labels="ab", before=[0.5, -0.1], limit=1.0), "not below 0"),
    (paired, dict(labels="ab", before=[0.5, 0.7], limit=0.6), "no room"),
    (drawn, dict(side=3), r"20 rows and 20 columns; got \(3, 3\)"),
    (ringed, dict(names="ab", texts="c"), "got 2 and 1"),
    (ringed, dict(names="", texts=""), "got 0 and 0"),
    (table, dict(losses=[1.0, 1.0]), r"a film needs .* got \(3, 2, 2\), \(2,\)"),
    (table, dict(losses=[1, np.nan, 2]), "the losses must be finite"),
    (series, dict(values=[1, 1, 1], fitted=2, b=[1, 2, 3, 4]), "2 of 3 .* with 4 numbers"),
    (series, dict(values=[1, 1, 1], fitted=3, b=[1, np.inf]), "coefficients must be finite"),
    (series, dict(values=[3, 101], fitted=2, b=[], drawable=True), "values from 0 to 100"),
    (series, dict(values=[], fitted=0, b=[]), r"one row of values; got shape \(0,\)"),
]


@pytest.mark.parametrize(
    ("payload", "given_values", "rule"),
    REFUSED,
    ids=[f"{payload.__name__}-{rule}" for payload, _, rule in REFUSED],
)
def test_what_does_not_fit_is_refused(payload, given_values, rule):
    with pytest.raises(ValueError, match=rule):
        payload(**given_values)


def test_marks_of_an_axis_by_powers_are_all_names_or_all_powers():
    from llmviz.course.components.case_rows.view import Axis

    for high in (1e6, 1e12, 1e24):
        texts = [text for _, text in Axis(1e3, high, log=True).marks("count")]
        powers = [text.startswith("10") and not text.isascii() for text in texts]
        assert all(powers) or not any(powers)
        assert not [text for text in texts if "e" in text.split()[0]]
