"""The chapter "Facts seen once": what it says of each answer, and of a fact of the learner's."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from llmviz.corpus.invented import TOWNS, Person, first_names, person_of, surnames
from llmviz.course.lessons.errors.causes import words
from llmviz.course.lessons.errors.causes.case_evidence import HEADS, head_of
from llmviz.course.lessons.errors.causes.chapter import question, seen, stem
from llmviz.course.lessons.errors.causes.wrong_answers import CAUSES, cases, ten_cases
from llmviz.course.lessons.errors.facts import answers, chapter
from llmviz.course.lessons.errors.read_facts import (
    CHOICES,
    NOBODY,
    SEEDS,
    STORY_MODEL,
    UNKNOWN,
    Progress,
    Reading,
    bundled,
    likeliest,
    world_of,
)
from llmviz.course.ui import engine
from llmviz.course.ui.common import percent
from llmviz.course.ui.question import whole_percent
from llmviz.training.held_out_texts import stories
from tests.pages.harness import fine, fine_part, prose_of, unpack_all

OWN = Person("Ada", surnames()[0], TOWNS[2], 3)


@given(st.lists(st.floats(0, 1), min_size=len(CHOICES), max_size=len(CHOICES)))
def test_the_sentence_on_a_fact_of_ones_own_names_the_most_probable_answer(chances):
    own = np.array(chances) / max(1.0, sum(chances))
    said = chapter.report(OWN, 1, Progress(8, 8, 0.5, None, own))
    best = int(own.argmax())
    assert ("nobody knows" in said) == (best == NOBODY)
    assert ("your fact" in said and "has" not in said) == (best == TOWNS.index(OWN.town))
    if best != NOBODY:
        assert f"lives in {CHOICES[best]}" in said
    assert "3 times in the text, which was read once" in said


@pytest.mark.parametrize("cost", [0.0, 0.5, 1.0, 9.0])
@pytest.mark.parametrize("unknown", UNKNOWN)
def test_the_best_threshold_has_the_most_points(cost, unknown):
    for world in SEEDS:
        every = chapter.tested(world, unknown, cost)
        best = chapter.best_of(every)
        assert best.points == max(one.points for one in every)
        assert all(one.points < best.points for one in every if one.threshold < best.threshold)
        if not cost:
            assert best.threshold == chapter.THRESHOLDS[0]


def answered(world: int, unknown: int, times: int) -> list[tuple[int, float, bool]]:
    """For each person named so often: the most probable answer, its probability, whether right."""
    table, found = bundled(unknown, world), []
    for one in world_of(Reading(world, unknown)).people:
        if one.times == times:
            chances = table.of(one.first, one.last)
            best = int(chances.argmax())
            found.append((best, float(chances[best]), CHOICES[best] == one.town))
    return found


@pytest.mark.parametrize("world", SEEDS)
def test_the_question_on_facts_never_read_is_answered_by_the_models_own_probabilities(world):
    asked = chapter.question(world)
    mean = np.mean([chance for _, chance, _ in answered(world, 0, 0)])
    assert asked.answers[asked.right] == whole_percent(float(mean))
    assert len(set(asked.answers)) == len(asked.answers) == 3


def test_the_question_on_the_cost_of_declining_is_answered_by_three_worlds():
    asked, most = chapter.decline_question(), UNKNOWN[-1]
    right = np.mean([one[2] for world in SEEDS for one in answered(world, most, 5)])
    assert asked.answers[asked.right] == whole_percent(float(right))
    assert len(set(asked.answers)) == 3
    lost = np.mean([one[0] == NOBODY for world in SEEDS for one in answered(world, most, 5)])
    assert percent(float(lost)) in asked.reasons[asked.right]
    before = np.mean([one[2] for world in SEEDS for one in answered(world, 0, 5)])
    assert percent(float(before)) in asked.text


@pytest.mark.parametrize("world", SEEDS)
@pytest.mark.parametrize("how", ["read", "never", "absent"])
def test_anybody_can_be_asked_for(world, how):
    register = world_of(Reading(world))
    names = [(first, last) for first in first_names() for last in surnames()]
    wanted = {
        "read": lambda one: one is not None and one.times == 1,
        "never": lambda one: one is not None and not one.times,
        "absent": lambda one: one is None,
    }[how]
    first, last = next(name for name in names if wanted(person_of(register, *name)))
    page = fine_part(
        "errors",
        "facts",
        factworld=str(world),
        askfirst=first,
        asklast=last,
        factcost="0",
        show="1",
    )
    said = prose_of(page)
    expected = {
        "read": f"The text says 1 time that {first} {last} lives in",
        "never": "but the text never says so",
        "absent": f"No {first} {last} is in this world",
    }[how]
    assert expected in said
    assert "it pays to answer everything" in said


def test_capitals_are_known_one_way_round_and_no_text_turns_them():
    bundled = engine.load(STORY_MODEL)
    learned, turned, pairs = answers.both_ways(bundled)
    assert learned == pairs > 50 and turned < pairs / 5
    assert not [text for text in stories(200, 1) if "is the capital of" in text]
    prompts = ["Once there was", "Once there was an odd baker called"]
    said = likeliest(bundled.model, bundled.tokenizer, prompts)
    for prompt, token in zip(prompts, said, strict=True):
        ids = torch.tensor([list(bundled.tokenizer.encode_from_start(prompt))])
        assert token == int(bundled.model(ids)[0][0, -1].argmax())
    assert f"the other way round, {turned}." in prose_of(fine_part("errors", "facts", show="1"))


@pytest.mark.parametrize("cause", CAUSES)
def test_each_case_has_a_question_with_a_reason_for_each_answer(cause):
    for case in cases()[cause]:
        asked = question(case, 1)
        assert len(asked.answers) == 4
        assert "{" not in "".join((stem(case), *asked.reasons))
        assert asked.reasons[asked.right] not in stem(case)


@pytest.mark.parametrize("cause", HEADS)
def test_the_evidence_names_the_tokens_and_the_head(cause):
    at = next(at for at, case in enumerate(ten_cases(2), 1) if case.cause == cause)
    page = fine_part("errors", "causes", casefile="2", case=str(at), show="1")
    found = head_of(ten_cases(2)[at - 1])
    assert f"layer {found.layer}, head {found.head}" in prose_of(page)
    labels = str([sent["rows"] for sent in unpack_all(page, "case_rows")])
    assert (" | " in labels) == (cause == HEADS[0])
    assert words.passes["moved"] in labels


@pytest.mark.parametrize("cause", CAUSES)
def test_each_case_is_drawn_with_what_its_text_says(cause):
    for case in cases()[cause]:
        rows, said = seen(case), stem(case)
        assert rows and all(0 <= row.value <= 1 for row in rows)
        if cause == "tested":
            assert [percent(row.value) in said for row in rows] == [True, True]
        if cause in ("greedy", "dice"):
            assert case.named["said"] in rows[0].label
        if cause in ("never", "declines"):
            assert max(row.value for row in rows) == rows[0].value


def test_a_case_is_asked_alone_and_answers_are_counted():
    page = fine_part("errors", "causes", casefile="3")
    assert "You found" not in prose_of(page)
    asked = question(ten_cases(3)[0], 3)
    page.radio[0].set_value(asked.right).run()
    fine(page)
    assert "You found the cause of 1 of 1" in prose_of(page)
    assert "What you have seen" in "".join(one.value for one in page.subheader)
    for at in range(1, 11):
        (another,) = [one for one in page.button if one.label == words.another]
        another.click().run()
        fine(page)
        assert page.session_state["errors.case"] == at % 10 + 1
    assert page.session_state["errors.casefile"] == 4
