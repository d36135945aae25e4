"""The queue of runs: order, limits, echoes, whose is what; with processes that only pretend."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from llmviz.processes.limits import limit
from llmviz.runs import store
from llmviz.runs.manager import RunManager
from llmviz.runs.visitors import limit_from_environment
from llmviz.training.config import Plan, TrainConfig
from llmviz.training.throughput import predict_seconds, work
from llmviz.training.train_record import TrainRecord
from tests.read_only import read_only

MADE: list[Pretender] = []
ACTIVE_EACH = limit("LLMVIZ_BROWSER_RUNS")  # runs that train or wait


class Pretender:
    """A process that does what the test says, at once and in the test's own thread."""

    def __init__(self, hear, gone):
        self.ready = self.timing = False
        self.hear, self.end, self.sent, self.open = hear, gone, [], True
        MADE.append(self)

    def give(self, **job):
        self.sent.append(job)

    def stop(self):
        self.sent.append({"do": "stop"})

    def close(self):
        self.open = False

    def kill(self):
        self.open = False
        self.end(self, "its process was ended by SIGKILL")

    def wait(self, seconds):
        return True

    def says(self, what, **more):
        self.hear(self, {"is": what, **more})

    def begins(self):
        out = store.Path(self.sent[-1]["out"])
        (out / "config.json").write_text(json.dumps({"format": "llmviz-run-1"}), "utf-8")
        self.says("begun", step=1)

    def ends(self, how="done", line=""):
        self.says("ended", how=how, line=line)
        self.says("ready")


@pytest.fixture
def present():
    return {"ann", "bob", "cy"}


@pytest.fixture
def manager(home, present):
    MADE.clear()
    made = RunManager(present.__contains__, limit=1, grace=0.2, process=Pretender)
    made.warm()
    MADE[0].says("ready")
    yield made
    made.close(0)


def plan(seed=0, steps=10):
    return Plan(corpus="names", train=TrainConfig(steps=steps, warmup_steps=1, seed=seed))


def eventually(condition):
    """Wait for what the tidying thread does."""
    tick = threading.Event()
    for _ in range(400):
        if condition():
            return
        tick.wait(0.025)
    raise AssertionError("it never happened")


def test_a_run_goes_its_way(manager):
    run = manager.start("ann", plan())
    (worker,) = MADE
    assert worker.sent == [{"do": "train", "out": str(run.folder), "plan": plan().to_dict()}]
    assert run.state == "preparing" and run.folder.is_dir() and store.is_private(run.name)
    worker.begins()
    assert manager.run(run.name).state == "training" and manager.training == 1
    worker.ends()
    assert manager.run(run.name).state == "done" and manager.training == 0
    assert manager.runs("ann")[0].name == run.name and manager.runs("bob") == []


def test_the_queue_has_a_length_and_who_has_nothing_going_comes_first(manager):
    first = manager.start("ann", plan(1))
    second, third = manager.start("ann", plan(2)), manager.start("ann", plan(3))
    other = manager.start("bob", plan(4))
    assert [manager.queue_position(run.name) for run in (first, other, second, third)] == [
        -1,
        0,
        1,
        2,
    ]
    assert manager.waiting == 3 and len(MADE) == 1
    started = []
    for _ in range(4):
        started.append(MADE[0].sent[-1]["out"])
        MADE[0].begins()
        MADE[0].ends()
    assert started == [str(run.folder) for run in (first, other, second, third)]
    assert manager.waiting == 0 and manager.training == 0


def test_a_thousand_clicks_on_start_are_one_run_in_the_queue(manager):
    running = manager.start("ann", plan(1))
    with ThreadPoolExecutor(10) as clicks:
        assert len(set(clicks.map(lambda _: manager.start("ann", plan(2)).name, range(1000)))) == 1
    assert manager.waiting == 1 and len(manager.runs("ann")) == 2
    assert manager.start("ann", plan(1)).name == running.name
    # With other settings each time there is a limit, in one clear line, and nothing is lost.
    refused = 0
    for seed in range(3, 1000):
        try:
            manager.start("ann", plan(seed))
        except ValueError as error:
            assert "4 of your runs are training or waiting" in str(error)
            refused += 1
    assert refused == 997 - (ACTIVE_EACH - 2) and len(manager.runs("ann")) == ACTIVE_EACH
    assert len(MADE) == 1
    manager.start("bob", plan(2))  # another visitor is not held up by it


def test_the_runs_of_the_servers_own_machine_come_first(manager):
    manager.know("ann", "a", "10.0.0.1")
    manager.know("cy", "c", "127.0.0.1", own=True)
    first, second = manager.start("ann", plan(1)), manager.start("ann", plan(2))
    waits, teachers = manager.start("bob", plan(3)), manager.start("cy", plan(4))
    again = manager.start("cy", plan(5))
    places = [manager.queue_position(run.name) for run in (first, teachers, again, waits, second)]
    assert places == [-1, 0, 1, 2, 3]
    manager.pause(again.name, "cy")
    manager.resume(again.name, "cy")
    assert [manager.queue_position(run.name) for run in (teachers, again, waits)] == [0, 1, 2]


def test_the_windows_of_a_browser_share_its_limit(manager, monkeypatch):
    monkeypatch.setenv("LLMVIZ_BROWSER_RUNS", "2")
    monkeypatch.setenv("LLMVIZ_BROWSER_UNKEPT", "3")
    for window, browser in (("ann", "one"), ("bob", "one"), ("cy", "other")):
        manager.know(window, browser)
    runs = [manager.start("ann", plan(1)), manager.start("bob", plan(2))]
    with pytest.raises(ValueError, match="2 of your runs are training or waiting"):
        manager.start("bob", plan(3))
    manager.start("cy", plan(3))
    manager.stop(runs[1].name, "bob")
    manager.stop(manager.start("ann", plan(4)).name, "ann")
    with pytest.raises(ValueError, match="you have 3 runs here"):
        manager.start("bob", plan(5))


def test_an_address_cannot_fill_the_queue_with_one_browser_after_the_other(
    manager, present, monkeypatch
):
    present |= {"teacher", *(f"forged {number}" for number in range(6))}  # else it ends by itself
    monkeypatch.setenv("LLMVIZ_ADDRESS_RUNS", "3")
    monkeypatch.setenv("LLMVIZ_ADDRESS_UNKEPT", "4")
    monkeypatch.setenv("LLMVIZ_MAX_WAITING", "4")
    for number in range(6):
        manager.know(f"forged {number}", f"browser {number}", "10.0.0.1")
    runs = [manager.start(f"forged {number}", plan(number)) for number in range(3)]
    with pytest.raises(ValueError, match="3 runs from your network address are training or wait"):
        manager.start("forged 3", plan(3))
    manager.stop(runs[2].name, "forged 2")
    manager.stop(manager.start("forged 3", plan(3)).name, "forged 3")
    with pytest.raises(ValueError, match="4 runs from your network address that nobody kept"):
        manager.start("forged 4", plan(4))
    manager.know("bob", "b", "10.0.0.2")
    for owner, seed in (("bob", 1), ("cy", 2), ("bob", 3)):  # cy is of no known address
        manager.start(owner, plan(seed))
    with pytest.raises(ValueError, match="4 runs are waiting already; try again later"):
        manager.start("ann", plan(8))
    manager.know("teacher", "t", "10.0.0.1", own=True)
    assert manager.queue_position(manager.start("teacher", plan(9)).name) == 0


def test_pausing_lets_the_next_one_in_and_resuming_takes_its_turn(manager):
    first, second = manager.start("ann", plan(1)), manager.start("bob", plan(2))
    MADE[0].begins()
    manager.pause(first.name, "ann")
    manager.pause(first.name, "ann")
    assert [job["do"] for job in MADE[0].sent] == ["train", "stop"]
    assert manager.run(first.name).state == "stopping"
    MADE[0].ends("stopped")
    assert manager.run(first.name).state == "paused"
    assert manager.run(second.name).state == "preparing"
    assert (
        manager.resume(first.name, "ann").state == "waiting"
        and manager.queue_position(first.name) == 0
    )
    MADE[0].begins()
    MADE[0].ends()
    # What stands in the folder already is gone on with, not begun again.
    assert MADE[0].sent[-1] == {"do": "train", "out": str(first.folder)}


def test_a_waiting_run_is_paused_and_stopped_without_a_process(manager):
    manager.start("ann", plan(1))
    second, third = manager.start("ann", plan(2)), manager.start("ann", plan(3))
    manager.pause(second.name, "ann")
    manager.stop(third.name, "ann")
    states = [manager.run(run.name).state for run in (second, third)]
    assert states == ["paused", "stopped"] and manager.waiting == 0


def test_what_ended_a_run_is_said(manager):
    for how, line in (("diverged", "it is not finite at step 3"), ("refused", "cannot write")):
        run = manager.start("ann", plan(len(line)))
        MADE[0].begins()
        MADE[0].ends(how, line)
        assert (manager.run(run.name).state, manager.run(run.name).line) == (how, line)
        assert run.folder.is_dir()


def test_a_dead_process_loses_one_run_and_no_other(manager):
    first, second = manager.start("ann", plan(1)), manager.start("bob", plan(2))
    MADE[0].begins()
    MADE[0].kill()
    lost = manager.run(first.name)
    assert lost.state == "lost" and "SIGKILL" in lost.line and lost.folder.is_dir()
    assert len(MADE) == 2 and MADE[1].sent[0]["out"] == str(second.folder)
    assert manager.resume(first.name, "ann").state == "waiting"


def test_stopping_while_a_large_corpus_is_prepared_does_not_wait_for_it(manager, monkeypatch):
    monkeypatch.setattr("llmviz.runs.queue.KILL_AFTER", 0)
    run = manager.start("ann", plan(1))
    manager.stop(run.name, "ann")
    assert not MADE[0].open and manager.run(run.name).state == "stopped"
    assert manager.run(run.name).line == ""


def test_keeping_a_run_that_trains_moves_it_and_lets_it_go_on(manager, home):
    run = manager.start("ann", plan(1))
    waiting = manager.start("bob", plan(2))
    MADE[0].begins()
    manager.keep(run.name, "ann", "best")
    MADE[0].ends("stopped")
    assert manager.run(run.name) is None and not run.folder.exists()
    kept = manager.run("best")
    assert kept.kept and kept.state == "preparing" and kept.folder == home / "best"
    assert MADE[0].sent[-1] == {"do": "train", "out": str(home / "best")}
    assert manager.run(waiting.name).state == "waiting"
    with pytest.raises(ValueError, match="is kept; to remove it, delete"):
        manager.discard("best", "ann")


def test_keeping_a_run_that_waits_or_is_done(manager, home):
    done = manager.start("ann", plan(1))
    MADE[0].begins()
    MADE[0].ends()
    manager.keep(done.name, "ann", "one")
    MADE[0].sent.clear()
    manager.start("ann", plan(2))
    waiting = manager.start("ann", plan(3))
    manager.keep(waiting.name, "ann", "one")  # the name is taken: the next free one
    assert manager.run("one-2").state == "waiting" and manager.queue_position("one-2") == 0
    with pytest.raises(ValueError, match="name begins with a letter"):
        manager.keep(MADE[0].sent[-1]["out"].rsplit("/", 1)[1], "ann", "../out")


def test_two_visitors_who_want_one_name_both_keep_their_run(manager, home):
    runs = []
    for owner in ("ann", "bob"):
        run = manager.start(owner, plan())
        MADE[0].begins()
        (run.folder / "whose").write_text(owner, "utf-8")
        MADE[0].ends()
        runs.append(run)
        manager.keep(run.name, owner, "best")
    assert {(home / name / "whose").read_text("utf-8") for name in ("best", "best-2")} == {
        "ann",
        "bob",
    }


def may_only_watch(manager, run, visitor):
    acts = [partial(act, run.name, visitor) for act in (manager.pause, manager.stop)]
    acts += [partial(act, run.name, visitor) for act in (manager.resume, manager.discard)]
    acts += [partial(manager.keep, run.name, visitor, "mine")]
    acts += [partial(manager.fork, visitor, run.folder, 1, {})]
    for act in acts:
        with pytest.raises(ValueError, match="belongs to another visitor"):
            act()


@pytest.mark.parametrize("windows", [(), ("ann", "bob")], ids=["strangers", "of one browser"])
def test_another_visitors_run_can_be_watched_only_while_its_owner_is_here(manager, windows):
    for visitor in windows:
        manager.know(visitor, "one secret")
    run = manager.start("ann", plan(1))
    may_only_watch(manager, run, "bob")
    assert not manager.adopt(run.name, "bob")


def test_runs_end_with_their_visit_unless_kept(manager, present):
    private, kept = manager.start("ann", plan(1)), manager.start("ann", plan(2))
    manager.keep(kept.name, "ann", "kept")
    MADE[0].begins()
    other = manager.start("bob", plan(3))
    present.remove("ann")
    eventually(lambda: MADE[0].sent[-1] == {"do": "stop"})
    MADE[0].ends("stopped")
    assert not private.folder.exists() and manager.run(private.name) is None
    assert manager.run("kept").kept and manager.run(other.name).active


def test_a_short_absence_ends_nothing_and_f5_brings_everything_back(manager, present):
    manager._life.visitors.grace = 1000
    manager.know("ann", "a secret of her browser")
    first, second = manager.start("ann", plan(1)), manager.start("ann", plan(2))
    present.remove("ann")
    eventually(lambda: "ann" in manager._life.visitors._away)
    manager.know("ann again", "a secret of her browser")
    assert manager.adopt(first.name, "ann again")
    present.add("ann again")
    assert {run.name for run in manager.runs("ann again")} == {first.name, second.name}
    manager.pause(second.name, "ann again")
    third = manager.start("ann again", plan(3))
    assert third.number == 3
    with pytest.raises(ValueError, match="not known"):
        manager.adopt("my-" + "a" * 26, "ann again")


def test_a_link_takes_no_run_over_while_its_owner_is_away_for_a_moment(manager, present):
    """Whoever holds the link of a run may look at it, in another browser than its owner's."""
    manager._life.visitors.grace = 1000
    manager.know("ann", "her secret")
    run, other = manager.start("ann", plan(1)), manager.start("ann", plan(2))
    present.remove("ann")
    eventually(lambda: "ann" in manager._life.visitors._away)
    manager.know("bob", "his secret")
    for visitor in ("bob", "cy"):  # of whose browser nothing is known
        assert not manager.adopt(run.name, visitor)
        assert manager.runs(visitor) == []
        may_only_watch(manager, run, visitor)
    manager.know("ann again", "her secret")
    present.add("ann again")
    assert manager.adopt(run.name, "ann again")
    assert {one.name for one in manager.runs("ann again")} == {run.name, other.name}


def test_two_browsers_of_which_nothing_is_known_are_not_the_same(manager, present):
    run = manager.start("ann", plan(1))
    present.remove("ann")
    assert not manager.adopt(run.name, "bob")


def test_a_kept_run_that_goes_on_is_everybodys_only_after_the_grace(manager, present):
    manager._life.visitors.grace = 1000
    run = manager.start("ann", plan(1))
    MADE[0].begins()
    manager.keep(run.name, "ann", "kept")
    MADE[0].ends("stopped")
    assert manager.run("kept").active
    present.remove("ann")
    with pytest.raises(ValueError, match="belongs to another visitor"):
        manager.stop("kept", "bob")
    manager._life.visitors.grace = 0.05
    eventually(lambda: manager._life.visitors.is_gone("ann"))
    manager.stop("kept", "bob")


def test_secrets_are_forgotten_with_their_visits(manager, present):
    manager.know("ann", "a secret")
    assert b"secret" not in b"".join(manager._life.visitors._browsers.values())
    present.remove("ann")
    eventually(lambda: not manager._life.visitors._browsers)


def test_a_server_that_starts_clears_what_visitors_of_a_dead_one_left(home):
    left, kept = store.new_private_folder(), home / "kept"
    left.mkdir()
    kept.mkdir()
    first = RunManager(limit=1, process=Pretender)
    assert not left.exists() and kept.exists()
    alive = store.new_private_folder()
    alive.mkdir()
    second = RunManager(limit=1, process=Pretender)  # beside a living one nothing is cleared
    assert alive.exists()
    mine = second.start("ann", plan())
    first.close(0)
    second.start("bob", plan())  # the folder is free now, and what is in it stays
    assert alive.exists() and mine.folder.exists()
    second.close(0)


def test_a_text_that_only_the_page_has_is_timed_without_it(manager):
    (worker,) = MADE
    assert manager.step_time(plan(1), 40) is None
    job = worker.sent[-1]
    assert job["do"] == "time" and job["vocab_size"] == 40
    worker.says("timed", key=job["key"], seconds=0.5)
    worker.says("ready")
    assert manager.step_time(plan(1), 40) == (0.5, "")
    assert manager.step_time(plan(1)) is None


def test_the_pace_of_a_run_is_that_of_its_curve(manager, home):
    (worker,) = MADE
    mine = Plan(model="gpt", model_options={"n_layer": 2, "n_embd": 8}, context_length=16)
    run = manager.start("ann", mine)
    assert manager.paces() == []  # it has no point yet
    worker.begins()
    parts = {"model": {"name": "gpt", "config": {}}, "train": {}, "data": {"corpus": "names"}}
    about = {"format": "llmviz-run-1", "parameters": 1000, **parts}
    (run.folder / "config.json").write_text(json.dumps(about), "utf-8")
    tokens = 9 * 16 * mine.train.batch_size
    record = TrainRecord(9, tokens, 3.0, None, 1e-3, 1.0, tokens_per_second=128.0, seconds=1.0)
    (run.folder / "metrics.jsonl").write_text(record.to_json() + "\n", "utf-8")
    (pace,) = manager.paces()
    assert pace.work == work(mine, 1000)
    assert pace.seconds == mine.train.batch_size * 16 / 128.0
    assert predict_seconds(mine, 1000, [pace]) == pytest.approx(pace.seconds)


def test_a_measurement_gives_way_to_a_run(manager):
    (worker,) = MADE
    assert manager.step_time(plan(1)) is None and worker.sent[-1]["do"] == "time"
    key = worker.sent[-1]["key"]
    assert manager.step_time(plan(2)) is None  # nobody is free to measure
    worker.says("timed", key=key, seconds=0.25)
    worker.says("ready")
    assert manager.step_time(plan(1)) == (0.25, "")
    assert manager.step_time(plan(2)) is None
    run = manager.start("ann", plan(3))
    assert [job["do"] for job in worker.sent[-2:]] == ["stop", "train"]
    worker.says("timed", key="unfinished", seconds=None)
    worker.says("ready")
    worker.begins()
    assert manager.run(run.name).state == "training"


@pytest.mark.parametrize("text", ["0", "-1", "two", "1.5"])
def test_a_limit_that_is_no_number_is_refused(monkeypatch, text):
    monkeypatch.setenv("LLMVIZ_MAX_RUNS", text)
    with pytest.raises(ValueError, match="LLMVIZ_MAX_RUNS must be"):
        limit_from_environment()
    monkeypatch.setenv("LLMVIZ_MAX_RUNS", "3")
    assert limit_from_environment() == 3


def test_a_disk_that_takes_nothing_is_one_line(manager, home, monkeypatch):
    def full(self, *rest, **more):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("pathlib.Path.write_text", full)
        with pytest.raises(ValueError, match="cannot be written: No space left"):
            manager.start("ann", Plan(corpus="corpus.txt"), text="some text")
    with monkeypatch.context() as patch:
        patch.setattr("pathlib.Path.mkdir", full)
        with pytest.raises(ValueError, match="no run can be written: No space left"):
            manager.start("ann", plan())
    assert manager.runs("ann") == []
    home.mkdir(exist_ok=True)
    with read_only(home), pytest.raises(ValueError, match="no run can be written: "):
        manager.start("ann", plan())
    assert manager.runs("ann") == []
