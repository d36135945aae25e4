"""What stands around every lesson."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from llmviz.course.document import Document
from llmviz.course.lessons import LESSONS
from llmviz.course.ui import shell


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
