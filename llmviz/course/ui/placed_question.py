"""A chapter run without a browser: what is on its page, and its questions with today's numbers."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from streamlit.testing.v1 import AppTest

from llmviz.course.components._shared.transport import collected, unpack
from llmviz.course.ui import engine
from llmviz.course.ui.common import PARTS
from llmviz.course.ui.guess import BOX, QUESTIONS
from llmviz.course.ui.guess_drawn import HANDS
from llmviz.course.ui.question import Question
from llmviz.course.ui.state import LINK_ICON, THROUGH_APP
from llmviz.files.paths import APP

# A term of the glossary in a page's HTML, which explains itself under a pointer.
TERM = re.compile(r'<span class="lv-term"[^>]*>(.*?)<span class="lv-tip".*?</span></span>', re.S)
# Components that serve the app itself and draw nothing of a lesson, and such that only hand numbers
# to another one.
OF_THE_APP: tuple[str, ...] = (
    "progress",
    "text_guard",
    "test_keeper",
    "class_watch",
    "browser_secret",
)
OF_THE_APP += ("finder", "course_path")
SILENT = ("curve_data", "table_choice")
SECONDS = 300  # for one chapter: a machine may be slow


class PlacedQuestion(NamedTuple):
    """One question, with the section that it stands in: its head, and its first text as HTML.

    picture: what the picture is sent on which it is answered, before anything is on it.
    """

    section: str
    text: str
    question: Question
    picture: Mapping[str, Any] | None = None


def questions_of(lesson: str, chapter: str, /, **link: str) -> list[PlacedQuestion]:
    """Return the questions of a chapter in the order of its page, also those an answer opens.

    lesson, chapter: their keys. link: controls of the page, as its address writes them.

    Raises ValueError: the page does not open, or says that a part of the link cannot be used.
    """
    app = opened(lesson, chapter, {HANDS: {}}, **{"show": "1", **link})
    sections, questions = list(_sections(app.main)), app.session_state[QUESTIONS]
    if len(sections) != len(questions):
        raise ValueError(
            f"{lesson}/{chapter}: {len(questions)} questions, {len(sections)} on the page"
        )
    hands = {}
    for hand in app.session_state[HANDS].values():
        with collected() as pictures:
            hand.draw([])
        hands[hand.question.text] = unpack(pictures[0].message)
    return [
        PlacedQuestion(*section, question, hands.get(question.text))
        for section, question in zip(sections, questions, strict=True)
    ]


def opened(
    lesson: str, chapter: str = "", /, session: Mapping[str, Any] | None = None, **link: str
) -> AppTest:
    """Return a page as a visitor sees it once nothing grows any more.

    In its session QUESTIONS has its questions, and PARTS the parts that controls of it open.

    session: what its session holds from the start. link: as for `questions_of`.

    Raises ValueError: the page does not open, or says that a part of the link cannot be used.
    """
    engine.start()
    engine.wait(SECONDS)
    app = AppTest.from_file(str(APP), default_timeout=SECONDS)
    app.session_state[THROUGH_APP] = True  # no home page has to be run before
    for key, value in (session or {}).items():
        app.session_state[key] = value
    for key, value in {"part": chapter, **link}.items():
        if value:
            app.query_params[key] = value
    app.switch_page(f"pages/{lesson}.py")
    deadline, before = time.monotonic() + SECONDS, None
    while True:  # what takes longer than a rerun grows from one to the next
        app.session_state[QUESTIONS] = []
        app.session_state[PARTS] = {}
        app.run()
        problems = [error.message for error in app.exception]
        problems += [box.value for box in app.warning if box.icon == LINK_ICON]
        if problems:
            raise ValueError(f"{lesson}/{chapter}: {problems[0]}")
        now = [element.proto.SerializeToString() for element in _drawn(app.main)]
        if now == before and not app.get("progress"):
            return app
        if time.monotonic() > deadline:
            raise ValueError(f"{lesson}/{chapter} was not ready after {SECONDS} seconds")
        before = now


def _drawn(main: Any) -> Iterator[Any]:
    """The texts and pictures of a page."""
    return (element for element in elements(main) if element.type in ("html", "bidi_component"))


def _sections(main: Any) -> Iterator[tuple[str, str]]:
    """For each question on a page from top to bottom, the section that it stands in."""
    head, text, before = "", "", None
    for element in elements(main):
        if element.type == "header":
            head, text = element.value, ""
        elif element.type == "html" and before == "header":
            text = TERM.sub(r"\1", element.proto.body)
        elif guess_in(element) is not None:
            yield head, text
        before = element.type


def elements(block: Any) -> Iterator[Any]:
    """All blocks and elements of a page in its order."""
    for element in block.children.values():
        yield element
        if hasattr(element, "children"):
            yield from elements(element)


def guess_in(block: Any) -> str | None:
    """Return the key of the guess whose block this is; None of another one."""
    key = key_of(block) if hasattr(block, "children") else ""
    return key.removeprefix(BOX) if key.startswith(BOX) else None


def key_of(element: Any) -> str:
    """Return the key that an element has in its page; empty without one."""
    parts = getattr(element.proto, "id", "").split("-", 2)  # a sign, a hash, the key
    return parts[2] if len(parts) == 3 and parts[2] != "None" else ""
