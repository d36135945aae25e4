"""The chapter "Distilling": what its sentences say at any setting, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

from llmviz.course.lessons.reasoning.distillation import (
    chapter,
    distil_record,
    learning,
    place,
    record,
)
from llmviz.course.lessons.reasoning.distillation.distil_record import FEW, MANY, WAYS_OF, WORD
from llmviz.course.lessons.reasoning.distillation.distilling import (
    SOFT_1,
    TEACHER,
    TEXT,
    WAYS,
    WRITTEN,
    Point,
)
from llmviz.course.ui import engine
from tests.pages.finished_job import FakeJob
from tests.pages.harness import fine, open_part, prose_of

STORY = chapter.words.story


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ({}, ""),
        ({"distheat": "1", "diststudent": SOFT_1, "distcount": str(MANY)}, ""),
        ({"distat": "1"}, "Only one token can come here"),
        ({"distat": "300", "distheat": "10"}, ""),
        ({"disttext": "Лес <b>x</b>"}, "No story of the grammar begins with"),
        ({"disttext": STORY + " Then 🙂"}, "read up to this token"),
    ],
)
def test_the_chapter_is_whole_at_any_setting(chosen, said):
    page = open_part("reasoning", "distillation", show="1", **chosen)
    fine(page)
    texts = [prose_of(page), *(one.value for one in page.info)]
    assert any(said in " ".join(one.split()) for one in texts)
    assert "students of text lacked" in prose_of(page)


def test_an_empty_story_is_asked_for():
    page = open_part("reasoning", "distillation", show="1")
    page.text_area[0].set_value("").run()
    fine(page)
    assert any("Type the beginning of a story" in one.value for one in page.info)


def teacher() -> engine.Bundled:
    return engine.load(TEACHER)


@pytest.mark.parametrize("heat", ["0.5", "1", "10"])
def test_the_answer_on_bits_is_what_the_place_has(heat):
    truth = place.truth_of(teacher(), STORY)
    rights = set()
    for at in range(truth.possible):
        given = teacher(), STORY, at, heat, TEXT
        bits, question = place.placed(given).bits, place.bits_question(given)
        apart = bits["soft"] - bits["true"]
        words = "About as" if abs(apart) < 0.2 else "More" if apart > 0 else "Less"
        assert question.answers[question.right].startswith(words)
        rights.add(words)
    assert len(rights) > 1 or heat == "10"


def test_the_place_that_opens_is_about_four_equal_tokens_wide():
    truth = place.truth_of(teacher(), STORY)
    apart = [abs(np.exp2(place.OPEN) - np.exp(one.entropy)) for one in truth.following]
    at = place.open_place(truth, truth.possible, -1)
    assert apart[at] == min(apart) < 0.5
    assert place.open_place(truth, truth.possible, 2) == 2
    assert place.open_place(truth, 3, 3) in range(3)


def test_the_record_is_told_within_its_errors():
    question = record.best_question()
    values = {
        way: distil_record.recorded().values(record.lack_of, way, FEW)
        for way in (TEXT, WRITTEN, SOFT_1)
    }
    best, second = sorted(values.values(), key=np.mean)[:2]
    error = np.hypot(np.std(best, ddof=1), np.std(second, ddof=1)) / 3**0.5
    tied = np.mean(second) - np.mean(best) <= 2 * error
    assert (question.right == 3) == tied
    if not tied:
        assert np.mean([*values.values()][question.right]) == np.mean(best)
    noise = distil_record.recorded().noise
    told = "more than two standard errors" in record.batches_told()
    assert told == (abs(noise.text - noise.soft) > 2 * noise.error)


@pytest.mark.parametrize(
    ("alone", "seen", "told"),
    [
        ((0.04, 0.5), (0.05, 0.6), "both"),
        ((0.04, 0.1), (0.05, 0.6), "first"),
        ((0.04, 0.1), (0.05, 0.06), "unlearned"),
        ((0.0, 0.0), (0.05, 0.6), "none"),
    ],
)
def test_the_word_is_told_as_students_give_it(monkeypatch, alone, seen, told):
    found = {WORD: alone, "": seen}
    monkeypatch.setattr(record, "chances", lambda way, without="": found[without])
    assert record.word_found() == told


@pytest.mark.parametrize("count", [FEW, MANY])
def test_each_way_has_a_row_and_a_line(count):
    assert len(record.run_rows(count)) == len(WAYS_OF[count]) + 1
    drawn = record.figure(count, "light")
    for line, way in zip(drawn.data, WAYS_OF[count], strict=True):
        ends = [run.points[-1].lack for run in distil_record.recorded().of(way, count)]
        assert line.y[-1] == pytest.approx(np.mean(ends))
        assert line.name == record.words.ways[way]


@pytest.mark.parametrize("way", WAYS)
def test_the_live_curve_stands_beside_the_bundled_ones(way):
    points = [Point(0, 0, 6.9, float("nan"), 0.0), Point(80, 40_000, 3.0, 3.1, 8.0)]
    drawn = learning.run_figure(FakeJob(points), 2, "dark")
    assert list(drawn.data[-1].y) == [6.9, 3.0]
    assert len(drawn.data) == len(WAYS) + 1
    runs = distil_record.recorded().of(way, FEW)
    whole = np.mean([run.points[-1].tokens for run in runs])
    ends = np.mean([run.points[-1].lack for run in runs])
    assert learning.bundled_at(way, whole) == pytest.approx(ends)


def test_a_copy_without_the_bundled_students_names_the_command(monkeypatch):
    def missing(*_: object) -> None:
        raise ValueError("no")

    monkeypatch.setattr(chapter, "recorded", missing)
    page = open_part("reasoning", "distillation")
    fine(page)
    assert any(distil_record.COMMAND in one.value for one in page.code)
