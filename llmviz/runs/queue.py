"""What happens to runs: they wait, begin, end, move and go; whose right that is, others ask."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from typing import Any

from llmviz.processes.fair_queue import FairQueue
from llmviz.runs import store, visitors
from llmviz.runs.visitors import ACTIVE, IDLE, KILL_AFTER, TIDY_EVERY, RunState, Visitors
from llmviz.runs.worker_pool import WorkerPool, WorkerProcess
from llmviz.training.reading import CONFIG


class RunQueue:
    """Runs by name, those of them that wait, and the processes for them.

    `changed` is the lock of all of it: beside `close`, methods are called with it held.
    before_dispatch: asked whenever a process may be free; it may put more runs into the queue.
    """

    def __init__(
        self, limit: int, visitors: Visitors, process: Callable[..., WorkerProcess]
    ) -> None:
        self.limit, self.visitors = limit, visitors
        self.changed = threading.Condition(threading.RLock())
        self.runs: dict[str, RunState] = {}
        self.queue = FairQueue()
        self.before_dispatch: Callable[[], None] = lambda: None
        self.pool = WorkerPool(limit, self.changed, self._heard, self.dispatch, self._gone, process)
        self.visited = time.monotonic()
        self._closed = threading.Event()
        threading.Thread(target=self._tidy, name="runs", daemon=True).start()

    def close(self, seconds: float = 10.0) -> None:
        """Let every process save its run and go, and wait for them."""
        self._closed.set()
        with self.changed:
            self.queue.clear()
        self.pool.close(seconds)

    # ---- the queue

    def check_room(self, owner: str) -> None:
        """Raise ValueError where a visitor may have no further run now."""
        visitors.check_room(self.runs.values(), owner, len(self.queue), self.visitors)

    def wait(self, run: RunState) -> None:
        """Put a run into the queue; those of visitors at the server itself come first."""
        self.queue.add(run.name, run.owner, first=self.visitors.is_own(run.owner))

    def dispatch(self) -> None:
        """Give waiting runs to free processes, as far as the limit allows."""
        self.before_dispatch()
        while self.queue and self.pool.has_room:
            self._begin(self.runs[self.queue.take()])
        self.pool.warm()

    def _begin(self, run: RunState) -> None:
        self.enter(run, "preparing")
        new = {} if (run.folder / CONFIG).exists() else {"plan": run.plan}
        self.pool.give(run.name, do="train", out=str(run.folder), **new)

    # ---- what processes say

    def _heard(self, name: str, message: dict[str, Any]) -> None:
        run = self.runs[name]
        if message["is"] == "begun" and run.state == "preparing":
            self.enter(run, "training")
        elif message["is"] == "ended":
            self._ended(run, message["how"], message["line"])

    def _gone(self, name: str, how: str) -> None:
        run = self.runs[name]
        if run.state == "stopping":  # it was ended while it had nothing to save
            self._ended(run, "stopped", "")
        else:
            self._ended(run, "lost", how)
        self.dispatch()

    def _ended(self, run: RunState, how: str, line: str) -> None:
        then, run.then = run.then, ""
        run.line = line
        if how == "stopped" and then == "pause":
            how = "paused"
        self.enter(run, how)
        if then == "discard":
            self.drop(run)
        elif then.startswith("keep:"):
            self.move(run, then.removeprefix("keep:"))
            if how == "stopped":  # only to be moved: it has its process back
                self._begin(run)

    # ---- single runs

    def enter(self, run: RunState, state: str) -> None:
        """Note that a run is in another state, for those who wait for it."""
        run.state, run.since = state, time.monotonic()
        if state in ACTIVE:
            run.line = ""
        self.changed.notify_all()

    def order_stop(self, run: RunState) -> None:
        """Have a run saved and ended; a process that prepares for too long is ended at once."""
        before, waited = run.state, time.monotonic() - run.since
        self.enter(run, "stopping")
        if before == "preparing" and waited > KILL_AFTER:
            self.pool.kill(run.name)
        elif before != "stopping":
            self.pool.stop(run.name)

    def move(self, run: RunState, wanted: str) -> None:
        """Move a run to the kept ones, under a free name like the one wanted."""
        try:
            folder = store.keep(run.folder, wanted)
        except ValueError as error:
            run.line = str(error)
            return
        del self.runs[run.name]
        self.queue.rename(run.name, store.run_name(folder))
        run.name, run.folder, run.kept = store.run_name(folder), folder, True
        self.runs[run.name] = run

    def drop(self, run: RunState) -> None:
        """End a run, and delete what it wrote."""
        if run.state in ("preparing", "training", "stopping"):
            run.then = "discard"
            self.order_stop(run)
            return
        self.queue.remove(run.name)
        del self.runs[run.name]
        with contextlib.suppress(OSError):  # what cannot be deleted now goes at the next start
            store.discard(run.folder)

    # ---- now and then

    def _tidy(self) -> None:
        while not self._closed.wait(min(TIDY_EVERY, max(0.05, self.visitors.grace / 4))):
            with self.changed:
                now = time.monotonic()
                for owner in self.visitors.left({run.owner for run in self.runs.values()}, now):
                    self._leave(owner)
                if now - self.visited > IDLE and not any(r.active for r in self.runs.values()):
                    self.pool.cool()

    def _leave(self, owner: str) -> None:
        """End the runs of a visitor who is gone; the kept ones go on."""
        for run in [run for run in self.runs.values() if run.owner == owner]:
            if not run.kept and not run.then.startswith("keep:"):
                self.drop(run)
            elif not run.active:
                del self.runs[run.name]  # it stays on the disk
