"""The ways through the course, the search over it, and where their buttons lead."""

from __future__ import annotations

import importlib
import json
from types import SimpleNamespace

import pytest

from llmviz.course import glossary
from llmviz.course.components import unpack
from llmviz.course.document import languages
from llmviz.course.glossary import terms
from llmviz.course.lessons import LESSONS, ways
from llmviz.course.lessons.before_after import words as after
from llmviz.course.lessons.home import words
from llmviz.course.ui import contents, course, hour
from llmviz.course.ui.code import OPENED
from llmviz.course.ui.furniture import words as furniture
from tests.course.components.test_scripts import run
from tests.pages.harness import fine, open_page, open_part, unpack_all

BY_KEY = {lesson.key: lesson for lesson in LESSONS}
ESSENTIALS = {"tokenization", "embeddings", "attention", "training", "sampling"}


def hits(index: object, wanted: str) -> list[dict[str, str]]:
    """What the search of the browser finds."""
    found = f"it.hits({json.dumps(index)}, {json.dumps(wanted)})"
    return run("finder/search.js", f"console.log(JSON.stringify({found}))")


def walked(way: str) -> list[str]:
    """The places that the main button leads to, from home until there is none or home again."""
    places: list[str] = []
    page, _, chapter = course.HOME, "", ""
    while (after := course.onward(way, BY_KEY[page], chapter)) and after.place != course.HOME:
        assert after.place not in places, "in a circle"
        places.append(after.place)
        if after.place == course.END:
            break
        page, _, chapter = after.place.partition("/")
    return places


def test_an_hour_has_the_five_essentials_and_a_course_ten_lessons():
    assert set(contents.WAY.options) == {contents.ALL, *ways.WAYS} == set(words.ways)
    assert {stop.lesson for stop in course.stops(ways.HOUR)} == ESSENTIALS
    assert course.totals(ways.HOUR) == (5, sum(stop.minutes for stop in course.stops(ways.HOUR)))
    assert course.totals(ways.HOUR)[1] <= 60
    assert len(ways.WAYS[ways.COURSE]) == 10
    for sitting in ways.WAYS[ways.COURSE]:
        assert 40 <= sum(map(course.minutes, sitting)) <= 75, sitting
    for way, sittings in ways.WAYS.items():
        assert len(words.sittings[way]) == len(sittings)


def test_no_chapter_of_a_way_stands_before_a_lesson_that_its_lesson_needs():
    for way in ways.WAYS:
        # The opening says what the names mean, and needs no lesson before it.
        stops = [stop for stop in course.stops(way) if stop.chapter != "where"]
        order = [stop.lesson for stop in stops]
        for at, key in enumerate(order):
            for needed in set(BY_KEY[key].after) & set(order):
                assert needed in order[:at], f"{way}: {key} comes before {needed}"


def test_the_main_button_walks_each_way_to_its_end():
    for way in ways.WAYS:
        stops = [f"{stop.lesson}/{stop.chapter}" for stop in course.stops(way)]
        assert walked(way) == [*stops, course.END if way == ways.HOUR else course.ENDING]
    everything = [f"{one.key}/{name}" for one in LESSONS for name in one.names]
    assert walked(contents.ALL) == [*everything, "before_after", course.GLOSSARY]


def test_who_leaves_a_way_goes_on_in_the_order_of_all_chapters():
    after = course.onward(ways.HOUR, BY_KEY["tokenization"], "learn")
    assert after == course.onward(contents.ALL, BY_KEY["tokenization"], "learn")


def test_a_chapter_says_which_stop_of_the_way_it_is():
    app = open_part("embeddings", "similarity", course="hour")
    fine(app)
    opening = next(
        block.proto.body for block in app.get("html") if "lv-opening" in block.proto.body
    )
    assert "stop 2 of 5 on your way, about 13 minutes" in opening
    labels = [button.label for button in app.button]
    assert "Next: A trained model (Attention)" in labels
    next(one for one in app.button if one.label.startswith("Next: A trained")).click().run()
    fine(app)
    assert app.session_state["attention.part"] == "trained"


def test_one_sentence_goes_through_the_hour_and_a_visitors_own_where_there_is_one(monkeypatch):
    real, toy = ways.SENTENCES
    for stop in course.stops(ways.HOUR):
        for text in ("", "Penguins love cold water"):
            app = open_part(
                stop.lesson, stop.chapter, course="hour", **({"text": text} if text else {})
            )
            fine(app)
            assert app.session_state["shared.text"] == (text or toy)  # no real model is here
            if stop.lesson == "sampling":
                assert app.session_state["sampling.prompt"] == (text or toy)
    split = SimpleNamespace(
        encode=lambda text: text[1:].replace("penguins", "peng uins").split(" ")
    )
    monkeypatch.setattr(course.engine, "tokenizer", lambda _: split)
    assert course._of_own({"text": real}, {"word": "Paris"}) == {"word": "Paris"}
    own = course._of_own({"text": "My Water is cold, penguins"}, {"word": "Paris", "model": "m"})
    assert own == {"word": "water", "other": "cold", "model": "m"}
    assert course._of_own({"text": "hi"}, {"word": "Paris"}) == {"word": "Paris"}


@pytest.mark.parametrize("stop", course.stops(ways.HOUR))
def test_a_stop_of_the_hour_is_folded_behind_its_looks_until_more_is_wanted(stop):
    whole = open_part(stop.lesson, stop.chapter, show="1")
    heads = [head.value for head in whole.header]
    assert heads
    app = open_part(stop.lesson, stop.chapter, show="1", course="hour")
    assert [head.value for head in app.header] == heads  # all folds are open in it
    app.session_state[OPENED] = False
    app.run()
    fine(app)
    assert not app.header
    assert [len(looks["passages"]) for looks in unpack_all(app, "looks")] == [hour.LOOKS]
    assert sum(button.label.startswith(("Next", "The end")) for button in app.button) == 1
    next(button for button in app.button if button.label == furniture.more).click().run()
    fine(app)
    assert [head.value for head in app.header] == heads
    assert app.query_params["more"] == stop.chapter
    assert len(unpack_all(app, "looks")[0]["passages"]) > hour.LOOKS
    assert all(button.label != furniture.more for button in app.button)


@pytest.mark.parametrize("way", [*ways.WAYS, contents.ALL])
def test_home_shows_each_way(way):
    app = open_page("home", course=way)
    fine(app)
    paths = unpack_all(app, "course_path")
    for path, chosen in zip(paths, dict.fromkeys((ways.HOUR, way)), strict=True):
        shown = [chapter["place"] for stop in path["stops"] for chapter in stop["chapters"]]
        everything = [f"{one.key}/{name}" for one in LESSONS for name in one.keys]
        walk = everything if chosen == contents.ALL else walked(chosen)
        assert shown == [place for place in walk if "/" in place]
        assert all(stop["minutes"] and stop["place"] for stop in path["stops"])


def test_the_hour_begins_with_one_button_goes_back_and_ends_with_what_was_seen():
    app = open_page("home")
    next(one for one in app.button if one.label == words.start).click().run()
    fine(app)
    assert app.session_state["tokenization.part"] == "cut"
    app = open_part("embeddings", "similarity", course="hour")
    next(one for one in app.button if one.label.startswith("Back: Cut")).click().run()
    assert app.session_state["tokenization.part"] == "cut"
    app = open_part("sampling", "temperature", course="hour")
    app.session_state[OPENED] = False
    asked = ("How many?", "3", "5", False)
    app.session_state["_hour_guesses"] = {"sampling/temperature": asked, "history/where": asked}
    next(one for one in app.button if one.label.startswith("The end")).click().run()
    fine(app)
    kept = unpack_all(app, "keepsake")[0]
    assert kept["lines"] == [["Temperature", *asked]]  # of stops alone
    assert kept["sentence"] == app.session_state["shared.text"]
    assert not [one.label for one in app.button if one.label.startswith("Next")]
    app = open_page("home", end="1", course="hour", text="Once, Anna")
    (link,) = (block.value for block in app.code if "text=" in block.value)
    assert "text=Once%2C+Anna" in link and "end=" not in link
    next(one for one in app.button if one.label == words.ten).click().run()
    fine(app)
    assert app.session_state["history.part"] == "where"
    app = open_part("finetuning", "preferences", course="course")
    next(one for one in app.button if one.label.startswith("The end of your way")).click().run()
    fine(app)
    assert app.session_state["before_after.when"] == "after"
    assert any(after.seen_title in head.value for head in app.subheader) == ("course" in after.seen)


def test_back_goes_the_way_or_through_the_lesson():
    for way in ways.WAYS:
        stops = [f"{stop.lesson}/{stop.chapter}" for stop in course.stops(way)]
        for before, place in zip([course.HOME, *stops], stops, strict=False):
            page, _, chapter = place.partition("/")
            found = course.back(way, BY_KEY[page], chapter)
            assert found is not None and found.place == before
    assert course.back(contents.ALL, BY_KEY["tokenization"], "cut") is None
    for lesson in LESSONS:
        for before, chapter in zip(lesson.keys, lesson.keys[1:], strict=False):
            found = course.back(contents.ALL, lesson, chapter)
            assert found is not None and found.place == f"{lesson.key}/{before}"


def test_the_search_knows_every_chapter_with_its_questions_and_every_term():
    index = unpack(course.search_index().data)
    chapters = {one["place"]: one for one in index["chapters"]}
    assert len(chapters) == sum(len(lesson.keys) for lesson in LESSONS)
    assert [one["name"] for one in index["terms"]] == sorted(terms(), key=str.lower)
    counting = importlib.import_module("llmviz.course.lessons.history.counting").words
    assert counting.longer.title in chapters["history/counting"]["more"]
    asked = importlib.import_module("llmviz.course.lessons.sampling.temperature").words.ask_half
    assert any(
        text.startswith(asked.split("{")[0]) for text in chapters["sampling/temperature"]["more"]
    )
    assert not any("{" in text for one in chapters.values() for text in one["more"])


SAID = [said for row in glossary.words.newcomers for said in row.split(", ")]


@pytest.mark.parametrize("said", SAID)
def test_newcomers_words_lead_to_a_chapter_or_a_term(said):
    index = unpack(course.search_index().data)
    first = {hit["place"] for hit in hits(index, said)[:6]}
    wanted = {place for place, words in glossary.newcomers().items() if said in ", ".join(words)}
    assert first & (wanted | {f"glossary/{place}" for place in wanted}), first


# What people type who have never heard of the course's words, and where they should be led.
TYPED = {
    "hallucinations": {"glossary/hallucination", "errors/facts"},
    "prompts": {"glossary/prompt"},
    "embedding": {"glossary/embedding", "embeddings/lookup"},
    "ChatGPT": {"glossary/GPT", "glossary/chat template", "reasoning/conversation"},
    "Llama": {"glossary/pretraining", "transformer/since", "transformer/count"},
    "DeepSeek": {"glossary/pretraining", "transformer/since", "transformer/count"},
    "GPU": {"glossary/throughput", "efficiency/cache", "efficiency/flash", "efficiency/systems"},
    "agents": {"glossary/tool call", "reasoning/tools"},
    "MCP": {"glossary/MCP", "reasoning/tools"},
    "diffusion": {"next/diffusion"},
    "experts": {"next/experts", "glossary/mixture of experts"},
    "Mamba": {"glossary/linear attention", "next/memory"},
    "multimodal": {"glossary/multimodal"},
    "quantize": {"glossary/quantization", "efficiency/quantization"},
    "reasoning": {"reasoning/chain_of_thought", "reasoning/conversation"},
    "temperature 0": {"glossary/temperature", "sampling/temperature"},
    "Chinese": {"glossary/byte", "tokenization/compare", "attention/why"},
    "why is it slow": {"glossary/throughput", "efficiency/cache", "efficiency/flash"},
    "how does ChatGPT work": {"glossary/GPT", "glossary/chat template", "reasoning/conversation"},
    "upload": {"training/runs"},
    "train my own": {"training/runs"},
    "tokens": {"glossary/token", "tokenization/cut"},
    "attention": {"glossary/attention", "attention/why", "attention/trained"},
    "training": {"training/runs", "training/curves", "glossary/training run"},
    "worksheet": {"glossary/worksheet"},
    "lesson plan": {"glossary/lesson plan"},
}


@pytest.mark.parametrize("typed", TYPED)
def test_what_is_typed_leads_first_to_a_right_place(typed):
    first = hits(unpack(course.search_index().data), typed)[0]["place"]
    assert first in TYPED[typed], first


@pytest.mark.parametrize(
    ("language", "typed", "term"),
    [
        ("es", "producto escalar", "dot product"),
        ("es", "mascara causal", "causal mask"),
        ("es", "relleno", "padding"),
        ("zh", "因果掩码", "causal mask"),
        ("zh", "点积", "dot product"),
    ],
)
def test_a_term_is_found_by_what_it_is_called_there(language, typed, term, monkeypatch):
    monkeypatch.setattr(languages, "_asks", lambda: language)
    index = unpack(course.search_index().data)
    assert hits(index, typed)[0]["place"] == f"glossary/{term}"
    monkeypatch.setattr(languages, "_asks", None)
    english = {one["name"]: one["also"] for one in unpack(course.search_index().data)["terms"]}
    assert typed not in english[term]


def test_each_place_of_a_newcomers_word_is_there():
    chapters = {f"{lesson.key}/{name}" for lesson in LESSONS for name in lesson.keys}
    assert set(glossary.newcomers()) <= chapters | set(terms())


def test_what_is_the_same_for_all_is_packed_once():
    assert course.search_index() is course.search_index()
    assert course._path(ways.HOUR) is course._path(ways.HOUR)


@pytest.mark.parametrize(
    "place", ["", "nowhere", "tokenization/nothing", "glossary/nothing", "../x"]
)
def test_a_place_that_there_is_not_leads_nowhere(place, monkeypatch):
    monkeypatch.setattr(course.st, "switch_page", lambda page: pytest.fail(page))
    course.open_place(place)
