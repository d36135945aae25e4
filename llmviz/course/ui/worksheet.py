"""A lesson to print: a worksheet with the questions of its chapters, and a sheet of answers.

The picture on which a question is answered stands on paper as its axes, and nothing on them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from llmviz.course.components.case_rows.view import Axis, Form
from llmviz.course.document import ENGLISH, language
from llmviz.course.document.languages import let_choose
from llmviz.course.document.texts import in_english
from llmviz.course.ui.codec import MOST_OF_A_PROMPT
from llmviz.course.ui.contents import LANGUAGE, Chapter, Lesson, controls_of, package_of
from llmviz.course.ui.furniture import words as furniture
from llmviz.course.ui.placed_question import TERM, PlacedQuestion, questions_of
from llmviz.course.ui.prose import to_html
from llmviz.course.ui.state import LEARNER_TEXT
from llmviz.files.whole import write_whole

WIDE, LEFT, RIGHT = 640, 190, 620  # of a picture, and where its axis begins and ends
ROW, TOP, TALL, FOOT = 34, 34, 250, 44

Place = Callable[[float], float]


def drawn(picture: Mapping[str, Any]) -> Markup:
    """Return a picture of case rows, or of lines, as SVG; see their payloads."""
    body, tall = _lines(picture) if "lines" in picture else _rows(picture)
    return Markup(f'<figure><svg viewBox="0 0 {WIDE} {tall}" role="img">{body}</svg></figure>')


def _scale(axis: Mapping[str, Any], start: float, end: float) -> Place:
    by = math.log if axis["log"] else float
    low, high = by(axis["low"]), by(axis["high"])
    return lambda value: round(start + (by(value) - low) / (high - low) * (end - start), 1)


def _text(x: float, y: float, text: str, anchor: str = "middle") -> str:
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}">{escape(text)}</text>'


def _line(x1: float, y1: float, x2: float, y2: float, colour: str = "#000") -> str:
    return f'<path d="M{x1} {y1}L{x2} {y2}" stroke="{colour}" fill="none"/>'


def _rows(picture: Mapping[str, Any]) -> tuple[str, int]:
    axis, rows = picture["axis"], picture["rows"]
    place, parts = _scale(axis, LEFT, RIGHT), []
    for n, row in enumerate(rows):
        y = (n + 0.7) * ROW
        parts.append(_text(LEFT - 12, y + 4, "".join(text for text, _ in row["label"]), "end"))
        parts.append(_line(LEFT, y, RIGHT, y))
        parts += [_line(place(at), y - 5, place(at), y + 5) for at, _ in axis["ticks"]]
    y = len(rows) * ROW + 12
    parts += [_text(place(at), y, text) for at, text in axis["ticks"]]
    parts.append(_text((LEFT + RIGHT) / 2, y + 18, axis["title"]))
    return "".join(parts), y + FOOT // 2


def _lines(picture: Mapping[str, Any]) -> tuple[str, int]:
    axes, left = picture["axes"], 70
    x, y = _scale(axes["x"], left, RIGHT), _scale(axes["y"], TALL, TOP)
    parts = [_line(left, TOP, left, TALL), _line(left, TALL, RIGHT, TALL)]
    for at, text in _ticks(axes["x"], "figure"):
        parts += [_line(x(at), TALL, x(at), TALL + 5), _text(x(at), TALL + 18, text)]
    for at, text in _ticks(axes["y"], picture.get("form", "figure")):
        parts += [_line(left, y(at), RIGHT, y(at), "#ccc"), _text(left - 8, y(at) + 4, text, "end")]
    for line in picture["lines"]:
        points = [f"{x(a)},{y(b)}" for a, b in zip(line["x"], line["y"], strict=True)]
        if not points:
            continue
        parts.append(f'<polyline points="{" ".join(points)}" stroke="#000" fill="none"/>')
        at, height = map(float, points[-1].split(","))
        parts.append(f'<circle cx="{at}" cy="{height}" r="3"/>')
        anchor = "start" if at < WIDE / 2 else "end"
        parts.append(_text(at, height - 8, line["label"], anchor))
    parts.append(_text((left + RIGHT) / 2, TALL + 36, axes["x"]["title"]))
    parts.append(_text(left, 10, axes["y"]["title"], "start"))
    return "".join(parts), TALL + FOOT


def _ticks(axis: Mapping[str, Any], form: Form) -> list[tuple[float, str]]:
    marks = axis["marks"] or Axis(axis["low"], axis["high"], log=axis["log"]).marks(form)
    return [(at, text) for at, text in marks if axis["low"] <= at <= axis["high"]]


ADDRESS = "http://localhost:8501"  # where `llmviz app` serves the lessons


class Page(NamedTuple):
    """What a sheet has of one chapter: its link, the texts that it reads, and its questions.

    key, title, question: those of the chapter. own: what is asked in own words, with a text of a
    model that it is asked of; both may be empty. note: what of it is in English only, or "".
    """

    key: str
    title: str
    question: str
    link: str
    texts: Sequence[str]
    questions: Sequence[PlacedQuestion]
    own: tuple[str, str] = ("", "")
    note: str = ""


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
        spoken = {} if language() == ENGLISH else {LANGUAGE.key: language()}
        query = urlencode({"part": chapter.key, **spoken, **link})
        place = f"{address.rstrip('/')}/{lesson.key}?{query}"
        head = (chapter.key, chapter.title, chapter.front.question)
        note = {"": "", "all": furniture.in_english, "some": furniture.partly}
        gap = note[in_english(chapter.words)]
        pages.append(Page(*head, place, list(texts.values()), questions, note=gap))
    return [page for page in pages if page.questions]


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
        lesson=lesson,
        pages=pages,
        answers=answers,
        Markup=Markup,
        said=furniture.sheet,
        language=language(),
    )


def made(lesson: str, wanted: str = ENGLISH) -> Iterator[tuple[str, str]]:
    """Yield the worksheet of a lesson and the sheet of its answers, as a job makes them.

    wanted: the language.
    """
    let_choose(lambda: wanted)
    found = import_module(package_of(lesson)).LESSON
    pages = pages_of(found)
    for name in ("sheet", "answers"):
        yield name, html_of(found, pages, answers=name == "answers")


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
