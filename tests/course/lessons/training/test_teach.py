"""A new model that learns one paragraph."""

import math

import numpy as np
import pytest

from llmviz.course.document.marks import BOLD
from llmviz.course.lessons.training.teach import chapter, model, words

TEXT = "I like trains and my friend likes boats. "


@pytest.fixture(scope="module")
def results():
    return list(model.teach(TEXT))


def test_it_begins_as_a_blind_guess_and_ends_with_the_text_by_heart(results):
    letters = len(set(TEXT))
    assert results[0].loss == pytest.approx(math.log(letters), abs=0.2)
    assert results[-1].loss < 0.1
    writes = {point.step: point.wrote for point in results if point.wrote is not None}
    assert tuple(writes) == model.LOOKS
    assert writes[model.STEPS].startswith(TEXT[:30]) and not writes[0].startswith(TEXT[:5])
    assert set("".join(writes.values())) <= set(TEXT)


def test_the_curve_is_the_mean_of_its_steps_and_the_same_each_time(results):
    assert [point.step for point in results] == list(range(0, model.STEPS + 1, model.POINT))
    again = model.teach(TEXT)
    assert [next(again) for _ in range(4)] == results[:4]


def test_a_question_asks_for_what_is_not_drawn_yet_and_its_answers_differ(results):
    asked = chapter.question(TEXT, results)
    steps, losses = chapter.points(results)
    later = len(steps) - chapter.KNOWN // model.POINT - 1
    assert steps[-later - 1] == chapter.KNOWN and steps[-1] == model.STEPS
    assert list(asked.values[asked.right]) == losses[-later:]
    for at, line in enumerate(asked.values):
        if at != asked.right:
            assert np.abs(np.subtract(line, losses[-later:])).mean() > chapter.APART * losses[0]


def test_words_of_the_text_are_lit_and_markup_stays_letters():
    lit = chapter.lit("likes boas <b>boats</b> **", TEXT)
    assert lit.count(BOLD) == 2 and "<b>" in lit and "**" in lit


@pytest.mark.parametrize("text", ["", " " * 30, "too short", "x" * (model.LONGEST + 1)])
def test_a_text_of_another_length_is_refused(text):
    with pytest.raises(ValueError, match="characters is needed"):
        model.checked(text)
    assert model.checked(words.paragraph) == words.paragraph
