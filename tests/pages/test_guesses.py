"""Every guess ends: whoever answers, rightly or not, or only looks, has what is right and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

import pytest
from streamlit.testing.v1 import AppTest

from llmviz.course.document.marks import unmarked
from llmviz.course.lessons import LESSONS
from llmviz.course.ui.guess import QUESTIONS
from llmviz.course.ui.guess_drawn import words
from llmviz.course.ui.guess_given import HERE, Given, slot_of
from llmviz.course.ui.guess_made import MADE
from llmviz.course.ui.placed_question import elements, guess_in
from llmviz.course.ui.question import Question
from tests.pages.asked import texts
from tests.pages.harness import fine, idle_looks, open_part, unpack_all

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
    drawn = [float(value) for value in values]  # as a hand sets them
    given = Given.to(question, chosen, drawn, line=len(drawn) > 1)
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
    assert_told(app)
    return End(told, questions, len(app.header), passages_of(app))


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


def looks_of(app: AppTest) -> list[str]:
    """Where the looks of a page lead."""
    lines = [line for sent in unpack_all(app, "looks") for line in sent["passages"]]
    return [look for line in lines for _, look, *_ in line if look]


def passages_of(app: AppTest) -> int:
    return sum(len(sent["passages"]) for sent in unpack_all(app, "looks"))


# What the page sends that is no picture.
NO_PICTURES = {"progress", "text_guard", "curve_data", "looks"}
# By chapter: kinds of pictures that a look takes away, and why that is right.
GONE = {
    ("embeddings", "maps"): ({"case_rows", "scatter_film"}, "a map is computed; one is in space"),
    ("history", "recurrent"): ({"matrix_view"}, "a part of its own; a plain one has no gates"),
    ("history", "series"): ({"draw_on"}, "who made a series has nothing to guess"),
    ("transformer", "since"): ({"plotly_chart"}, "each change has a picture of its own kind"),
    ("finetuning", "fewshot"): (
        {"heads_grid", "token_strip"},
        "without examples none is looked at",
    ),
    ("finetuning", "classifier"): (
        {"token_strip", "cell_grid", "plotly_chart"},
        "another classifier has to be trained first",
    ),
    ("discoveries", "own"): ({"case_rows", "plotly_chart"}, "another study has to be run first"),
    ("reasoning", "reinforce"): ({"matrix_view"}, "without a baseline nothing is taken off"),
}
# Chapters of which a look leads to fewer sections, for the same reason.
SHORTER = {
    ("embeddings", "maps"),
    ("history", "recurrent"),
    ("finetuning", "classifier"),
    ("discoveries", "own"),
}


def pictures_of(app: AppTest) -> Counter[str]:
    """How many pictures of each kind stand on a page."""
    sent = [part.proto.component_name.removeprefix("llmviz_") for part in app.get("bidi_component")]
    sent += ["plotly_chart"] * len(app.get("plotly_chart"))
    return Counter(kind for kind in sent if kind not in NO_PICTURES)


def assert_looks_take_nothing_away(lesson: str, chapter: str) -> None:
    """After a guess, each look leads elsewhere, and none asks again or takes away what was told, a
    picture or other looks."""
    params = {param.key: param for param in LESSONS_BY[lesson].params()}
    app = open_part(lesson, chapter)
    for _ in range(12):
        if not (button := next(waiting(app), None)):
            break
        button.click().run()
    told, passages = set(boxes_of(app)), passages_of(app)
    pictures, sections = pictures_of(app), len(app.header)
    may_go, _ = GONE.get((lesson, chapter), (set(), ""))
    assert idle_looks(app) == []
    for look in looks_of(app):
        for control, written in parse_qsl(look, keep_blank_values=True):
            param = params[control]
            app.session_state[f"{'shared' if param.shared else lesson}.{control}"] = param.read(
                written
            )
        app.run()
        fine(app)
        assert not any(True for _ in waiting(app)), look
        assert set(boxes_of(app)) >= told, look
        assert passages_of(app) >= min(passages, 2), look
        assert set(pictures - pictures_of(app)) <= may_go, look
        assert len(app.header) >= sections or (lesson, chapter) in SHORTER, look


@pytest.mark.parametrize(("lesson", "chapter"), sorted(KINDS))
def test_no_look_takes_away_what_was_told(lesson, chapter, covers):
    assert_looks_take_nothing_away(lesson, chapter)


# A look there leads to a question of its own.
LEAD_ELSEWHERE = {
    ("history", "counting"),
    ("errors", "causes"),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lesson", "chapter"), [one for one in CHAPTERS if one not in KINDS | LEAD_ELSEWHERE]
)
def test_no_look_of_any_chapter_takes_away_what_was_told(lesson, chapter, covers):
    assert_looks_take_nothing_away(lesson, chapter)


@pytest.mark.parametrize(
    ("chapter", "picture"),
    {
        "transformer/units": "token_strip",
        "transformer/masked": "token_strip",
        "transformer/patching": "cell_grid",
        "transformer/stream": "cell_grid",
        "discoveries/features": "token_strip",
        "discoveries/induction": "look_back",
        "finetuning/instructions": "token_strip",
    }.items(),
)
def test_a_wrong_guess_stays_on_the_picture_that_it_was_made_on(chapter, picture, covers):
    app = open_part(*chapter.split("/"))
    key, question = next(iter(asked_on(app).items()))

    def ghosts() -> list[Any]:
        sent = unpack_all(app, picture)
        lines = [*sent, *(row for each in sent for row in each.get("rows", ()))]
        return [line["ghost"] for line in lines if line.get("ghost") is not None]

    give(app, key, question, question.right)
    app.run()
    fine(app)
    assert not ghosts()
    give(app, key, question, (question.right + 1) % len(question.answers))
    app.run()
    fine(app)
    assert ghosts() and len(set(map(str, ghosts()))) == 1


def test_a_line_drawn_for_a_text_of_another_length_is_not_drawn(covers):
    """The same was asked of that text, so what was said of it still stands."""
    app = open_part("real", "copies")
    ((key, question),) = asked_on(app).items()
    for left_out, lines in ((0, 4), (1, 1)):  # with the wrong answers, where it is drawn
        drawn = [float(value) for value in question.values[question.right]][left_out:]
        place = slot_of(app.session_state[HERE], key)
        app.session_state[place] = Given.to(question, question.right, drawn)
        app.run()
        fine(app)
        assert len(unpack_all(app, "draw_on")[0]["lines"]) == lines


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


def test_a_text_without_a_question_keeps_what_was_told_and_the_picture(covers):
    app = open_part("tokenization", "cut")
    next(waiting(app)).click().run()
    app.session_state["shared.text"] = "ANNA AND SAMIR SAW A KITTEN."
    app.run()
    fine(app)
    assert list(boxes_of(app)) == ["cut.upper"] and unpack_all(app, "case_rows")
    assert unpack_all(app, "looks") and not any(True for _ in waiting(app))


def test_a_text_without_a_question_names_ones_own_guess(covers):
    app = open_part("tokenization", "cut")
    ((key, question),) = asked_on(app).items()
    wrong = (question.right + 1) % len(question.answers)
    give(app, key, question, wrong)
    app.run()
    app.session_state["shared.text"] = "ANNA AND SAMIR SAW A KITTEN."
    app.run()
    fine(app)
    (box,) = boxes_of(app).values()
    assert plain(words.guessed.format(guess=question.answers[wrong])) in plain(" ".join(texts(box)))


def test_a_look_does_not_change_what_the_hour_keeps_of_a_stop(covers):
    app = open_part("embeddings", "similarity")
    next(waiting(app)).click().run()
    kept = app.session_state[MADE]["embeddings/similarity"]
    app.session_state["embeddings.other"] = "cow"
    app.run()
    fine(app)
    assert app.session_state[MADE]["embeddings/similarity"] == kept


def test_who_opened_an_answered_link_may_guess_all_the_same(covers):
    app = open_part("tokenization", "cut", show="cut")
    assert not any(True for _ in waiting(app))
    (again,) = [button for button in app.button if button.label == words.again]
    again.click().run()
    fine(app)
    assert any(True for _ in waiting(app)) and "show" not in app.query_params
