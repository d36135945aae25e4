"""Every guess ends: whoever answers, rightly or not, or only looks, has what is right and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import pytest
from streamlit.testing.v1 import AppTest

from llmviz.course.document.marks import unmarked
from llmviz.course.lessons import LESSONS
from llmviz.course.ui.asked import elements, guess_in
from llmviz.course.ui.guess import HERE, QUESTIONS, Given, slot_of, words
from llmviz.course.ui.question import Question
from tests.pages.asked import texts
from tests.pages.harness import fine, open_part, unpack_all

CHAPTERS = [(lesson.key, chapter.key) for lesson in LESSONS for chapter in lesson.chapters]
# One for each kind of guess: in a list, on bars, a line, a cell, an axis of its own, a picture
# of its own, and two of them.
KINDS = {
    ("sampling", "temperature"),
    ("training", "loss"),
    ("training", "curves"),
    ("attention", "masks"),
    ("embeddings", "positions"),
    ("sampling", "pipeline"),
    ("errors", "memorization"),
}
WAYS = ("right", "wrong", "shown", "show=1")


class End(NamedTuple):
    """What stands on a page whose questions have all come to their end."""

    boxes: dict[str, str]  # by the key of a guess, what is said of it
    questions: dict[str, Question]
    sections: int
    passages: int


def boxes_of(app: AppTest) -> dict[str, Any]:
    return {key: box for box in elements(app.main) if (key := guess_in(box)) is not None}


def asked_on(app: AppTest) -> dict[str, Question]:
    """The questions of a page by their guess's key: both are in the order of the page."""
    app.session_state[QUESTIONS] = []
    app.run()
    fine(app)
    return dict(zip(boxes_of(app), app.session_state[QUESTIONS], strict=True))


def waiting(app: AppTest) -> Iterator[Any]:
    return (button for button in app.button if button.label == words.show)


def give(app: AppTest, key: str, question: Question, chosen: int) -> None:
    values = question.values[chosen] if question.values else ()
    given = Given.to(question, chosen, list(values))
    app.session_state[slot_of(app.session_state[HERE], key)] = given


def ended(lesson: str, chapter: str, way: str) -> End:
    """Open a chapter and bring all its questions to their end in one way."""
    app = open_part(lesson, chapter, **({"show": "1"} if way == "show=1" else {}))
    for _ in range(12):  # an answer may open the next question
        questions = asked_on(app)
        if not (button := next(waiting(app), None)):
            break
        if way == "shown":
            button.click().run()
            continue
        key = next(key for key in questions if f"/{key}.show" in button.key)
        question = questions[key]
        wrong = (question.right + 1) % len(question.answers)
        give(app, key, question, question.right if way == "right" else wrong)
        app.run()
    fine(app)
    assert not any(True for _ in waiting(app)), f"{way}: something is still asked"
    told = {key: " ".join(texts(box)) for key, box in boxes_of(app).items()}
    passages = sum(len(sent["passages"]) for sent in unpack_all(app, "looks"))
    assert_told(app)
    return End(told, questions, len(app.header), passages)


def assert_told(app: AppTest) -> None:
    """No picture veils anything any more."""
    for rows in unpack_all(app, "case_rows"):
        assert [
            row["label"] for row in rows["rows"] if row["value"] is None and not row["note"]
        ] == []
    for lines in unpack_all(app, "draw_on"):
        assert lines["asked"]["x"] == []


def plain(text: str) -> str:
    return " ".join(unmarked(text).replace("\\", "").replace("*", "").split())


def assert_all_ends(lesson: str, chapter: str, ways: Sequence[str] = WAYS) -> None:
    ends = {way: ended(lesson, chapter, way) for way in ways}
    ends = {way: end for way, end in ends.items() if end.boxes}  # a learner's own run asks later
    assert len({(end.sections, end.passages) for end in ends.values()}) <= 1, ends
    for way, end in ends.items():
        for key, question in end.questions.items():
            said = plain(end.boxes[key])
            assert plain(question.answers[question.right]) in said, (way, key, said)
            assert plain(question.reasons[question.right]) in said, (way, key, said)
            assert question.reasons[question.right].strip()


@pytest.mark.parametrize(("lesson", "chapter"), sorted(KINDS))
def test_a_guess_ends_for_everybody(lesson, chapter, covers):
    assert_all_ends(lesson, chapter)


@pytest.mark.slow
@pytest.mark.parametrize(("lesson", "chapter"), [one for one in CHAPTERS if one not in KINDS])
def test_all_guesses_end_for_everybody(lesson, chapter, covers):
    assert_all_ends(lesson, chapter)


@pytest.mark.parametrize(("lesson", "chapter"), sorted(KINDS))
def test_the_address_of_an_answered_chapter_opens_it_for_others(lesson, chapter, covers):
    app = open_part(lesson, chapter)
    next(waiting(app)).click().run()
    (shown,) = (
        app.query_params["show"]
        if isinstance(app.query_params["show"], list)
        else [app.query_params["show"]]
    )
    assert shown == chapter
    link = {
        key: value[0] if isinstance(value, list) else value
        for key, value in app.query_params.items()
    }
    other = open_part(lesson, link.pop("part"), **link)
    fine(other)
    assert not any(True for _ in waiting(other))
    assert any(True for _ in waiting(open_part(lesson, chapter)))
    follows = next(
        key for key in (one.key for one in LESSONS_BY[lesson].chapters) if key != chapter
    )
    other.session_state[f"{lesson}.part"] = follows
    other.run()
    fine(other)
    assert "show" not in other.query_params  # the next chapter asks its own questions


LESSONS_BY = {lesson.key: lesson for lesson in LESSONS}


def test_a_page_goes_to_what_was_asked_and_back_to_ask_anew(covers):
    app = open_part("sampling", "temperature")
    next(waiting(app)).click().run()
    assert app.session_state["sampling.temperature"] == 0.5
    app.session_state["sampling.temperature"] = 1.0
    app.run()
    assert not any(True for _ in waiting(app))  # what was told stays told
    app.session_state["sampling.temperature"] = 0.2
    app.run()
    (again,) = [button for button in app.button if button.label == words.again]
    again.click().run()
    fine(app)
    assert app.session_state["sampling.temperature"] == 1.0 and any(True for _ in waiting(app))
    assert "show" not in app.query_params


def test_another_text_shows_its_own_result_and_asks_nobody_again(covers):
    app = open_part("tokenization", "cut")
    next(waiting(app)).click().run()
    (before,) = boxes_of(app).values()
    app.session_state["shared.text"] = "Samir saw eleven elephants."
    app.run()
    fine(app)
    (after,) = boxes_of(app).values()
    assert not any(True for _ in waiting(app)) and list(texts(before)) != list(texts(after))


def test_who_opened_an_answered_link_may_guess_all_the_same(covers):
    app = open_part("tokenization", "cut", show="cut")
    assert not any(True for _ in waiting(app))
    (again,) = [button for button in app.button if button.label == words.again]
    again.click().run()
    fine(app)
    assert any(True for _ in waiting(app)) and "show" not in app.query_params
