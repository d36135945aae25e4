"""Series of runs: a few at a time, within a visitor's room, stopped and gone on with."""

import pytest

from llmviz.runs import store
from llmviz.runs.series import AT_ONCE
from tests.runs.test_manager import ACTIVE_EACH, MADE, eventually, manager, plan, present

__all__ = ["manager", "present"]  # fixtures

NAME = "own-1"


def plans(number: int = 4):
    folder = store.root() / "studies" / NAME
    found = {folder / f"value-{seed}": plan(seed) for seed in range(number)}
    for run in found:
        run.mkdir(parents=True, exist_ok=True)
    return found


def finish():
    MADE[0].begins()
    MADE[0].ends()


def test_all_runs_of_a_series_train_one_after_another(manager):
    wanted = plans()
    manager.series.begin_series(NAME, "ann", wanted)
    assert manager.training == 1 and manager.waiting == AT_ONCE - 1
    manager.series.begin_series(NAME, "ann", wanted)  # it goes on already
    assert manager.waiting == AT_ONCE - 1
    started = []
    while manager.series.is_active(NAME):
        started.append(MADE[0].sent[-1]["out"])
        finish()
    assert started == [str(folder) for folder in wanted]
    assert {run.state for run in manager.runs("ann")} == {"done"}
    assert all(run.kept for run in manager.runs("ann"))


def test_a_run_of_a_series_is_found_by_its_name_and_not_listed(manager):
    manager.series.begin_series(NAME, "ann", plans(1))
    finish()
    (run,) = manager.runs("ann")
    assert store.find_run(run.name) == run.folder
    assert store.kept_runs() == []


def test_another_visitor_has_a_turn_between_and_may_not_stop_it(manager):
    manager.series.begin_series(NAME, "ann", plans())
    other = manager.start("bob", plan(99))
    finish()
    assert manager.run(other.name).state == "preparing"
    with pytest.raises(ValueError, match="belongs to another visitor"):
        manager.series.stop_series(NAME, "bob")
    assert manager.series.is_active(NAME)


def test_a_series_stops_and_goes_on_where_each_run_stands(manager):
    wanted = plans()
    manager.series.begin_series(NAME, "ann", wanted)
    finish()
    MADE[0].begins()
    manager.series.stop_series(NAME, "ann")
    assert MADE[0].sent[-1] == {"do": "stop"}
    MADE[0].ends("stopped")
    assert not manager.series.is_active(NAME) and manager.waiting == 0
    rest = dict(list(wanted.items())[1:])
    manager.series.begin_series(NAME, "ann", rest)
    job = MADE[0].sent[-1]
    assert job["out"] == str(next(iter(rest))) and "plan" not in job  # it goes on
    while manager.series.is_active(NAME):
        finish()
    assert len([run for run in manager.runs("ann") if run.state == "done"]) == 4


def test_a_series_waits_while_its_visitor_has_no_room(manager):
    for seed in range(ACTIVE_EACH):
        manager.start("ann", plan(50 + seed))
    with pytest.raises(ValueError, match="of your runs are training or waiting"):
        manager.series.begin_series(NAME, "ann", plans())
    finish()
    manager.series.begin_series(NAME, "ann", plans())
    assert sum(run.active for run in manager.runs("ann")) == ACTIVE_EACH
    for _ in range(ACTIVE_EACH + 3):
        finish()
    assert not manager.series.is_active(NAME)


def test_runs_that_are_refused_or_lost_do_not_hold_the_others_up(manager):
    manager.series.begin_series(NAME, "ann", plans(3))
    MADE[0].ends("refused", "no room on the disk")
    finish()
    MADE[0].ends("diverged", "the loss is no number")
    assert not manager.series.is_active(NAME)
    assert manager.series.lines_of(NAME) == ["no room on the disk"]
    assert manager.series.lines_of("nothing") == [] and not manager.series.may_stop(
        "nothing", "ann"
    )


def test_a_series_goes_on_when_its_visitor_has_left(manager, present):
    manager.series.begin_series(NAME, "ann", plans(3))
    present.discard("ann")
    eventually(lambda: manager.series.may_stop(NAME, "bob"))
    for _ in range(3):
        finish()
    assert not manager.series.is_active(NAME)
