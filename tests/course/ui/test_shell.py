"""What a browser gets first, and what stands around every lesson."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from llmviz.course import streamlit_parts
from llmviz.course.document import Document
from llmviz.course.lessons import LESSONS
from llmviz.course.ui import first_page, shell


@pytest.fixture
def made(monkeypatch):
    """The files for which pages are made; nothing is kept from before or for later."""
    files = []

    def page(file, **more):
        files.append(file)
        return SimpleNamespace(file=file, **more)

    monkeypatch.setattr(shell.st, "Page", page)
    shell._pages.clear()
    yield files
    shell._pages.clear()


def test_pages_are_made_once_and_each_rerun_has_its_own(made):
    first, second = shell.page_list(LESSONS), shell.page_list(LESSONS)
    assert len(made) == len(LESSONS)
    assert all(Path(file).is_file() for file in made)
    assert [page.default for page in first] == [True] + [False] * (len(LESSONS) - 1)
    for one, other in zip(first, second, strict=True):
        assert one is not other and vars(one) == vars(other)


def test_another_list_of_lessons_has_pages_of_its_own(made, tmp_path):
    shell.page_list(LESSONS)
    (tmp_path / "lesson.md").write_text("---\ntitle: Another title\n---\n", "utf-8")
    renamed = [replace(LESSONS[0], words=Document(tmp_path / "lesson.md")), *LESSONS[1:]]
    assert shell.page_list(renamed)[0].title == "Another title"
    assert shell.page_list(LESSONS)[0].title == LESSONS[0].title


PAGES = [lesson.key for lesson in LESSONS]


@pytest.mark.parametrize("base", ["", "llmviz", "/llmviz/"])
def test_every_page_is_streamlits_own_with_our_head_before_its_scripts(base):
    app = TestClient(Starlette(routes=first_page.routes(PAGES, base)))
    theirs = streamlit_parts.first_page()
    for name in ("", *PAGES):
        answer = app.get(f"/llmviz/{name}" if base else f"/{name}")
        assert answer.status_code == 200 and answer.headers["cache-control"] == "no-cache"
        head, rest = answer.text.split(shell.STYLE)
        assert head.endswith(f"<head>\n{first_page.HEAD.read_text('utf-8')}\n")
        assert head.split("<head>")[0] + "<head>" + rest == theirs
    assert app.get("/llmviz/nowhere").status_code == 404


def test_where_streamlit_is_another_one_it_serves_its_own_page(monkeypatch):
    monkeypatch.setattr(streamlit_parts, "first_page", lambda: None)
    assert first_page.routes(PAGES) == []
