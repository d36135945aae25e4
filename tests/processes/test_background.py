"""Work in another process: values as they come, pausing, stopping, failing, taking turns."""

from __future__ import annotations

import gc
import os
import queue
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from llmviz.processes import background, watchers
from llmviz.processes.background import JobPool
from llmviz.processes.background_child import NICE
from llmviz.processes.fair_queue import FairQueue
from llmviz.processes.watchers import Owner, Visitors
from llmviz.runs.worker_pool import WorkerProcess

ME = __name__


def counting(n: int, wait: float = 0.0) -> Iterator[tuple[int, int]]:
    for i in range(n):
        sys.stdout.write("a library that prints")
        time.sleep(wait)
        yield i, os.getpid()


def refusing() -> Iterator[int]:
    yield 1
    raise ValueError("n must be above 0; got -1")


def dying(how: str) -> Iterator[int]:
    yield 1
    if how == "exit":
        os._exit(3)
    raise RuntimeError("a bug")


def doubled(matrix: np.ndarray) -> Iterator[np.ndarray]:
    yield matrix * 2


@pytest.fixture
def pool() -> Iterator[JobPool]:
    made = JobPool(limit=1)
    yield made
    deadline = time.monotonic() + 20
    while made._working and time.monotonic() < deadline:
        time.sleep(0.01)
    made.close()


def until(true: Callable[[], bool], seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_values_come_from_another_process_which_is_kept(pool):
    job = pool.start(f"{ME}:counting", n=3)
    until(lambda: job.over)
    assert (job.state, job.problem) == ("done", "")
    assert [i for i, _ in job.results] == [0, 1, 2]
    (process,) = {pid for _, pid in job.results}
    assert process != os.getpid()
    again = pool.start(f"{ME}:counting", n=1)
    until(lambda: again.over)
    assert again.results == [(0, process)]
    arrays = pool.start(f"{ME}:doubled", matrix=np.eye(3))
    until(lambda: arrays.over)
    assert np.array_equal(arrays.results[0], 2 * np.eye(3))


def test_a_job_pauses_goes_on_and_stops(pool):
    job = pool.start(f"{ME}:counting", n=10_000, wait=0.001)
    until(lambda: len(job.results) > 3)
    job.pause()
    assert job.state == "paused"
    time.sleep(0.1)
    held = len(job.results)
    time.sleep(0.2)
    assert len(job.results) == held
    job.go_on()
    until(lambda: len(job.results) > held)
    assert job.state == "running"
    job.pause()
    job.stop()
    until(lambda: job.over)
    assert job.state == "stopped" and len(job.results) < 10_000


def test_jobs_take_turns_and_say_how_many_are_before_them(pool):
    first = pool.start(f"{ME}:counting", n=10_000, wait=0.001)
    until(lambda: len(first.results) > 0)
    second, third = (pool.start(f"{ME}:counting", n=1) for _ in range(2))
    assert (second.state, second.before, third.before) == ("waiting", 0, 1)
    second.stop()
    assert (second.state, third.before) == ("stopped", 0)
    first.stop()
    until(lambda: third.over)
    assert third.state == "done" and second.results == []


def test_a_paused_job_makes_room_for_others_and_is_not_held_for_ever(pool, monkeypatch):
    held = pool.start(f"{ME}:counting", n=10_000, wait=0.001)
    until(lambda: len(held.results) > 0)
    held.pause()
    other = pool.start(f"{ME}:counting", n=2)
    until(lambda: other.over)
    assert (held.state, other.state) == ("paused", "done")
    assert other.results[0][1] != held.results[0][1]
    held.go_on()
    count = len(held.results)
    until(lambda: len(held.results) > count)
    assert pool._working == 1
    monkeypatch.setattr(background, "HELD", 0.05)
    held.pause()
    until(lambda: held.over)
    assert held.state == "stopped" and len(held.results) > count


def test_a_job_ends_when_nobody_holds_it(pool):
    job = pool.start(f"{ME}:counting", n=10_000, wait=0.001)
    work = job._work
    until(lambda: len(work.results) > 0)
    del job
    gc.collect()
    until(lambda: work.state == "stopped")


def test_a_broken_rule_is_told_in_one_line_and_the_process_lives_on(pool):
    job = pool.start(f"{ME}:refusing")
    until(lambda: job.over)
    assert (job.state, job.expected) == ("failed", True)
    assert job.problem == "n must be above 0; got -1"
    assert job.results == [1]


@pytest.mark.parametrize(("how", "said"), [("exit", "ended unexpectedly"), ("bug", "a bug")])
def test_a_dead_process_is_replaced(pool, how, said):
    job = pool.start(f"{ME}:dying", how=how)
    until(lambda: job.over)
    assert (job.state, job.expected) == ("failed", False)
    assert said in job.problem
    after = pool.start(f"{ME}:counting", n=1)
    until(lambda: after.over)
    assert after.state == "done"


def test_an_idle_process_goes_after_a_while():
    pool = JobPool(limit=1, idle=0.1)
    job = pool.start(f"{ME}:counting", n=1)
    until(lambda: job.over)
    (_, process) = job.results[0]

    def gone() -> bool:
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return True
        return False

    until(gone)


def test_a_process_is_started_ahead(pool):
    pool.warm_up("json")
    until(lambda: pool._idle != [])
    held = pool._idle[0]
    pool.warm_up("json")
    job = pool.start(f"{ME}:counting", n=1)
    until(lambda: job.over)
    until(lambda: pool._idle == [held])


def niceness() -> Iterator[tuple[int, str]]:
    session = Path("/proc/self/autogroup")
    yield os.nice(0), session.read_text("ascii") if session.exists() else ""


@pytest.mark.skipif(not hasattr(os, "nice"), reason="this system has no niceness")
def test_a_job_stands_behind_the_server_also_where_time_is_shared_between_sessions(pool):
    job = pool.start(f"{ME}:niceness")
    until(lambda: job.over)
    ((of_process, of_session),) = job.results
    assert of_process - os.nice(0) == NICE
    if of_session:
        assert of_session.endswith(f"nice {NICE}\n")


def silent() -> Iterator[int]:
    yield 1
    time.sleep(600)


class Windows(Visitors):
    """Open windows, each of a browser; `at` is the one whose script is running."""

    def __init__(self, **browsers: Owner) -> None:
        self.at, self.open = "", browsers

    def here(self) -> str:
        return self.at

    def is_open(self, visitor: str) -> bool:
        return visitor in self.open

    def owner(self, visitor: str) -> Owner:
        return self.open.get(visitor, Owner(visitor))


@pytest.fixture
def visited(monkeypatch) -> Iterator[JobPool]:
    """A pool with the windows a1 and a2 of one browser, b1 and c1, the last two at one address."""
    monkeypatch.setattr(watchers, "GRACE", 0.1)
    monkeypatch.setattr(background, "LOOKS", 0.02)
    monkeypatch.setattr(background, "KILL_AFTER", 0.1)
    near = {name: Owner(name[0], "10.0.0.1") for name in ("b1", "c1")}
    made = JobPool(limit=1, visitors=Windows(a1=Owner("a"), a2=Owner("a"), **near))
    yield made
    made.visitors.at = ""
    for work in list(made._works.values()):
        work.stop()
    until(lambda: not made._working)
    made.close()


def begun(pool: JobPool, visitor: str, **more):
    pool.visitors.at = visitor
    return pool.start(f"{ME}:counting", **({"n": 10_000, "wait": 0.001} | more))


def test_who_stops_a_shared_job_stops_watching_and_the_last_one_ends_it(visited):
    job = begun(visited, "a1")
    until(lambda: len(job.results) > 2)
    visited.visitors.at = "b1"
    assert job.state == "running"  # who looks watches
    job.stop()
    seen = len(job.results)
    assert (job.state, job.over) == ("stopped", True)
    visited.visitors.at = "a1"
    until(lambda: len(job.results) > seen + 5)
    assert job.state == "running"
    visited.visitors.at = "b1"
    assert len(job.results) == seen and not job.ended
    assert job.again() and job.state == "running" and len(job.results) > seen
    visited.visitors.at = "a1"
    job.stop()
    assert not job.ended
    visited.visitors.at = "b1"
    job.stop()
    until(lambda: job.ended)
    assert not job.again() and job.state == "stopped"


def test_the_job_of_a_visitor_who_is_gone_ends_unless_others_watch_it(visited):
    shared, alone, waits = (begun(visited, "a1") for _ in range(3))
    visited.visitors.at = "b1"
    until(lambda: len(shared.results) > 2)
    visited.visitors.at = ""
    del visited.visitors.open["a1"]
    until(lambda: alone.ended and waits.ended)
    assert not shared.ended
    del visited.visitors.open["b1"]
    until(lambda: shared.ended)
    assert shared.state == "stopped"


def test_a_window_that_is_away_for_a_moment_loses_nothing(visited, monkeypatch):
    monkeypatch.setattr(watchers, "GRACE", 1e9)
    job = begun(visited, "a1")
    owner = visited.visitors.open.pop("a1")
    count = len(job.results)
    until(lambda: len(job.results) > count + 50)
    visited.visitors.open["a1"] = owner
    assert job.state == "running"


def test_a_stopped_job_that_does_not_answer_loses_its_process(visited):
    visited.visitors.at = "a1"
    job = visited.start(f"{ME}:silent")
    until(lambda: len(job.results) == 1)
    job.stop()
    until(lambda: job.ended)
    after = begun(visited, "b1", n=1, wait=0)
    until(lambda: after.over)
    assert after.state == "done"


def test_a_browser_and_an_address_have_a_limit_with_its_words(visited, monkeypatch):
    monkeypatch.setenv("LLMVIZ_BROWSER_JOBS", "2")
    monkeypatch.setenv("LLMVIZ_ADDRESS_JOBS", "3")
    first, second = begun(visited, "a1"), begun(visited, "a2")
    third = begun(visited, "a1")
    assert (third.state, third.expected) == ("failed", True)
    assert "2 of your computations are going on or waiting" in third.problem
    others = [begun(visited, who) for who in ("b1", "b1", "c1")]
    assert [job.state for job in others] == ["waiting"] * 3
    assert "3 computations from your network address" in begun(visited, "c1").problem
    visited.visitors.at = "a2"
    second.stop()
    assert begun(visited, "a1").state == "waiting"
    assert not first.ended


def test_visitors_take_turns(visited):
    running = begun(visited, "a1")
    until(lambda: len(running.results) > 0)
    mine = [begun(visited, "a1") for _ in range(2)]
    others = [begun(visited, "b1"), begun(visited, "c1")]
    assert [job.before for job in (*others, *mine)] == [0, 1, 2, 3]


ECHO = """
import sys
from llmviz.processes.child import serve_parent
told = serve_parent(0, encoding="utf-8")
for line in sys.stdin:
    told.write(line)
    told.flush()
"""


@pytest.mark.parametrize("page", ["cp1252", "cp437", "cp1251", "ascii", "utf-8"])
def test_a_text_goes_to_the_worker_and_back_unchanged_under_any_code_page(monkeypatch, page):
    monkeypatch.setenv("PYTHONIOENCODING", page)
    heard, text = queue.Queue(), "Zoë → ☃ 🙂"
    worker = WorkerProcess(
        lambda _, line: heard.put(line),
        lambda _, line: heard.put({"text": line}),
        (sys.executable, "-c", ECHO),
    )
    worker.give(text=text)
    assert heard.get(timeout=60)["text"] == text
    worker.close()
    assert worker.wait(60)


def waiting_for(*runs):
    """Runs named by their owner and a number: the run a2 is a's."""
    waiting = FairQueue()
    for run in runs:
        waiting.add(run, run[0])
    return waiting


def taken(waiting):
    return [waiting.take() for _ in range(len(waiting))]


def test_owners_take_turns_and_the_first_come_is_first():
    waiting = waiting_for("a1", "a2", "a3", "b1", "c1", "b2")
    expected = ["a1", "b1", "c1", "a2", "b2", "a3"]
    assert list(waiting.order()) == expected == taken(waiting)
    waiting.add("b3", "b")
    waiting.add("c2", "c")
    waiting.add("a4", "a")
    assert taken(waiting) == ["c2", "b3", "a4"]  # a had three turns, b two, c one


def test_who_stands_for_two_had_the_turns_of_both():
    waiting = waiting_for("a1", "a2", "b1", "b2", "c1")
    assert taken(waiting) == ["a1", "b1", "c1", "a2", "b2"]
    waiting.hand_over("a", "b")
    for run in ("b3", "a3", "c2", "c3", "c4", "c5"):
        waiting.add(run, run[0])
    # b had four turns, c one and a none
    assert taken(waiting) == ["a3", "c2", "c3", "c4", "b3", "c5"]


def test_what_waits_goes_along_and_a_stranger_brings_no_turns():
    waiting = waiting_for("a1", "a2", "b1", "b2")
    assert waiting.take() == "a1"
    waiting.hand_over("a", "d")
    waiting.hand_over("nobody", "b")
    assert taken(waiting) == ["b1", "a2", "b2"]


def test_a_run_keeps_its_place_under_another_name_and_leaves_only_itself():
    waiting = waiting_for("a1", "b1", "a2")
    waiting.rename("b1", "kept")
    waiting.remove("a1")
    waiting.remove("never there")
    assert "kept" in waiting and "b1" not in waiting and len(waiting) == 2
    assert list(waiting.order()) == ["kept", "a2"]
    waiting.clear()
    assert not len(waiting) and list(waiting.order()) == []


def test_runs_that_were_put_first_go_before_all_others_and_take_turns_among_themselves():
    waiting = waiting_for("a1", "b1", "b2")
    for run in ("t1", "t2", "u1"):
        waiting.add(run, run[0], first=True)
    waiting.rename("t2", "kept")
    assert list(waiting.order()) == ["t1", "u1", "kept", "a1", "b1", "b2"]
    waiting.remove("u1")
    assert taken(waiting) == ["t1", "kept", "a1", "b1", "b2"]
    waiting.add("u1", "u")  # of another visitor now
    waiting.add("a2", "a")
    assert taken(waiting) == ["u1", "a2"]
    waiting.add("t3", "t", first=True)
    waiting.clear()
    waiting.add("a3", "a")
    waiting.add("t3", "t")
    assert taken(waiting) == ["a3", "t3"]
