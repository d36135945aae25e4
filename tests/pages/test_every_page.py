"""What holds for every page in `pages/`, whatever it teaches."""

from __future__ import annotations

import ast

import pytest

from llmviz.lessons import LESSONS
from llmviz.ui.lesson import CHAPTERS
from tests.pages.harness import PAGES, ROOT, open_page, open_part, parts, run_snippet, snippets


def test_every_lesson_has_its_page_and_every_page_its_lesson():
    assert sorted(lesson.key for lesson in LESSONS) == PAGES
    for lesson in LESSONS:
        source = (ROOT / "pages" / f"{lesson.key}.py").read_text("utf-8")
        assert f"from llmviz.lessons.{lesson.key} import LESSON\n" in source


@pytest.mark.parametrize("name", PAGES)
def test_every_chapter_runs_and_its_snippets_print_what_the_page_says(name):
    for part in parts(name):
        app = open_part(name, part)
        assert [str(error.value) for error in app.exception] == [], part
        assert len(app.title) == 1
        assert len(app.warning) == 0, part
        if part:
            assert tuple(app.session_state[CHAPTERS]) == parts(name)
        for snippet, prints in snippets(app):
            assert run_snippet(snippet).strip() == prints.strip(), part


@pytest.mark.parametrize("name", PAGES)
def test_page_survives_a_link_that_makes_no_sense(name):
    app = open_page(name, text="~broken", nonsense="1")
    assert [str(error.value) for error in app.exception] == []
    assert any("nonsense" in warning.value for warning in app.warning)


ROOMS = ("components", "lessons", "ui")
SOURCES = [path for room in ROOMS for path in sorted((ROOT / "llmviz" / room).rglob("*.py"))]


def test_what_a_visitor_sees_holds_no_markup_no_random_numbers_and_hides_no_bugs():
    for path in SOURCES:
        source = path.read_text("utf-8")
        for forbidden in ("unsafe_allow_html", "import random"):
            assert forbidden not in source, f"{path}: {forbidden}"
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.ExceptHandler):
                caught = ast.unparse(node.type) if node.type else ""
                handed_on = any(isinstance(line, ast.Raise) and not line.exc for line in node.body)
                fine = handed_on or caught not in ("", "Exception", "BaseException")
                assert fine, f"{path}, line {node.lineno}"
