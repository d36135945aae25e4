"""What pages share: tests use the small model of the pages' tests, and classes with a clock."""

import pytest

from llmviz.course.ui.classes import Classes
from tests.pages.conftest import bundle, folder

__all__ = ["bundle", "folder"]


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.time = 1e9

    def __call__(self) -> float:
        return self.time


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def classes(tmp_path, monkeypatch, clock):
    monkeypatch.setenv("LLMVIZ_RUNS", str(tmp_path / "runs"))
    return Classes(clock)
