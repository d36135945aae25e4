"""The chapter "Distilling": what its sentences say at any setting, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

from llmviz.course.lessons.reasoning.distillation import chapter, distil_record
from llmviz.course.lessons.reasoning.distillation.distil_record import FEW, MANY, WAYS_OF, WORD
from llmviz.course.lessons.reasoning.distillation.distilling import (
    SOFT_1,
    TEACHER,
    TEXT,
    WAYS,
    Point,
)
from llmviz.course.ui import engine
from tests.pages.finished_job import FakeJob
from tests.pages.harness import fine, open_part, sent

STORY = chapter.words.story


def test_an_empty_story_is_asked_for():
    page = open_part("reasoning", "distillation", show="1")
    page.text_area[0].set_value("").run()
    fine(page)
    assert any("Type the beginning of a story" in one.value for one in page.info)


def teacher() -> engine.Bundled:
    return engine.load(TEACHER)


def test_the_word_is_guessed_and_what_tells_it_does_not_travel(covers):
    page = open_part("reasoning", "distillation", distwhere="must")
    fine(page)
    rows = sent(page, "case_rows")["rows"]
    assert [row["value"] is None for row in rows] == [False] * (len(rows) - 1) + [True]
    assert not rows[-1]["dots"]
    asked = chapter.question()
    runs = distil_record.recorded().of(SOFT_1, MANY, WORD)
    told = np.mean([run.measured.word.given for run in runs])
    assert asked.values[asked.right] == (pytest.approx(told),)
    true = distil_record.recorded().teacher.word.true
    assert [value for (value,) in asked.values][:2] == [0.0, true / 2]
    shown = sent(open_part("reasoning", "distillation", show="1"), "case_rows")["rows"]
    assert shown[-1]["value"] == pytest.approx(told)


def test_what_the_looks_say_of_the_word_and_of_stories_holds():
    can, must = chapter.chances(SOFT_1, WORD)
    assert must < 0.05 < 0.9 < distil_record.recorded().teacher.word.given_certain
    assert can > 100 * chapter.chances(TEXT, WORD)[0]
    values = [distil_record.recorded().values(chapter.lack_of, way, FEW) for way in (TEXT, SOFT_1)]
    assert values[1].max() < values[0].min()


def test_the_place_that_opens_is_about_four_equal_tokens_wide():
    truth = chapter.truth_of(teacher(), STORY)
    apart = [abs(np.exp2(chapter.OPEN) - np.exp(one.entropy)) for one in truth.following]
    at = chapter.open_place(truth, truth.possible, -1)
    assert apart[at] == min(apart) < 0.5
    assert chapter.open_place(truth, truth.possible, 2) == 2
    assert chapter.open_place(truth, 3, 3) in range(3)


@pytest.mark.parametrize("count", [FEW, MANY])
def test_each_way_has_a_line(count):
    drawn = chapter.figure(count, "light")
    for line, way in zip(drawn.data, WAYS_OF[count], strict=True):
        ends = [run.points[-1].excess for run in distil_record.recorded().of(way, count)]
        assert line.y[-1] == pytest.approx(np.mean(ends))
        assert line.name == chapter.words.ways[way]


@pytest.mark.parametrize("way", WAYS)
def test_the_live_curve_stands_beside_the_bundled_ones(way):
    points = [Point(0, 0, 6.9, float("nan"), 0.0), Point(80, 40_000, 3.0, 3.1, 8.0)]
    drawn = chapter.run_figure(FakeJob(points), 2, "dark")
    assert list(drawn.data[-1].y) == [6.9, 3.0]
    assert len(drawn.data) == len(WAYS) + 1
    runs = distil_record.recorded().of(way, FEW)
    whole = np.mean([run.points[-1].tokens for run in runs])
    ends = np.mean([run.points[-1].excess for run in runs])
    assert chapter.bundled_at(way, whole) == pytest.approx(ends)
