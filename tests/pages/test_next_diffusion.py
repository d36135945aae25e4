"""The chapter "Diffusion": its guess, its film, and what its sentences say."""

from __future__ import annotations

import numpy as np
import pytest

from llmviz.corpus import openings
from llmviz.course.lessons.next.diffusion import chapter, model
from llmviz.course.lessons.next.diffusion.model import STEPS, TOKENS, recorded
from llmviz.course.ui import kit
from tests.pages.finished_job import FakeJob
from tests.pages.harness import (
    boxes,
    fine_part,
    open_part,
    press,
    prose_of,
    run_snippet,
    sent,
    snippets,
    unpack_all,
)


def page_of(**link: str):
    return fine_part("next", "diffusion", **link)


def test_one_step_is_guessed_and_what_tells_it_does_not_travel(covers):
    rows = sent(page_of(), "case_rows")["rows"]
    assert rows[0]["value"] is None and not rows[0]["dots"] and len(rows) == 3
    told = unpack_all(page_of(show="1"), "case_rows")[0]["rows"]
    assert len(told) == len(STEPS) + 1
    assert told[0]["value"] == pytest.approx(np.mean(recorded().broken("random", 1)))


@pytest.mark.parametrize("order", ["random", "confident"])
def test_the_bars_are_those_of_the_order_that_is_set(order):
    told = unpack_all(page_of(show="1", difforder=order), "case_rows")[0]["rows"]
    for steps, row in zip(STEPS, told, strict=False):
        assert row["value"] == pytest.approx(np.mean(recorded().broken(order, steps)))


def test_the_wrong_guesses_forget_the_steps_or_think_of_one_pair():
    question = chapter.question()
    one, many, coin = (value for (value,) in question.values)
    assert question.right == 0 and coin == 0.5
    assert many == pytest.approx(np.mean(recorded().broken("random", TOKENS)))
    assert abs(one - many) > 0.15 and abs(one - coin) > 0.15


@pytest.mark.parametrize("steps", STEPS)
def test_each_place_is_filled_once_and_the_twin_fills_one_a_step(steps):
    text = chapter.written(steps, "random", 7)
    assert sorted(place for step in text for place in step.positions) == list(range(TOKENS))
    mine, twin = sent(page_of(diffsteps=str(steps)), "fill_film")["texts"]
    for at, step in enumerate(text, 1):
        assert [place for place, when in enumerate(mine["when"]) if when == at] == [*step.positions]
    assert mine["pieces"] == [chapter.shown_token(at) for at in text[-1].ids]
    assert twin["when"] == list(range(1, steps + 1)) and len(twin["pieces"]) == steps
    assert len(mine["said"]) == len(twin["said"]) == steps + 1
    assert f"{steps - 1} of {TOKENS}" in twin["said"][-2]


@pytest.mark.parametrize("draw", range(4))
def test_a_twin_writes_the_same_text_however_far_it_comes(draw):
    ids, _ = chapter.twin_written(draw)
    for steps in STEPS:
        text = chapter.twin_filling(steps, draw)
        assert [*text.pieces] == [chapter.shown_token(at) for at in ids[:steps]]
        tokens = [recorded().vocabulary[at] for at in ids[:steps]]
        follows = openings.followed(tokens) == openings.joined(tokens)
        assert (chapter.words.caption["holds"] in text.said[-1]) <= follows


def test_what_is_said_of_a_sentence_holds():
    (good,) = openings.sentences(1, 4)
    tokens = openings.cut(good)
    said = chapter.words.caption
    empty = [openings.EMPTY] * (TOKENS - len(tokens))
    assert chapter.judged([*tokens, *empty]).startswith(said["right"].format())
    assert chapter.judged(["boat", *tokens]).startswith(said["begins"].format())
    unended = [*tokens[:-1], openings.EMPTY, *empty]
    assert chapter.judged(unended).startswith(said["stops"].format())
    assert chapter.judged(tokens[:-1]) == said["holds"].format()
    assert chapter.judged(tokens[:3]) == said["holds"].format()
    assert chapter.judged([openings.EMPTY] * TOKENS).startswith(said["stops"].format())
    broken = ["Once", "there", "was", "a", "boat", "."]
    assert "Once there was" in chapter.judged(broken)
    cut_short = chapter.judged(openings.cut("Long ago, in a haunted city, clockmaker"))
    assert "in a haunted city," in cut_short, "as far as its words go, not only its phrases"


def test_pairs_of_one_step_are_the_product_and_of_two_the_truth():
    size = len(model.PAIRS)
    np.testing.assert_allclose(chapter.pairs(1), 1 / size**2)
    np.testing.assert_allclose(chapter.pairs(2), np.eye(size) / size)
    first = {text.split()[0]: text.split()[1].strip(",") for text in openings.sentences(200, 0)}
    assert {word: first[word] for word in model.PAIRS} == model.PAIRS


@pytest.mark.parametrize(
    "link", [{"diffsteps": "32"}, {"diffsteps": "0"}, {"difforder": "<b>"}, {"diffdraw": "-1"}]
)
def test_steps_over_the_places_and_other_orders_are_refused(link):
    page = open_part("next", "diffusion", **link)
    assert not page.exception
    assert boxes(page), "it is said"
    assert sent(page, "fill_film")["texts"], "the picture is there"


def test_the_looks_open_and_one_step_tells():
    for link in ({"diffsteps": "1"}, {"diffsteps": "4"}, {"difforder": "confident"}):
        assert sent(page_of(**link, show="1"), "fill_film")["texts"]
    assert "grammar" in sent(page_of(diffsteps="1"), "fill_film")["texts"][0]["said"][-1]


@pytest.mark.parametrize("steps", ["1", "4"])
def test_the_code_of_the_picture_prints_its_texts(steps):
    ((snippet, prints),) = snippets(page_of(show="1", diffsteps=steps, diffdraw="3"))
    assert run_snippet(snippet).strip() == prints.strip()


def test_a_tiny_model_learns_on_the_page(monkeypatch):
    made = [*model.learn_pairs(chapter.OWN_SEED)]
    assert made[-1].update == model.PAIR_UPDATES
    monkeypatch.setattr(chapter, "job_of", lambda *given: FakeJob(made))
    page = page_of(show="1", pairsown="1")
    one, two = sent(page, "draw_on")["lines"]
    assert one["x"] == two["x"] == [now.update for now in made]
    assert one["y"][-1] == pytest.approx(1 - 1 / len(model.PAIRS), abs=0.03)
    assert two["y"][-1] < 0.02 < 0.5 < two["y"][0]
    assert kit.near_percent(two["y"][-1]) in prose_of(page)


@pytest.mark.parametrize(("draw", "after"), [("7", 8), ("99", 0)])
def test_the_dice_go_on_to_the_next_number_and_from_the_last_to_the_first(draw, after):
    page = press(page_of(show="1", diffdraw=draw), chapter.words.draw)
    assert page.session_state["next.diffdraw"] == after
    shown = sent(page, "fill_film")["texts"][0]["pieces"]
    assert shown == [*chapter.filling(TOKENS, "random", after).pieces]
