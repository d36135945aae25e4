"""What a page offers of the kept runs: looked up for all visitors once in a while."""

from __future__ import annotations

import os

import pytest

from llmviz.course.ui import runs
from llmviz.runs import store


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("LLMVIZ_RUNS", str(tmp_path))
    os.utime(tmp_path, (1, 1))
    return tmp_path


@pytest.fixture
def looked(home):
    asked = []

    def look_up(name: str = "") -> list[str]:
        asked.append(name)
        return [path.name for path in home.glob("[a-z]*")]

    return runs.recently(look_up), asked


def test_a_list_is_made_once_in_a_second_and_anew_where_a_run_comes_or_goes(
    home, looked, monkeypatch
):
    look_up, asked = looked
    (home / "first").mkdir()
    assert look_up() == look_up() == ["first"] and len(asked) == 1
    (home / "second").mkdir()
    os.utime(home, (2, 2))
    assert set(look_up()) == {"first", "second"}
    (home / "first").rmdir()
    os.utime(home, (3, 3))
    assert look_up() == look_up() == ["second"] and len(asked) == 3
    monkeypatch.setattr(runs, "FRESH", 0.0)
    assert look_up() == ["second"] and len(asked) == 4


def test_what_is_not_there_yet_is_looked_for_each_time(looked):
    look_up, asked = looked
    assert look_up() == look_up() == [] and len(asked) == 2


def test_a_visitors_own_run_is_looked_at_each_time(home, looked):
    look_up, asked = looked
    own = store.new_private_folder().name
    (home / own).mkdir()
    look_up(own), look_up(own)
    assert len(asked) == 2


def test_two_folders_of_runs_are_told_apart(looked, home, monkeypatch, tmp_path_factory):
    look_up, asked = looked
    (home / "first").mkdir()
    os.utime(home, (5, 5))
    look_up()
    other = tmp_path_factory.mktemp("other")
    os.utime(other, (5, 5))
    monkeypatch.setenv("LLMVIZ_RUNS", str(other))
    look_up()
    assert len(asked) == 2
