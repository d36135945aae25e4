"""A lesson to print: a worksheet with the questions of its chapters, and a sheet of answers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from llmviz.course.ui.asked import TERM, Asked, questions_of
from llmviz.course.ui.codec import MOST_OF_A_PROMPT
from llmviz.course.ui.contents import Chapter, Lesson, controls_of
from llmviz.course.ui.paper_axis import drawn
from llmviz.course.ui.prose import to_html
from llmviz.course.ui.state import LEARNER_TEXT
from llmviz.wholefile import write_whole

ADDRESS = "http://localhost:8501"  # where `llmviz app` serves the lessons


class Page(NamedTuple):
    """What a sheet has of one chapter: its link, the texts that it reads, and its questions.

    key, title, question: those of the chapter. own: what is asked in own words, with a text of a
    model that it is asked of; both may be empty.
    """

    key: str
    title: str
    question: str
    link: str
    texts: Sequence[str]
    asked: Sequence[Asked]
    own: tuple[str, str] = ("", "")


def texts_read(lesson: Lesson, chapter: Chapter) -> dict[str, str]:
    """Return the texts that a chapter reads, by the names of their controls: a page or a prompt."""
    controls = controls_of(lesson, chapter.key)
    long = [control for control in controls if control.most and control.most >= MOST_OF_A_PROMPT]
    return {control.key: control.default for control in long if control.default}


def pages_of(lesson: Lesson, text: str | None = None, address: str = ADDRESS) -> list[Page]:
    """Run the chapters of a lesson and return those that ask something.

    The folder of a lesson without chapters may hold `on_paper.py` with `pages(address)`.

    text: the learner's text, in a lesson that reads it. address: where the app is for the class.

    Raises ValueError: the lesson has no chapters or reads no text, or the text is too long.
    """
    if not asks(lesson):
        raise ValueError(f"{lesson.key} has no chapters, so it asks nothing")
    if not lesson.chapters and text is None:
        return list(import_module(_own(lesson)).pages(address.rstrip("/")))
    reads = {chapter.key: texts_read(lesson, chapter) for chapter in lesson.chapters}
    link = {}
    if text is not None:
        if not any(LEARNER_TEXT.key in texts for texts in reads.values()):
            raise ValueError(f"{lesson.key} reads no text of the learner's")
        written = LEARNER_TEXT.write(text)
        if written is None:
            raise ValueError("the text is too long for a link")
        link = {LEARNER_TEXT.key: written}
    pages = []
    for chapter in lesson.chapters:
        texts = reads[chapter.key]
        if text is not None and LEARNER_TEXT.key in texts:
            texts[LEARNER_TEXT.key] = text
        questions = questions_of(lesson.key, chapter.key, **link)
        query = urlencode({"part": chapter.key, **link})
        place = f"{address.rstrip('/')}/{lesson.key}?{query}"
        head = (chapter.key, chapter.title, chapter.front.question)
        pages.append(Page(*head, place, list(texts.values()), questions))
    return [page for page in pages if page.asked]


def asks(lesson: Lesson) -> bool:
    """Whether a lesson has something to put on paper."""
    return bool(lesson.chapters) or find_spec(_own(lesson)) is not None


def _own(lesson: Lesson) -> str:
    return f"{lesson.package}.on_paper"


def html_of(lesson: Lesson, pages: Sequence[Page], *, answers: bool) -> str:
    """Return a whole page of HTML: the worksheet, or with `answers` the sheet of answers."""
    files = FileSystemLoader(Path(__file__).parent, encoding="utf-8")
    room = Environment(loader=files, autoescape=True, undefined=StrictUndefined)
    room.filters["drawn"] = drawn
    room.filters["prose"] = lambda words: Markup(TERM.sub(r"\1", to_html(words)))
    return room.get_template("worksheet.html").render(
        lesson=lesson, pages=pages, answers=answers, Markup=Markup
    )


def write_sheets(
    lesson: Lesson, folder: Path, text: str | None = None, address: str = ADDRESS
) -> list[Path]:
    """Write `LESSON.html` and `LESSON-answers.html` into a folder, and return them.

    Of a lesson without chapters, each page is a sheet of its own.

    Raises ValueError: see `pages_of`. OSError: as it comes.
    """
    pages = pages_of(lesson, text, address)
    folder.mkdir(parents=True, exist_ok=True)
    sheets = {lesson.key: pages}
    if not lesson.chapters:
        sheets = {f"{lesson.key}-{page.key}": [page] for page in pages}
    written = []
    for name, some in sheets.items():
        for answers, end in ((False, ""), (True, "-answers")):
            path = folder / f"{name}{end}.html"
            body = html_of(lesson, some, answers=answers)
            write_whole(path, partial(Path.write_bytes, data=body.encode("utf-8", "replace")))
            written.append(path)
    return written
