"""The way through the course: what comes next, what can be found in it, and how to get there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import parse_qsl

import streamlit as st

from llmviz.course.components._shared.transport import Stored
from llmviz.course.components.course_path.view import course_path
from llmviz.course.components.finder.view import finder
from llmviz.course.document import Ask, Document, Section, texts_of
from llmviz.course.document.marks import unmarked
from llmviz.course.glossary import called, newcomers, terms
from llmviz.course.ui import engine
from llmviz.course.ui.cached import cached
from llmviz.course.ui.contents import HOUR, WAY
from llmviz.course.ui.furniture import words as furniture
from llmviz.course.ui.get_model import REAL

if TYPE_CHECKING:
    from llmviz.course.ui.contents import Chapter, Lesson
    from llmviz.course.ui.state import PageState

END = "home?end=1"  # where the hour ends
HOME, GLOSSARY, MODELS, ENDING = "home", "glossary", "models", "before_after"
TEXT = "text"  # the control of the learner's text
_WORD = re.compile(r"[^\W\d_]{3,}")  # one that says something, by its length
_SLOT = re.compile(r"\{[^{}]*\}")
_SAID = 110  # characters of a term's meaning that the list shows


class Next(NamedTuple):
    """Where the main button of a chapter leads, and what it says."""

    label: str
    place: str


class Stop(NamedTuple):
    """One chapter of a way.

    minutes: how long to stay there, 0 for as long as the chapter says. real: what its controls
    begin with where the real model is here.
    """

    lesson: str
    chapter: str
    minutes: int = 0
    real: Mapping[str, Any] = MappingProxyType({})


class Contents(NamedTuple):
    """All lessons in their order, the ways by name, each as sittings, and what names these.

    sentences: what goes through the hour where a visitor has none, with the real model and without.
    """

    lessons: Sequence[Lesson]
    ways: Mapping[str, Sequence[Sequence[Stop]]]
    words: Document
    sentences: tuple[str, str] = ("", "")


_told: list[Contents] = []


def tell(contents: Contents) -> None:
    """Say what the course holds; the package of the lessons does, which nothing here knows."""
    _told[:] = [contents]


def lessons() -> Sequence[Lesson]:
    """Return all lessons in their order."""
    return _told[0].lessons


def stops(way: str) -> list[Stop]:
    """Return the stops of a way in their order; none for the way through all chapters."""
    return [stop for sitting in _told[0].ways.get(way, ()) for stop in sitting]


def minutes(stop: Stop) -> int:
    """Return how long a stop of a way takes: its own time, or that of its chapter."""
    return stop.minutes or chapter_of(stop.lesson, stop.chapter).minutes


def _lesson(key: str) -> Lesson:
    return next(lesson for lesson in lessons() if lesson.key == key)


def chapter_of(lesson: str, key: str) -> Chapter:
    """Return a chapter by the names of its lesson and its own."""
    return next(chapter for chapter in _lesson(lesson).chapters if chapter.key == key)


def totals(way: str) -> tuple[int, int]:
    """Return how many chapters a way has, and the minutes that they take."""
    if listed := stops(way):
        return len(listed), sum(map(minutes, listed))
    chapters = [chapter for lesson in lessons() for chapter in lesson.chapters]
    return len(chapters), sum(chapter.minutes for chapter in chapters)


def time_of(minutes: int) -> str:
    """Return about how long something takes, in words; from two hours on in half hours.

    >>> time_of(75), time_of(180), time_of(195)
    ('about 75 minutes', 'about 3 hours', 'about 3.5 hours')
    """
    if minutes < 120:
        return furniture.time["minutes"].format(count=minutes)
    return furniture.time["hours"].format(count=(minutes + 15) // 30 / 2)


def stop_of(way: str, lesson: str, chapter: str) -> tuple[int, int, int] | None:
    """Return a chapter's number on a way, how many stops it has, and the minutes to stay there.

    None: the way does not come by, or is the one through all chapters.
    """
    listed = stops(way)
    for number, stop in enumerate(listed, 1):
        if (stop.lesson, stop.chapter) == (lesson, chapter):
            return number, len(listed), minutes(stop)
    return None


_BEGUN = "_hour_begun"  # in the session: stops of the hour that were begun
_PROMPT = "_hour_prompt"  # in the session: what the hour last put into the box of a prompt


def tell_story(state: PageState, chapter: str) -> None:
    """Let one sentence go through the hour: the learner's own where there is one.

    A stop begins with the real model where it is here and no other was chosen; what a link or a
    hand says stays.
    """
    stop = next((s for s in stops(HOUR) if (s.lesson, s.chapter) == (state.page, chapter)), None)
    if stop is None or state[WAY.key] != HOUR:
        return
    session, link = st.session_state, st.query_params
    if TEXT in state.params:
        state.give_back()
    real = REAL in engine.obtained() and session.get("shared.model", "") in ("", REAL)
    if TEXT in state.params and not session.get(f"shared.{TEXT}"):
        state[TEXT] = _told[0].sentences[0 if real else 1]
    begun = session.setdefault(_BEGUN, set())
    if real and stop[:2] not in begun:
        for key, value in _of_own(state, stop.real).items():
            if key not in link:
                state[key] = value
    begun.add(stop[:2])
    if "prompt" in state.params and state["prompt"] in (
        state.params["prompt"].default,
        session.get(_PROMPT),
    ):
        state["prompt"] = session[_PROMPT] = state[TEXT]


def _of_own(state: PageState, begins: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a stop begins with; two words that it compares are those of the own text."""
    if "word" not in begins or state[TEXT] in _told[0].sentences:
        return begins
    encode = engine.tokenizer(REAL).encode
    written = dict.fromkeys(
        form for word in _WORD.findall(state[TEXT]) for form in (word, word.lower())
    )
    whole = [word for word in written if len(encode(f" {word}")) == 1]  # has a row of its own
    words = sorted({word.lower(): word for word in whole}.values(), key=len)[-2:]
    return {**begins, **dict(zip(("other", "word"), words, strict=False))} if words[1:] else begins


def onward(way: str, lesson: Lesson, chapter: str = "") -> Next | None:
    """Return what comes after a chapter, or after a lesson without chapters; None after the last.

    Who left the way, or follows none, goes on through all chapters in their order.
    """
    listed = stops(way)
    here = stop_of(way, lesson.key, chapter)
    if listed and lesson.key == ENDING:
        return Next(furniture.leads["home"], HOME)
    if way == HOUR and here and here[0] == len(listed):
        return Next(furniture.leads["sentence"], END)
    if listed and (here or lesson.key == HOME):
        number = here[0] if here else 0
        if number == len(listed):
            return Next(furniture.leads["end"], ENDING)
        stop = listed[number]
        title = chapter_of(stop.lesson, stop.chapter).title
        line = furniture.leads["next" if stop.lesson == lesson.key else "next_of"]
        label = line.format(title=title, lesson=_lesson(stop.lesson).title)
        return Next(label, f"{stop.lesson}/{stop.chapter}")
    row = lesson.further if chapter in lesson.further else lesson.names
    at = row.index(chapter) + 1 if chapter else len(row)
    if at < len(row):
        title = chapter_of(lesson.key, row[at]).title
        return Next(furniture.leads["next"].format(title=title), f"{lesson.key}/{row[at]}")
    later = lessons()[[other.key for other in lessons()].index(lesson.key) + 1 :]
    if not later or later[0].key == MODELS:  # which is no lesson
        return None
    first = f"/{later[0].names[0]}" if later[0].names else ""
    return Next(furniture.leads["lesson"].format(title=later[0].title), later[0].key + first)


def back(way: str, lesson: Lesson, chapter: str) -> Next | None:
    """Return what comes before a chapter: on the visitor's way, or in its lesson; None for none."""
    here = stop_of(way, lesson.key, chapter)
    if here:
        if here[0] == 1:
            return Next(furniture.leads["back"].format(title=_lesson(HOME).title), HOME)
        stop = stops(way)[here[0] - 2]
        title = chapter_of(stop.lesson, stop.chapter).title
        return Next(furniture.leads["back"].format(title=title), f"{stop.lesson}/{stop.chapter}")
    at = lesson.keys.index(chapter)
    if not at:
        return None
    title = lesson.chapters[at - 1].title
    return Next(furniture.leads["back"].format(title=title), f"{lesson.key}/{lesson.keys[at - 1]}")


def open_place(place: str) -> None:
    """Lead to a lesson, to a chapter such as `attention/steps`, or to a term of the glossary.

    A state of the chapter may stand behind it: `attention/steps?asking=0`.
    Ends the rerun. Nothing happens for a place that there is not: browsers name them.
    """
    place, _, state = place.partition("?")
    page, _, name = place.partition("/")
    known = {lesson.key: set(lesson.keys) for lesson in lessons()} | {GLOSSARY: set(terms())}
    if page not in known or (name and name not in known[page]):
        return
    if name:
        st.session_state[f"{page}.{'find' if page == GLOSSARY else 'part'}"] = name
    if state:
        more = dict(parse_qsl(state, keep_blank_values=True))
        chapter = {"part": name} if name else {}
        st.switch_page(f"pages/{page}.py", query_params={**chapter, **more})
    st.switch_page(f"pages/{page}.py")


def search() -> None:
    """Show the search, and what this browser keeps of the way so far, beside every page."""
    chosen = finder(search_index())
    if isinstance(chosen, str):
        open_place(chosen)


def path(way: str) -> str:
    """Show a way with all its stops; return the place that the visitor has just chosen, or ""."""
    chosen = course_path(_path(way), key=f"course_path.{way}")
    return chosen if isinstance(chosen, str) else ""


def first_stop(way: str) -> str:
    """Return the place where a way begins."""
    stop = stops(way)[0]
    return f"{stop.lesson}/{stop.chapter}"


@cached(8)
def search_index() -> Stored:
    """What the search finds: chapters by their titles, questions and sections, and terms."""
    also = newcomers()
    chapters = []
    for lesson in lessons():
        for document in (lesson.words, *(chapter.words for chapter in lesson.chapters)):
            for name, shown in called(texts_of(document)):
                also.setdefault(name, []).append(shown)
        for chapter in lesson.chapters:
            named = _named(lesson, chapter)
            more = [*_heads(texts_of(chapter.words)), *also.get(named["place"], ())]
            chapters.append(named | {"lesson": lesson.title, "more": more})
    explained = [
        {
            "name": name,
            "text": text if len(text) <= _SAID else f"{text[: _SAID - 1]}…",
            "also": ", ".join(dict.fromkeys(also.get(name, ()))),
        }
        for name, text in terms().items()
    ]
    return Stored({"chapters": chapters, "terms": explained, "words": dict(furniture.finder)})


def _named(lesson: Lesson, chapter: Chapter, long: int = 0) -> dict[str, Any]:
    return {
        "place": f"{lesson.key}/{chapter.key}",
        "title": chapter.title,
        "question": unmarked(chapter.front.question),
        "minutes": long or chapter.minutes,
    }


def _heads(texts: dict[str, Any]) -> Iterator[str]:
    """The heads of a chapter's sections and its questions, without what is filled into them."""
    for name, text in texts.items():
        if isinstance(text, Section | Ask):
            yield _SLOT.sub("…", unmarked(text[0]))
        elif isinstance(text, str) and (name == "hook" or text.rstrip().endswith("?")):
            yield _SLOT.sub("…", unmarked(text))


@cached(16)
def _path(way: str) -> Stored:
    words, rows = _told[0].words, []
    sittings = _told[0].ways.get(way)
    if sittings is None:
        for lesson in lessons():
            if lesson.chapters:
                chapters = [_named(lesson, chapter) for chapter in lesson.chapters]
                needs = [_lesson(key).title for key in lesson.after]
                rows.append(_stop(lesson.title, lesson.key, lesson.card, needs, chapters))
    for number, sitting in enumerate(sittings or ()):
        chapters = [
            _named(_lesson(stop.lesson), chapter_of(stop.lesson, stop.chapter), stop.minutes)
            for stop in sitting
        ]
        title = words.sittings[way][number]
        rows.append(_stop(title, chapters[0]["place"], "", [], chapters))
    return Stored({"stops": rows, "words": dict(furniture.finder)})


def _stop(
    title: str, place: str, text: str, needs: list[str], chapters: list[dict[str, Any]]
) -> dict[str, Any]:
    return {
        "title": title,
        "place": place,
        "text": unmarked(text),
        "needs": furniture.needs.format(lessons=", ".join(needs)) if needs else "",
        "minutes": time_of(sum(chapter["minutes"] for chapter in chapters)),
        "chapters": chapters,
    }
