"""The chapter "Memory": its guess, its opened matrix, and what its sentences say in each state."""

from __future__ import annotations

import time

import numpy as np
import pytest

from llmviz.corpus.orders import GUESTS
from llmviz.course.lessons.next.memory import MOST_HEARD, chapter, model, words
from llmviz.course.lessons.next.memory.model import CHANGED, COUNTS, ONCE, SIZES, recorded
from llmviz.course.ui import kit, live_job
from llmviz.models.waiter import LIST
from llmviz.processes.background import DONE
from tests.pages.harness import (
    boxes,
    fine,
    fine_part,
    open_part,
    prose_of,
    sent,
    snippets_print,
    unpack_all,
)


def page_of(**link: str):
    return fine_part("next", "memory", **link)


def test_nothing_beyond_four_guests_is_sent_before_the_guess(covers):
    page = page_of()
    listed, known = sent(page, "draw_on")["lines"]
    assert len(listed["x"]) == len(COUNTS) and known["x"] == [1, 2, 3, 4]
    assert not unpack_all(page, "matrix_view")
    assert kit.near_percent(chapter.mean("adds", 8, ONCE, 20)) not in prose_of(page)


def test_the_wrong_lines_are_a_notepad_and_a_list():
    question = chapter.question()
    right, notepad, listed = (np.array(line) for line in question.values)
    assert question.right == 0 and len(right) == len(COUNTS) - 4
    assert right == pytest.approx(recorded().shares("adds", 8, ONCE).mean(0)[4:])
    assert notepad == pytest.approx([(4 + (n - 4) / 16) / n for n in COUNTS[4:]])
    assert listed == pytest.approx(recorded().shares(LIST, 8, ONCE).mean(0)[4:])
    assert ((notepad < right) & (right < listed)).all()


@pytest.mark.parametrize("kind", words.kinds)
@pytest.mark.parametrize("who", words.who)
def test_each_look_draws_its_line_and_says_its_shares(kind, who):
    page = page_of(show="1", memkind=kind, memwho=who, memsize="16")
    drawn = unpack_all(page, "draw_on")[0]["lines"]
    wanted = chapter.line_of(kind, 16, who)
    (line,) = [line for line in drawn if line["label"] == wanted.label]
    assert line["y"] == pytest.approx(wanted.y) and len(drawn) == 3
    guests = chapter.FEW[CHANGED] if who == CHANGED else chapter.MANY
    assert kit.near_percent(chapter.mean(kind, 16, who, guests)) in prose_of(page)


@pytest.mark.parametrize("kind", words.kinds)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("who", words.who)
def test_a_caption_says_more_only_where_the_seeds_tell_it_apart(kind, size, who):
    said = chapter.caption(kind, size, who)
    guests = chapter.FEW[who] if who == CHANGED else chapter.MANY
    ours, added = (chapter.seeds_of(name, size, who, guests) for name in (kind, "adds"))
    assert kit.near_percent(float(ours.mean())) in said
    if kind != "adds":
        error = np.hypot(*(rows.std(ddof=1) / 3**0.5 for rows in (ours, added)))
        apart = ours.mean() - added.mean()
        case = "same" if abs(apart) <= 2 * error else "more" if apart > 0 else "less"
        assert ("about" in said) == (case == "same")
        assert chapter.MORE[chapter.against(ours, added)] == case


@pytest.mark.parametrize("kind", words.kinds)
@pytest.mark.parametrize("heard", ["1", "5", str(MOST_HEARD)])
def test_the_memory_is_the_sum_of_its_orders_and_answers_what_it_should(kind, heard):
    page = page_of(show="1", memkind=kind, memwho=CHANGED, memheard=heard, memasked="2")
    picture = sent(page, "matrix_view")
    assert picture["narrow"] == 8, "a phone has room for each row"
    found = {m["name"]: np.array(m["values"]) for m in picture["matrices"]}
    assert found["K"].shape == (8, int(heard))
    np.testing.assert_allclose(found["S"], found["K"] @ found["V"], atol=1e-5)
    np.testing.assert_allclose(found["a"], found["q"] @ found["S"], atol=1e-4)
    told, waiter = chapter.text_of(41, CHANGED), model.bundled(kind)
    logits = waiter(*(part[:, : int(heard)] for part in told[:2]), told.queries[:, 1:2])
    np.testing.assert_allclose(
        waiter.head(waiter.value.weight.new_tensor(found["a"])).numpy(),
        logits[0].numpy(),
        atol=1e-3,
    )
    grid = sent(page, "cell_grid")
    strong, shares = np.array(grid["strong"], dtype=bool), np.array(grid["values"])
    assert strong.sum(0).tolist() == [1] * strong.shape[1], "each guest has one dish"
    right = int(strong[shares.argmax(0), range(strong.shape[1])].sum())
    assert chapter.heard_read(right, strong.shape[1]) in prose_of(page)


@pytest.mark.parametrize(("asked", "ordered"), [("2", True), ("6", False)])
def test_the_section_is_about_the_guest_who_is_asked_for_even_before_the_order(asked, ordered):
    page = page_of(show="1", memheard="4", memasked=asked)
    name = GUESTS[int(chapter.text_of(41, ONCE).queries[0, int(asked) - 1])]
    assert f"Where in the memory is {name}'s dish?" in [head.value for head in page.header]
    assert (f"{name} has not ordered yet" in prose_of(page)) is not ordered


@pytest.mark.parametrize(
    ("right", "guests", "case"),
    [(1, 1, "only_right"), (0, 1, "only_wrong"), (3, 3, "all"), (0, 3, "none"), (1, 3, "some")],
)
def test_how_many_get_the_right_dish_is_a_whole_sentence(right, guests, case):
    assert chapter.heard_read(right, guests) == words.heard[case].format(right=right, guests=guests)


@pytest.mark.parametrize(
    "link",
    [
        {"memkind": "list"},
        {"memsize": "7"},
        {"memwho": "<b>"},
        {"memheard": "0"},
        {"memheard": "10"},
        {"memasked": "x"},
        {"memdraw": "-1"},
    ],
)
def test_what_a_link_cannot_ask_for_is_said_and_the_picture_stays(link):
    page = open_part("next", "memory", **link)
    assert not page.exception
    assert boxes(page), "it is said"
    assert unpack_all(page, "draw_on")[0]["lines"]


def test_orders_that_this_text_does_not_have_are_said():
    page = open_part("next", "memory", show="1", memwho=ONCE, memheard="9")
    assert not page.exception
    assert "memheard = 9 does not exist here" in boxes(page)
    assert np.shape(sent(page, "matrix_view")["matrices"][0]["values"]) == (8, 6)


def test_the_costs_are_drawn_and_the_caches_have_their_trainings():
    page = page_of(show="1")
    kept = unpack_all(page, "draw_on")[1]["lines"]
    assert [line["y"][3] for line in kept] == [64, 64], "the list is as large after four orders"
    rows = sent(page, "case_rows")["rows"]
    assert [row["value"] for row in rows] == pytest.approx(
        [np.mean(recorded().losses[name]) for name in model.CACHES]
    )
    for variants, ours, other in (
        ("narrow_read", "latent 32", "heads 1"),
        ("narrow_least", "latent 16", "heads 4"),
    ):
        assert chapter.narrow_said(recorded(), variants, ours, other) in prose_of(page)


def test_the_snippet_prints_what_the_page_says():
    page = page_of(show="1")
    fine(page)
    snippets_print(page)


def test_a_waiter_of_the_chosen_memory_learns_on_the_page():
    app = page_of(show="1", memkind="replaces", memown="1")
    ((_, job),) = app.session_state[live_job.JOBS].values()
    until = time.monotonic() + 120
    while not job.over and time.monotonic() < until:
        time.sleep(0.1)
    assert job.state == DONE, job.problem
    assert job.results[-1].update == model.UPDATES
    lines = [line for each in unpack_all(app.run(), "draw_on") for line in each["lines"]]
    label = words.own_line.format(update=model.UPDATES)
    (line,) = (line for line in lines if line["label"] == label)
    assert line["y"] == pytest.approx(job.results[-1].shares)
