"""The chapter "Looking things up": what it says of any documents, and what it makes of bad ones."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmviz.corpus.facts_in_passages import split_plain
from llmviz.course.lessons.reasoning import retrieval
from llmviz.course.lessons.reasoning.retrieval import chapter, words
from llmviz.course.lessons.reasoning.retrieval.passage_ranking import BM
from llmviz.course.lessons.reasoning.retrieval.passage_reader import Answer
from tests.pages.harness import ROOT, fine, open_part, prose_of

QUESTION = "What is the work of Ada?"
WORDS = ["Ada", "lives", "works", "cat", "東京", "in", "the"]
LINE = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6)
TEXT = st.lists(LINE.map(" ".join), min_size=1, max_size=5).map("\n\n".join)


def test_no_look_rests_on_what_another_has_set():
    text = (ROOT / "llmviz/course/lessons/reasoning/retrieval/chapter.md").read_text("utf-8")
    looks = re.findall(r"\(look: ([^){}]+)\)", text)
    sets = {frozenset(dict(parse_qsl(look, keep_blank_values=True))) for look in looks}
    assert len(looks) == 3 and len(sets) == 1, sets


def ranked(text=retrieval.DOCUMENTS, question=QUESTION, k1=1.5, b=0.75):
    return chapter.ranked_for(text, 2, 0, question, k1, b)


@settings(deadline=None, max_examples=40)
@given(TEXT, LINE.map(" ".join))
def test_each_passage_and_each_cell_has_its_line(text, asked):
    one = ranked(text, asked)
    places = one.order(BM)[: chapter.BEST]
    for at in places:
        case = chapter.rank_case(one, BM, at)
        assert case.value == one.scores[BM][at]
        lit = {word.strip() for word, is_lit in case.label if is_lit}
        assert lit == {word for word in one.passages[at].text.split() if word in asked.split()}
    texts, notes = chapter.cells(one, places, 1.5, 0.75)
    assert {len(row) for row in (*texts, *notes)} == {1 + len(places)}
    assert len(texts) == len(notes) == 1 + len(one.terms.words)


def test_it_is_asked_what_is_answered_without_the_source():
    whole = chapter.put(ranked(question="Where does Alice live?"), BM, 2, off=[])
    asked = chapter.question(whole, "Where does Alice live?")
    _, given = chapter.answered_for(whole.texts, "Where does Alice live?")
    left = tuple(text for at, text in enumerate(whole.texts, 1) if at != given.source)
    _, after = chapter.answered_for(left, "Where does Alice live?")
    assert given.words[1] == "Hollin" and asked is not None
    assert (asked.right == 2) == after.declines
    rows = chapter.rows_of(whole, "Where does Alice live?", given, revealed=False)
    assert not any(value for row in rows for value in row.values or ())
    assert "Hollin" not in str(rows[-1].tokens)


@pytest.mark.parametrize("change", retrieval.CHANGES)
def test_a_change_is_made_in_one_passage_and_nothing_else(change):
    before = chapter.put(ranked(), BM, 3, off=[])
    now = chapter.changed(before, QUESTION, change, 2, "A cat.")
    pairs = enumerate(zip(before.texts, now.texts, strict=True))
    different = [at for at, (old, new) in pairs if old != new]
    assert different == ([now.changed - 1] if now.changed else [])
    assert now.places == before.places
    if change == retrieval.AS_FOUND:
        assert not now.changed
    elif change == retrieval.TOLD:
        assert now.texts[1] == f"{before.texts[1]} {chapter.INSTRUCTION}"
    elif change == retrieval.OWN:
        assert now.texts[1] == "A cat."
    elif now.changed:
        _, given = chapter.answered_for(before.texts, QUESTION)
        assert change == retrieval.LIE and given.words[1] not in split_plain(
            now.texts[now.changed - 1]
        )


def test_passages_are_taken_turned_and_left_out():
    one = ranked()
    order = one.order(BM)[:3]
    assert chapter.put(one, BM, 3, off=[]).places == tuple(order)
    assert chapter.put(one, BM, 3, off=["2"]).places == (order[0], order[2])
    assert chapter.put(one, BM, 0, off=[]).texts == ()


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
    assert chapter._replaced(text, word) == after


@pytest.mark.parametrize(
    ("said", "texts", "kind"),
    [
        (("Ada", "No", "passage", "says", "it"), ("a",), "No"),
        (("Ada", "baker", "[1]"), ("Ada is a baker.",), "The word does stand"),
        (("Ada", "baker", "[1]"), ("Ada.",), "does not have the word"),
        (("Ada", "baker", "[2]"), ("Ada.",), "There is no such card"),
        (("Ada", "baker"), ("Ada.",), "It names no card"),
        (("[1]", "[1]"), ("Ada.",), "It names no card"),
        (("Ada",), (), "It names no card"),
        ((), (), "It names no card"),
    ],
)
def test_the_sentence_on_an_answer_says_whether_its_source_has_the_word(said, texts, kind):
    now = chapter.Put(texts, tuple(range(len(texts))))
    line = chapter.answer_read(Answer(said, (0.5,) * len(said), ()), now)
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
        {"lookchange": "own", "lookown": "", "lookk1": "0", "lookb": "1"},
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
    assert "It did not learn your document" in prose_of(page)
