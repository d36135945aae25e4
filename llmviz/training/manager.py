"""Runs of many visitors on one machine: a queue, a limit, and an end when nobody waits any more."""

from __future__ import annotations

import contextlib
import dataclasses
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from llmviz.training import library
from llmviz.training.config import OWN_TEXT, Plan
from llmviz.training.forks import make_fork
from llmviz.training.pool import Pool
from llmviz.training.processes import WorkerProcess
from llmviz.training.reading import CONFIG
from llmviz.training.states import (
    ACTIVE,
    GRACE,
    IDLE,
    KILL_AFTER,
    SAME,
    TIDY_EVERY,
    RunState,
    limit_from_environment,
)
from llmviz.training.visits import (
    attach,
    check_control,
    check_room,
    claim_private,
    new_folder,
    write_text,
)


class RunManager:
    """Starts, pauses, keeps and ends runs; every method may be called from any thread.

    alive: whether a visitor is still there; asked now and then, and once more after `grace`
    seconds of absence before the visitor's runs end.
    """

    def __init__(
        self,
        alive: Callable[[str], bool] = lambda owner: True,
        *,
        limit: int | None = None,
        grace: float = GRACE,
        process: Callable[..., WorkerProcess] = WorkerProcess,
    ) -> None:
        self.limit = limit_from_environment() if limit is None else limit
        self.grace, self._alive = grace, alive
        self._changed = threading.Condition(threading.RLock())
        self._runs: dict[str, RunState] = {}
        self._queue: list[str] = []  # names of waiting runs, the next first
        self._pool = Pool(
            self.limit, self._changed, self._heard, self._dispatch, self._gone, process
        )
        self._missing: dict[str, float] = {}  # visitors that are away, since when
        self._numbers: Counter[str] = Counter()  # runs that a visitor ever had
        self._served: Counter[str] = Counter()  # and how often one of them got a process
        self._visited = time.monotonic()
        self._closed = threading.Event()
        self._lock_file: Any = None
        if (library.root() / library.SESSIONS).is_dir():
            self._lock_file = claim_private(clear=True)
        threading.Thread(target=self._tidy, name="runs", daemon=True).start()

    # ---- what a page asks for

    def warm(self) -> None:
        """Have a process ready for the next run; returns at once."""
        with self._changed:
            self._visited = time.monotonic()
            self._pool.warm()

    def start(self, owner: str, plan: Plan, text: str | None = None) -> RunState:
        """Put a new run into the queue.

        text: the learner's own, where the plan's corpus is OWN_TEXT.
        A start that echoes the last one returns that run. Raises ValueError in one line where the
        visitor has too many runs, or the text cannot be written.
        """
        values = plan.to_dict()
        with self._changed:
            for run in self._runs.values():
                fresh = run.state in ACTIVE[:2] or time.monotonic() - run.since < SAME
                if run.owner == owner and run.plan == values and run.active and fresh:
                    return dataclasses.replace(run)
            check_room(self._runs.values(), owner, len(self._queue))
            self._lock_file = self._lock_file or claim_private(clear=False)
            folder = new_folder()
            if text is not None:
                write_text(folder / OWN_TEXT, text)
            return self._add(owner, folder, values)

    def fork(
        self, owner: str, parent: Path, step: int, changes: dict[str, Any], label: str = ""
    ) -> RunState:
        """Put a fork of a run at one of its checkpoints into the queue.

        Raises ValueError naming the rule: see `make_fork` and `start`.
        """
        with self._changed:
            check_room(self._runs.values(), owner, len(self._queue))
            self._lock_file = self._lock_file or claim_private(clear=False)
            folder = new_folder()
            try:
                plan = make_fork(parent, step, folder, changes, label)
            except OSError as error:
                library.discard(folder)
                raise ValueError(f"the fork cannot be written: {error.strerror}") from error
            except ValueError:
                library.discard(folder)
                raise
            return self._add(owner, folder, plan.to_dict())

    def pause(self, name: str, owner: str) -> None:
        """Save a run after its present step and let it rest; another may have its place."""
        self._end(name, owner, "pause")

    def stop(self, name: str, owner: str) -> None:
        """Save a run after its present step and end it."""
        self._end(name, owner, "")

    def resume(self, name: str, owner: str) -> RunState:
        """Put a run that rests back into the queue; also a kept one that this server never saw.

        Raises ValueError: there is no such run, another process writes it, or it is not yours.
        """
        with self._changed:
            run = self._runs.get(name)
            if run is None:
                run = attach(name, owner, self._numbers[owner] + 1)
                self._numbers[owner] += 1
            check_control(run, owner, self._alive)
            if run.active:
                return dataclasses.replace(run)
            check_room(self._runs.values(), owner, len(self._queue))
            self._runs[name] = run
            run.owner = owner
            self._enter(run, "waiting")
            self._queue.append(name)
            self._dispatch()
            return dataclasses.replace(run)

    def keep(self, name: str, owner: str, wanted: str) -> None:
        """Move a run to the kept ones, under a free name like the one wanted.

        A run that trains is saved first, and goes on in its new place. Raises ValueError for a
        name that no folder can have.
        """
        with self._changed:
            run = self._known(name)
            check_control(run, owner, self._alive)
            library.free_name(wanted)
            if run.kept or run.then.startswith("keep:"):
                return
            if run.state in ("preparing", "training", "stopping"):
                run.then = f"keep:{wanted}"
                self._order_stop(run)
            else:
                self._move(run, wanted)

    def discard(self, name: str, owner: str) -> None:
        """End a private run and delete it. Raises ValueError for one that is kept."""
        with self._changed:
            run = self._known(name)
            check_control(run, owner, self._alive)
            if run.kept:
                raise ValueError(f"{name!r} is kept; to be rid of it delete {run.folder}")
            self._drop(run)

    def adopt(self, name: str, owner: str) -> bool:
        """Hand a run to a visitor who knows its ID, if the one it belonged to has left.

        Returns whether it is the visitor's now; raises ValueError where there is no such run.
        """
        with self._changed:
            run = self._known(name)
            if run.owner != owner and not self._alive(run.owner):
                for other in self._runs.values():  # F5: the whole visit comes back
                    if other.owner == run.owner and other is not run and not other.kept:
                        other.owner = owner
                for counted in (self._numbers, self._served):
                    counted[owner] += counted.pop(run.owner, 0)
                self._missing.pop(run.owner, None)
                run.owner = owner
            return run.owner == owner

    def runs(self, owner: str) -> list[RunState]:
        """A visitor's runs as they stand, the newest first."""
        with self._changed:
            self._visited = time.monotonic()
            mine = [dataclasses.replace(run) for run in self._runs.values() if run.owner == owner]
            return sorted(mine, key=lambda run: -run.number)

    def run(self, name: str) -> RunState | None:
        """A run that this server knows, by its name."""
        with self._changed:
            run = self._runs.get(name)
            return dataclasses.replace(run) if run else None

    def place(self, name: str) -> int:
        """How many runs are before this one in the queue; −1 where it does not wait."""
        with self._changed:
            order = list(self._order())
            return order.index(name) if name in order else -1

    @property
    def waiting(self) -> int:
        """The length of the queue."""
        with self._changed:
            return len(self._queue)

    @property
    def training(self) -> int:
        """How many runs have a process."""
        with self._changed:
            return self._pool.busy

    def wait(self, name: str, seconds: float) -> RunState | None:
        """Wait until a run has its first point or has ended, or the time is over."""
        with self._changed:
            self._changed.wait_for(
                lambda: name not in self._runs or self._runs[name].state not in ACTIVE[:2], seconds
            )
            return self.run(name)

    def step_time(self, plan: Plan, folder: str = "") -> tuple[float | None, str] | None:
        """Seconds of a step of a plan, measured by a process that waits, and why not if None.

        Returns None until it is known; ask again. A run that starts goes before.
        """
        with self._changed:
            return self._pool.step_time(repr(plan), plan=plan.to_dict(), out=folder)

    def close(self, seconds: float = 10.0) -> None:
        """Let every process save its run and go, and wait for them."""
        self._closed.set()
        with self._changed:
            self._queue.clear()
        self._pool.close(seconds)
        if self._lock_file:
            self._lock_file.close()

    # ---- the queue

    def _order(self) -> Iterator[str]:
        """The queue as it will be served: who was served less often comes first."""
        served = self._served.copy()
        left = list(self._queue)
        while left:
            name = min(left, key=lambda name: served[self._runs[name].owner])
            left.remove(name)
            served[self._runs[name].owner] += 1
            yield name

    def _dispatch(self) -> None:
        """Give waiting runs to free processes, as far as the limit allows."""
        while self._queue and self._pool.has_room:
            run = self._runs[next(self._order())]
            self._queue.remove(run.name)
            self._served[run.owner] += 1
            self._begin(run)
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

    def _add(self, owner: str, folder: Path, plan: dict[str, Any]) -> RunState:
        self._numbers[owner] += 1
        run = RunState(
            folder.name, folder, owner, self._numbers[owner], plan, plan["train"]["steps"]
        )
        self._runs[run.name] = run
        self._queue.append(run.name)
        self._dispatch()
        return dataclasses.replace(run)

    def _known(self, name: str) -> RunState:
        if name not in self._runs:
            raise ValueError("this run is not known here any more")
        return self._runs[name]

    def _enter(self, run: RunState, state: str) -> None:
        run.state, run.since = state, time.monotonic()
        if state in ACTIVE:
            run.line = ""
        self._changed.notify_all()

    def _end(self, name: str, owner: str, then: str) -> None:
        with self._changed:
            run = self._known(name)
            check_control(run, owner, self._alive)
            if run.state == "waiting":
                self._queue.remove(name)
                self._enter(run, "paused" if then else "stopped")
            elif run.state in ("preparing", "training"):
                run.then = then
                self._order_stop(run)

    def _order_stop(self, run: RunState) -> None:
        before, waited = run.state, time.monotonic() - run.since
        self._enter(run, "stopping")
        if before == "preparing" and waited > KILL_AFTER:
            self._pool.kill(run.name)
        elif before != "stopping":
            self._pool.stop(run.name)

    def _move(self, run: RunState, wanted: str) -> None:
        try:
            folder = library.keep(run.folder, wanted)
        except ValueError as error:
            run.line = str(error)
            return
        waits = run.name in self._queue
        at = self._queue.index(run.name) if waits else 0
        del self._runs[run.name]
        run.name, run.folder, run.kept = library.run_name(folder), folder, True
        self._runs[run.name] = run
        if waits:
            self._queue[at] = run.name

    def _drop(self, run: RunState) -> None:
        if run.state in ("preparing", "training", "stopping"):
            run.then = "discard"
            self._order_stop(run)
            return
        if run.name in self._queue:
            self._queue.remove(run.name)
        del self._runs[run.name]
        with contextlib.suppress(OSError):  # what cannot be deleted now goes at the next start
            library.discard(run.folder)

    # ---- now and then

    def _tidy(self) -> None:
        while not self._closed.wait(min(TIDY_EVERY, max(0.05, self.grace / 4))):
            with self._changed:
                now = time.monotonic()
                for owner in {run.owner for run in self._runs.values()}:
                    if self._alive(owner):
                        self._missing.pop(owner, None)
                    elif now - self._missing.setdefault(owner, now) > self.grace:
                        self._missing.pop(owner)
                        self._leave(owner)
                if now - self._visited > IDLE and not any(r.active for r in self._runs.values()):
                    self._pool.cool()

    def _leave(self, owner: str) -> None:
        """End the runs of a visitor who is gone; the kept ones go on."""
        for run in [run for run in self._runs.values() if run.owner == owner]:
            if not run.kept and not run.then.startswith("keep:"):
                self._drop(run)
            elif not run.active:
                del self._runs[run.name]  # it is on the disk for whoever wants it
