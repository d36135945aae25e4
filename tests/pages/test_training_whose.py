"""Who may do what with a run: the buttons of each visitor are those that work."""

from __future__ import annotations

import shutil

import pytest

from llmviz.course.lessons.training.curves import words as curves_words
from llmviz.course.lessons.training.runs import words
from llmviz.course.ui import runs
from llmviz.training import run_folders
from tests.pages.harness import fine, open_part
from tests.pages.test_training import home, trained  # noqa: F401
from tests.training.small_plans import small_plan, small_training
from tests.training.test_manager import MADE

ANN, BOB = "ann", "bob"
ACTS = (words.pause, words.stop, words.go_on, words.keep_button, words.delete)


@pytest.fixture
def looks(home, monkeypatch):  # noqa: F811
    """Returns what a visitor is offered on the page of a run, and reads beside it."""

    def offered(visitor: str, name: str) -> tuple[set[str], str]:
        monkeypatch.setattr(runs, "visitor", lambda: visitor)
        app = open_part("training", "runs", run=run_folders.PREFIX + name)
        fine(app)
        labels = {button.label for button in app.button}
        return labels & set(ACTS), " ".join(block.value for block in app.caption)

    return offered


def test_a_run_offers_each_visitor_only_buttons_that_work(home, trained, looks):  # noqa: F811
    manager = runs.manager()
    manager._visitors.here = lambda owner: True  # both have their window open
    run = manager.start(ANN, small_plan(small_training(steps=60)))
    shutil.copytree(trained, run.folder, dirs_exist_ok=True)
    MADE[0].says("begun", step=1)
    assert looks(ANN, run.name)[0] == {words.pause, words.stop, words.keep_button}
    buttons, captions = looks(BOB, run.name)
    assert buttons == set() and words.watching in captions
    manager.keep(run.name, ANN, "kept")
    MADE[0].ends("stopped")
    assert manager.run("kept").active

    assert looks(ANN, "kept")[0] == {words.pause, words.stop}
    buttons, captions = looks(BOB, "kept")
    assert buttons == set() and words.watching_kept in captions

    manager.pause("kept", ANN)
    assert looks(ANN, "kept")[0] == set()  # it is being saved
    MADE[0].ends("stopped")
    for visitor in (ANN, BOB):
        assert looks(visitor, "kept")[0] == {words.go_on}

    manager.resume("kept", BOB)  # who continues it, has it
    assert looks(BOB, "kept")[0] == {words.pause, words.stop}
    buttons, captions = looks(ANN, "kept")
    assert buttons == set() and words.watching_kept in captions

    folder = run_folders.new_private_folder()  # of a visit that the server does not know
    shutil.copytree(trained, folder)
    assert looks(BOB, folder.name)[0] == set()


def test_another_visitors_run_is_forked_only_once_it_is_kept(home, trained, monkeypatch):  # noqa: F811
    run = runs.manager().start(ANN, small_plan(small_training(steps=60)))
    shutil.copytree(trained, run.folder, dirs_exist_ok=True)

    def forks(visitor: str, name: str) -> bool:
        monkeypatch.setattr(runs, "visitor", lambda: visitor)
        app = open_part("training", "curves", runs=run_folders.PREFIX + name)
        fine(app)
        return curves_words.fork_start in {button.label for button in app.button}

    assert forks(ANN, run.name) and not forks(BOB, run.name)
    shutil.copytree(trained, home / "kept")
    assert forks(BOB, "kept")
