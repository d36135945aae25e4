"""The chapter "Looking things up": what it says of any documents, and what it makes of bad ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmviz.corpus.facts_in_passages import split_plain
from llmviz.course.lessons.reasoning.retrieval import (
    chapter,
    found,
    measured,
    ranking,
    reading,
    words,
)
from llmviz.course.lessons.reasoning.retrieval.params import (
    AS_FOUND,
    CHANGES,
    DOCUMENTS,
    LIE,
    OWN,
    TOLD,
)
from llmviz.course.lessons.reasoning.retrieval.passage_ranking import BM, RANKINGS
from llmviz.course.lessons.reasoning.retrieval.passage_reader import Answer
from tests.pages.harness import fine, open_part, prose_of

QUESTION = "What is the work of Ada?"
WORDS = ["Ada", "lives", "works", "cat", "東京", "in", "the"]
LINE = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6)
TEXT = st.lists(LINE.map(" ".join), min_size=1, max_size=5).map("\n\n".join)


def ranked(text=DOCUMENTS, question=QUESTION, k1=1.5, b=0.75):
    return found.ranked_for(text, 2, 0, question, k1, b)


@settings(deadline=None, max_examples=40)
@given(TEXT, LINE.map(" ".join), st.floats(0, 3), st.floats(0, 1))
def test_the_question_names_the_word_with_the_most_points_of_the_best_passage(text, asked, k1, b):
    one = ranked(text, asked, k1, b)
    question = ranking.term_question(one)
    if question is None:
        return
    best = int(np.argmax(one.scores[BM]))
    points = one.terms.terms[:, best]
    right = question.answers[question.right]
    assert one.terms.words[int(points.argmax())] in right
    assert f"{points.max():.3f}" in question.reasons[question.right]
    assert len(question.answers) == 2


@settings(deadline=None, max_examples=40)
@given(TEXT, LINE.map(" ".join))
def test_equal_scores_have_equal_ranks_and_each_cell_has_its_line(text, asked):
    one = ranked(text, asked)
    for way in RANKINGS:
        rows = ranking.rank_rows(one, way)
        scores = dict(zip(one.order(way), rows, strict=False))
        for at, row in scores.items():
            score = one.scores[way][at]
            if not np.isnan(score):
                higher = (np.round(one.scores[way], 10) > np.round(score, 10)).sum()
                assert row[0] == str(1 + higher)
    places = one.order(BM)[: ranking.BEST]
    texts, notes = ranking.cells(one, places, 1.5, 0.75)
    assert {len(row) for row in (*texts, *notes)} == {1 + len(places)}
    assert len(texts) == len(notes) == 1 + len(one.terms.words)


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_made_in_one_passage_and_nothing_else(change):
    before = found.put(ranked(), BM, 3, best_last=False, off=[])
    now = found.changed(before, QUESTION, change, 2, "A cat.")
    different = [
        at
        for at, pair in enumerate(zip(before.texts, now.texts, strict=True))
        if len(set(pair)) > 1
    ]
    assert different == ([now.changed - 1] if now.changed else [])
    assert now.places == before.places
    if change == AS_FOUND:
        assert not now.changed
    elif change == TOLD:
        assert now.texts[1] == f"{before.texts[1]} {found.INSTRUCTION}"
    elif change == OWN:
        assert now.texts[1] == "A cat."
    elif now.changed:
        _, given = found.answered_for(before.texts, QUESTION)
        assert change == LIE and given.words[1] not in split_plain(now.texts[now.changed - 1])


def test_passages_are_taken_turned_and_left_out():
    one = ranked()
    order = one.order(BM)[:3]
    assert found.put(one, BM, 3, best_last=False, off=[]).places == tuple(order)
    assert found.put(one, BM, 3, best_last=True, off=[]).places == tuple(order[::-1])
    assert found.put(one, BM, 3, best_last=False, off=["2"]).places == (order[0], order[2])
    assert found.put(one, BM, 0, best_last=False, off=[]).texts == ()


@pytest.mark.parametrize(
    ("text", "word", "after"),
    [
        ("Ada is a baker. A bakery.", "baker", "Ada is a barber. A bakery."),
        ("Ada is a barber.", "barber", "Ada is a beekeeper."),
        ("Bo is an archer.", "archer", "Bo is an astronomer."),
        ("zyx zyxa", "zyx", "Aldmoor zyxa"),
    ],
)
def test_a_lie_is_another_word_of_the_same_kind(text, word, after):
    assert found._replaced(text, word) == after


@pytest.mark.parametrize(
    ("said", "texts", "kind"),
    [
        (("Ada", "No", "passage", "says", "it"), ("a",), "No"),
        (("Ada", "baker", "[1]"), ("Ada is a baker.",), "The word does stand"),
        (("Ada", "baker", "[1]"), ("Ada.",), "does not have the word"),
        (("Ada", "baker", "[2]"), ("Ada.",), "There is no such passage"),
        (("Ada", "baker"), ("Ada.",), "It names no passage"),
        (("[1]", "[1]"), ("Ada.",), "It names no passage"),
        (("Ada",), (), "It names no passage"),
        ((), (), "It names no passage"),
    ],
)
def test_the_sentence_on_an_answer_says_whether_its_source_has_the_word(said, texts, kind):
    now = found.Put(texts, tuple(range(len(texts))))
    line = reading.answer_read(Answer(said, (0.5,) * len(said), ()), now)
    assert (words.answer_read["declines"][:20] in line) == (kind == "No")
    assert kind == "No" or kind in line


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"lookdocs": "", "lookask": ""},
        {"lookdocs": " \n\n … !"},
        {"lookask": "?!"},
        {"lookask": "zyx"},
        {"lookdocs": "東京は日本。\n\nМосква далеко.", "lookask": "東京"},
        {"lookdocs": "<b>*a*</b> [1] <3> \x00. " * 60, "lookask": "<b>[1]</b>"},
        {"lookdocs": "word " * 1_200, "lookask": "word", "looktake": "3", "looklong": "4"},
        {"lookdocs": "a. " * 2_000, "lookask": "a", "looklong": "1", "lookover": "3"},
        {"lookdocs": "One cat.", "lookask": "cat", "looktake": "3", "lookoff": "1,2,3"},
        {"lookdocs": "Ada is a baker. Answer: Nobody.", "lookchange": "told", "lookat": "3"},
        {"looktake": "0", "lookchange": "lie"},
        {"lookchange": "own", "lookown": "", "lookk1": "0", "lookb": "1", "lookturned": "1"},
    ],
)
def test_odd_documents_get_a_clear_line_and_lose_nothing(given):
    page = open_part("reasoning", "retrieval", show="1", **given)
    fine(page)
    if "lookdocs" in given:
        assert page.text_area[0].value == given["lookdocs"]
    infos = [one.value for one in page.info]
    nothing = "lookdocs" in given and not any(map(str.isalnum, given["lookdocs"]))
    assert any(words.no_words[:36] in one for one in infos) == nothing
    assert "What you have seen" in prose_of(page) or "three models answered" in prose_of(page)


def test_a_copy_without_the_bundled_model_names_the_commands(monkeypatch):
    def missing(*_: object) -> None:
        raise ValueError("no")

    monkeypatch.setattr(chapter, "recorded", missing)
    page = open_part("reasoning", "retrieval")
    fine(page)
    assert any(chapter.passage_record.COMMAND in one.value for one in page.code)


def test_the_passage_that_is_repeated_is_the_one_that_leads_in_each_model():
    leads = {
        model.share("two", "first") > model.share("two", "last") for model in measured.recorded()
    }
    asked = measured.two_question()
    wanted = "prefers" if len(leads) == 2 else "The first" if True in leads else "The last"
    assert wanted in asked.answers[asked.right]


def test_blind_picking_never_names_the_ordered_word_more_often_than_a_word_is_said():
    for model, blind in zip(measured.recorded(), measured.lucky(), strict=True):
        assert 0 <= blind <= 1 - model.share("wrong", "declined")
