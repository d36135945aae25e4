"""`worksheet`: the questions of a lesson on paper, and their answers."""

from __future__ import annotations

import argparse
import logging
from importlib import import_module
from pathlib import Path
from typing import Any

from llmviz.cli.options import add_language, add_out, place, speak, tell
from llmviz.files.nearest import nearest

# What warns, many times in each chapter, that no browser looks.
NO_BROWSER = "streamlit.runtime.scriptrunner_utils.script_run_context"


def add(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "worksheet",
        help="write a lesson's questions to print, and their answers",
        examples=(
            "worksheet tokenization sheets",
            'worksheet tokenization sheets --text "Seven seals sell sea shells."',
            "worksheet sampling sheets --app https://school.example/llmviz",
            "worksheet before_after sheets",
        ),
        description=(
            "Write two pages of HTML into a folder: a worksheet with the questions of all chapters "
            "of a lesson, and a sheet of answers with their reasons. The numbers are those that "
            "the chapters compute now. Print them from a browser."
        ),
    )
    given = parser.add_argument
    given("lesson", type=place, metavar="LESSON", help="the lesson's name in its address")
    add_out(parser, "the folder for LESSON.html and LESSON-answers.html")
    given("--text", help="the text of the class, in a lesson that reads one")
    given("--app", type=place, help="where the class finds the app, for the printed links")
    add_language(parser)
    given("--json", action="store_true", help="one JSON object")
    parser.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Write both sheets and say where they are."""
    logging.getLogger(NO_BROWSER).disabled = True
    sheets = import_module("llmviz.course.ui.worksheet")
    speak(given)
    every = import_module("llmviz.course.lessons").LESSONS
    lessons = {lesson.key: lesson for lesson in every if sheets.asks(lesson)}
    if given.lesson not in lessons:
        near = ", ".join(nearest(given.lesson, list(lessons)))
        raise ValueError(f"there is no lesson {given.lesson!r} with chapters; nearest are {near}")
    address = given.app or sheets.ADDRESS
    paths = sheets.write_sheets(lessons[given.lesson], Path(given.out), given.text, address)
    written = [str(path) for path in paths]
    tell({"lesson": given.lesson, "files": written}, "\n".join(written), json=given.json)
    return 0
