"""What happens to runs: they wait, begin, end, move and go; whose right that is, others ask."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from typing import Any

from llmviz.fair_queue import FairQueue
from llmviz.training import run_folders
from llmviz.training.permissions import ACTIVE, IDLE, KILL_AFTER, TIDY_EVERY, RunState, Visitors
from llmviz.training.reading import CONFIG
from llmviz.training.worker_pool import WorkerPool, WorkerProcess


class RunLifecycle:
    """Runs by name, those of them that wait, and the processes for them.

    Methods with an underscore are called with the lock held.
    """

    def __init__(
        self, limit: int, visitors: Visitors, process: Callable[..., WorkerProcess]
    ) -> None:
        self.limit, self._visitors = limit, visitors
        self._changed = threading.Condition(threading.RLock())
        self._runs: dict[str, RunState] = {}
        self._queue = FairQueue()
        self._pool = WorkerPool(
            limit, self._changed, self._heard, self._dispatch, self._gone, process
        )
        self._visited = time.monotonic()
        self._closed = threading.Event()
        threading.Thread(target=self._tidy, name="runs", daemon=True).start()

    def close(self, seconds: float = 10.0) -> None:
        """Let every process save its run and go, and wait for them."""
        self._closed.set()
        with self._changed:
            self._queue.clear()
        self._pool.close(seconds)

    # ---- the queue

    def _dispatch(self) -> None:
        """Give waiting runs to free processes, as far as the limit allows."""
        while self._queue and self._pool.has_room:
            self._begin(self._runs[self._queue.take()])
        self._pool.warm()

    def _begin(self, run: RunState) -> None:
        self._enter(run, "preparing")
        new = {} if (run.folder / CONFIG).exists() else {"plan": run.plan}
        self._pool.give(run.name, do="train", out=str(run.folder), **new)

    # ---- what processes say

    def _heard(self, name: str, message: dict[str, Any]) -> None:
        run = self._runs[name]
        if message["is"] == "begun" and run.state == "preparing":
            self._enter(run, "training")
        elif message["is"] == "ended":
            self._ended(run, message["how"], message["line"])

    def _gone(self, name: str, how: str) -> None:
        run = self._runs[name]
        if run.state == "stopping":  # it was ended while it had nothing to save
            self._ended(run, "stopped", "")
        else:
            self._ended(run, "lost", how)
        self._dispatch()

    def _ended(self, run: RunState, how: str, line: str) -> None:
        then, run.then = run.then, ""
        run.line = line
        if how == "stopped" and then == "pause":
            how = "paused"
        self._enter(run, how)
        if then == "discard":
            self._drop(run)
        elif then.startswith("keep:"):
            self._move(run, then.removeprefix("keep:"))
            if how == "stopped":  # only to be moved: it has its process back
                self._begin(run)

    # ---- single runs

    def _enter(self, run: RunState, state: str) -> None:
        run.state, run.since = state, time.monotonic()
        if state in ACTIVE:
            run.line = ""
        self._changed.notify_all()

    def _order_stop(self, run: RunState) -> None:
        before, waited = run.state, time.monotonic() - run.since
        self._enter(run, "stopping")
        if before == "preparing" and waited > KILL_AFTER:
            self._pool.kill(run.name)
        elif before != "stopping":
            self._pool.stop(run.name)

    def _move(self, run: RunState, wanted: str) -> None:
        try:
            folder = run_folders.keep(run.folder, wanted)
        except ValueError as error:
            run.line = str(error)
            return
        del self._runs[run.name]
        self._queue.rename(run.name, run_folders.run_name(folder))
        run.name, run.folder, run.kept = run_folders.run_name(folder), folder, True
        self._runs[run.name] = run

    def _drop(self, run: RunState) -> None:
        if run.state in ("preparing", "training", "stopping"):
            run.then = "discard"
            self._order_stop(run)
            return
        self._queue.remove(run.name)
        del self._runs[run.name]
        with contextlib.suppress(OSError):  # what cannot be deleted now goes at the next start
            run_folders.discard(run.folder)

    # ---- now and then

    def _tidy(self) -> None:
        while not self._closed.wait(min(TIDY_EVERY, max(0.05, self._visitors.grace / 4))):
            with self._changed:
                now = time.monotonic()
                for owner in self._visitors.left({run.owner for run in self._runs.values()}, now):
                    self._leave(owner)
                if now - self._visited > IDLE and not any(r.active for r in self._runs.values()):
                    self._pool.cool()

    def _leave(self, owner: str) -> None:
        """End the runs of a visitor who is gone; the kept ones go on."""
        for run in [run for run in self._runs.values() if run.owner == owner]:
            if not run.kept and not run.then.startswith("keep:"):
                self._drop(run)
            elif not run.active:
                del self._runs[run.name]  # it stays on the disk
