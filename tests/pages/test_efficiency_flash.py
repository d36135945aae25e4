"""The chapter on flash attention: the model's numbers in tiles, counts and measured costs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from llmviz.course.lessons.efficiency.flash import (
    HEAD_SIZES,
    LENGTHS,
    MEMORIES,
    chapter,
    words,
)
from llmviz.course.lessons.efficiency.flash.model import MEASURED, WAYS, AttentionCost, TiledText
from llmviz.interpretability.heads_on_text import layer_trace
from llmviz.nn.attention.traffic import square_tile, tile_traffic
from tests.pages.conftest import load_torch, use
from tests.pages.finished_job import FakeJob
from tests.pages.harness import boxes, fine_part, press, prose_of, sent
from tests.pages.small_model import ids_of, make_checkpoint

TEXT = "Once Anna and Samir met"


def opened(**link: str):
    return fine_part("efficiency", "flash", **link)


def test_the_film_ends_with_the_output_of_the_model(bundle):
    app = opened(text=TEXT, flashlayer="1", flashhead="2", tile="3", tilestep="4")
    board, ids = sent(app, "tile_film"), ids_of(bundle, TEXT)
    trace = layer_trace(bundle.model, ids, 1)
    whole = (trace["weights"][2] @ trace["v"][2]).numpy()
    assert board["step"] == 4 and len(board["names"]) == len(ids)
    for tile, part in zip(board["tiles"], board["output"], strict=True):
        rows = slice(tile[0], tile[1])
        if tile[3] == len(ids) or tile[3] > tile[1] - 1:  # the tile on the diagonal is the last
            np.testing.assert_allclose(part[: tile[1] - tile[0]], whole[rows], rtol=1e-3, atol=1e-4)
    assert len(board["captions"]) == len(board["tiles"])
    ends = [words.ended in caption for caption in board["captions"]]
    assert sum(ends) == -(-len(ids) // 3) and ends[-1]
    assert "Is it the same answer?" in prose_of(app)


def test_the_first_head_is_the_one_with_the_most_rescaling(bundle):
    app = opened(text=TEXT)
    ids = tuple(ids_of(bundle, TEXT))
    counted = chapter.rescalings(bundle, ids)
    assert counted.any()
    app = opened(text=TEXT, flashlayer="1")
    own = chapter.tiles_of(bundle, ids, 1, int(counted[1].argmax()), 4)
    np.testing.assert_array_equal(sent(app, "tile_film")["scores"], own.scores)


def test_values_of_a_link_that_do_not_exist_here_are_replaced(bundle):
    app = opened(text=TEXT, flashlayer="900", flashhead="900", tile="16", tilestep="200")
    assert "flashhead = 900 does not exist here; 0 is shown instead" in boxes(app)
    assert "flashlayer = 900 does not exist here; 0 is shown instead" in boxes(app)
    board = sent(app, "tile_film")
    assert board["step"] == 0 and len(board["tiles"]) == 1  # one tile holds all
    assert words.one_tile in prose_of(app)


def test_a_model_with_its_softmax_before_the_mask_is_refused_and_the_rest_stays(
    tmp_path, monkeypatch
):
    make_checkpoint(tmp_path, softmax_before_mask="leave")
    use(monkeypatch, tmp_path)
    load_torch()
    app = opened(text=TEXT)
    assert "softmax before the mask" in boxes(app)
    assert [head.value for head in app.header] == [words.moved.title, words.times_section.title]


def fake_tiles(draw) -> TiledText:
    """Arrays of N tiles of two rows, the first one of its rows."""
    n = draw(some.integers(1, 4))
    scores = some.floats(-30, 30)
    before = np.array([[-np.inf] * 2] + [[draw(scores)] * 2 for _ in range(n - 1)])
    now = np.maximum(before, np.array([[draw(scores)] * 2 for _ in range(n)]))
    total = np.array([[0.0] * 2] + [[draw(some.floats(1, 12))] * 2 for _ in range(n - 1)])
    return TiledText(
        scores=np.zeros((8, 8)),
        exponentials=np.zeros((8, 8)),
        tiles=np.array([[0, 2, 2 * i, 2 * i + 2] for i in range(n)]),
        maximum_before=before,
        maximum=now,
        rescale=np.exp(before - now),
        total_before=total,
        total=total + 1,
        output=np.ones((n, 2, 3)),
        read=np.arange(n),
        written=np.arange(n),
        difference=draw(some.sampled_from([0.0, 1e-7, 0.25])),
    )


@given(some.data())
def test_the_question_of_the_factor_has_one_right_answer(data):
    tiles = fake_tiles(data.draw)
    asked = chapter.question(tiles, ["a*b", "`", "c", "d", "e", "f", "g", "h"])
    low, high = chapter.CLEAR_FACTORS
    rises = (tiles.total_before > 0) & (tiles.rescale > low) & (tiles.rescale < high)
    assert (asked is None) == (not rises.any())
    if asked is not None:
        values = [value for (value,) in asked.values]
        shrunk = (tiles.total_before * tiles.rescale)[rises]
        assert np.isclose(shrunk, values[asked.right]).any()
        *nothing, same, grown, right = values
        assert nothing == [0.0] * (chapter.digits(right) != "0.000")
        assert right < same * high and same < grown * high
    lines = chapter.captions(tiles, [str(i) for i in range(8)])
    assert [words.first in line for line in lines] == [i == 0 for i in range(len(lines))]
    assert (words.exact in chapter.report(tiles)) == (tiles.difference == 0)


def test_only_the_tiles_before_the_asked_one_travel(bundle, covers):
    ids, read = tuple(ids_of(bundle, TEXT)), ids_of(bundle, TEXT)
    counted = chapter.rescalings(bundle, ids)
    layer, head = np.unravel_index(counted.argmax(), counted.shape)
    tiles = chapter.tiles_of(bundle, ids, int(layer), int(head), 4)
    place = chapter.rise(tiles)
    board = sent(opened(text=TEXT), "tile_film")
    if place is not None:
        assert len(board["captions"]) == place[0]
    later = chapter.begun(tiles, 1)
    top, bottom, first, end = tiles.tiles[0]
    outside = np.ones((len(read), len(read)), bool)
    outside[top:bottom, first:end] = False
    assert not np.nan_to_num(later.scores)[outside].any() and not later.exponentials[outside].any()
    assert len(later.tiles) == len(later.total) == len(later.written) == 1


@settings(max_examples=200)
@given(
    some.sampled_from(LENGTHS),
    some.sampled_from(HEAD_SIZES),
    some.sampled_from(MEMORIES),
    some.booleans(),
)
def test_what_is_said_of_the_counts_holds_at_every_setting(length, size, memory, causal):
    room = chapter.numbers_in(memory)
    side = square_tile(room, size)
    now = tile_traffic(length, size, side, side, causal=causal).moved
    line = chapter.moved_line(length, size, side, causal=causal)
    matrices = 4 * length * length + 4 * length * size
    assert ("times less" in line) == (matrices / now > chapter.NEAR)
    assert ("times more" in line) == (now / matrices > chapter.NEAR)


def test_the_curves_are_the_counts_and_follow_the_controls():
    app = opened(flashlength="1024", fastmemory="16", headsize="32", skipped="0")
    assert "At 1,024 tokens" in prose_of(app)
    side = square_tile(chapter.numbers_in(16), 32)
    tiles, matrices = chapter.curves(1024, 32, side, False, "light").data
    at = LENGTHS.index(1024)
    assert tiles.y[at] * 1e6 == pytest.approx(2 * tile_traffic(1024, 32, side, side).moved)
    assert matrices.y[at] * 1e6 == pytest.approx(2 * (4 * 1024**2 + 4 * 1024 * 32))


def test_the_measurement_waits_for_its_button_and_then_says_what_it_took(monkeypatch):
    costs = [
        AttentionCost(way, length, 1.0 + place, 10**6 * (place + 1))
        for length in MEASURED
        for place, way in enumerate(WAYS)
    ]
    begun = []

    class Pool:
        def start(self, target: str) -> FakeJob:
            begun.append(target)
            return FakeJob(costs)

    chapter.measuring.clear()
    monkeypatch.setattr("llmviz.course.ui.live_job.training_jobs", Pool)
    app = opened()
    assert not begun
    press(app, words.times_start)
    assert begun == ["llmviz.course.lessons.efficiency.flash.model:attention_costs"]
    assert "whole matrices take 1.0 ms, our tiles 2.0 ms" in prose_of(app)
    assert "1 MB of room for that, and our tiles 2 MB" in prose_of(app)
    chapter.measuring.clear()
    assert chapter.times_line(tuple(costs[:2])) == ""
