"""The chapter on flash attention: the model's numbers in tiles, counts and measured costs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from llmviz.course.lessons.efficiency.flash import film, moved, questions, times, words
from llmviz.course.lessons.efficiency.flash.attention_costs import LENGTHS as MEASURED
from llmviz.course.lessons.efficiency.flash.attention_costs import WAYS, AttentionCost
from llmviz.course.lessons.efficiency.flash.params import DRAWN, HEAD_SIZES, LENGTHS, MEMORIES
from llmviz.course.lessons.efficiency.flash.tiles_on_text import TiledText
from llmviz.interpretability.heads_on_text import layer_trace
from llmviz.nn.attention.traffic import square_tile, tile_traffic
from tests.pages.conftest import load_torch, use
from tests.pages.finished_job import FakeJob
from tests.pages.harness import ODD_TEXTS, boxes, fine, open_part, prose_of, sent
from tests.pages.small_model import ids_of, make_checkpoint

TEXT = "Once Anna and Samir met"


def opened(**link: str):
    app = open_part("efficiency", "flash", **link)
    fine(app)
    return app


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
    assert "largest difference" in prose_of(app) or words.exact in prose_of(app)


@pytest.mark.parametrize("text", ODD_TEXTS.values(), ids=list(ODD_TEXTS))
def test_odd_texts_leave_no_error(bundle, text):
    app = open_part("efficiency", "flash")
    app.session_state["shared.text"] = text
    app.run()
    fine(app)
    if text == ODD_TEXTS["long"]:
        assert len(sent(app, "tile_film")["names"]) == DRAWN
        assert f"The picture shows only the first {DRAWN}" in boxes(app)


def test_the_first_head_is_the_one_with_the_most_rescaling(bundle):
    app = opened(text=TEXT)
    ids = tuple(ids_of(bundle, TEXT))
    counted = film.rescalings(bundle, ids)
    layer, head = np.unravel_index(counted.argmax(), counted.shape)
    assert counted.any()
    assert words.why.format(layer=layer, head=head, side=4) in prose_of(app)
    assert film.why_first(np.zeros((2, 2)), (0, 0)) == ""  # as for a text of one tile
    app = opened(text=TEXT, flashlayer="1")
    assert words.why.split("{")[0] not in prose_of(app)
    own = film.tiles_of(bundle, ids, 1, int(counted[1].argmax()), 4)
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
    assert [head.value for head in app.header][1:] == [words.moved.title, words.times_section.title]


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
    asked = questions.rescale_question(tiles, ["a*b", "`", "c", "d", "e", "f", "g", "h"])
    assert len(asked.answers) >= 3
    low, high = questions.PLAIN_ENOUGH
    rises = (tiles.total_before > 0) & (tiles.rescale > low) & (tiles.rescale < high)
    values = {words.answer.format(value=questions.digits(2.5 / np.e, 3))}
    if rises.any():
        shrunk = (tiles.total_before * tiles.rescale)[rises]
        values = {words.answer.format(value=questions.digits(one, 3)) for one in shrunk}
    assert asked.answers[asked.right] in values
    lines = film.captions(tiles, [str(i) for i in range(8)])
    assert [words.first in line for line in lines] == [i == 0 for i in range(len(lines))]
    assert (words.exact in film.report(tiles)) == (tiles.difference == 0)


@given(some.floats(0, 1e15))
def test_an_amount_is_in_plain_digits_and_near_to_what_it_writes(size):
    digits, unit = moved.amount(size).replace(",", "").split()
    factor = {name: unit for unit, name in moved.UNITS}.get(unit, 1)
    assert "e" not in digits
    assert float(digits) * factor == pytest.approx(size, rel=6e-3, abs=1)
    assert unit == "GB" or float(digits) < 1000


@settings(max_examples=200)
@given(
    some.sampled_from(LENGTHS),
    some.sampled_from(HEAD_SIZES),
    some.sampled_from(MEMORIES),
    some.booleans(),
)
def test_what_is_said_of_the_counts_holds_at_every_setting(length, size, memory, causal):
    room = moved.numbers_in(memory)
    side = square_tile(room, size)
    asked = questions.growth_question(length, size, side, causal=causal)
    now, twice = (
        tile_traffic(n, size, side, side, causal=causal).moved for n in (length, 2 * length)
    )
    assert asked.answers[asked.right] == words.times.format(value=f"{twice / now:.2f}")
    assert len(asked.answers) >= 3
    line = moved.report(length, size, side, room, causal=causal)
    matrices = 4 * length * length + 4 * length * size
    assert ("times less" in line) == (matrices / now > moved.NEAR)
    assert ("times more" in line) == (now / matrices > moved.NEAR)


def test_the_curves_are_the_counts_and_follow_the_controls():
    app = opened(flashlength="1024", fastmemory="16", headsize="32", skipped="0")
    assert "At 1,024 tokens" in prose_of(app)
    side = square_tile(moved.numbers_in(16), 32)
    tiles, matrices = moved.curves(1024, 32, side, False, "light").data
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

    times.measuring.clear()
    monkeypatch.setattr("llmviz.course.ui.live_job.training_jobs", Pool)
    app = opened()
    assert not begun
    next(button for button in app.button if button.label == words.times_start).click().run()
    fine(app)
    assert begun == ["llmviz.course.lessons.efficiency.flash.attention_costs:attention_costs"]
    assert "whole matrices take 1.0 ms and 1 MB; our tiles take 2.0 ms and 2 MB" in prose_of(app)
    times.measuring.clear()
    assert times.report(tuple(costs[:2])) == ""
