"""Runs of many visitors on one machine: a queue, a limit, and an end when nobody waits any more."""

from __future__ import annotations

import dataclasses
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from llmviz.runs import store, visitors
from llmviz.runs.queue import RunQueue
from llmviz.runs.series import RunSeries
from llmviz.runs.worker_pool import WorkerProcess
from llmviz.training.config import OWN_TEXT, Plan
from llmviz.training.forks import make_fork
from llmviz.training.throughput import Throughput, throughput_of


class RunManager:
    """Starts, pauses, keeps and ends runs; every method may be called from any thread.

    alive: whether a visitor is still there; asked now and then, and once more after `grace`
    seconds of absence before the visitor's runs end. series: runs that belong together.
    """

    def __init__(
        self,
        alive: Callable[[str], bool] = lambda owner: True,
        *,
        limit: int | None = None,
        grace: float = visitors.GRACE,
        process: Callable[..., WorkerProcess] = WorkerProcess,
    ) -> None:
        limit = visitors.limit_from_environment() if limit is None else limit
        self._life = RunQueue(limit, visitors.Visitors(alive, grace), process)
        self.series = RunSeries(self._life)
        self._numbers: Counter[str] = Counter()  # runs that a visitor ever had
        self._lock_file: Any = None
        if (store.root() / store.SESSIONS).is_dir():
            self._lock_file = store.claim_private(clear=True)

    # ---- what a page asks for

    def warm(self) -> None:
        """Have a process ready for the next run; returns at once."""
        with self._life.changed:
            self._life.visited = time.monotonic()
            self._life.pool.warm()

    def start(self, owner: str, plan: Plan, text: str | None = None) -> visitors.RunState:
        """Put a new run into the queue.

        text: the learner's own, where the plan's corpus is OWN_TEXT.
        A start that echoes the last one returns that run. Raises ValueError in one line where the
        visitor has too many runs, or the text cannot be written.
        """
        values = plan.to_dict()
        with self._life.changed:
            for run in self._life.runs.values():
                fresh = (
                    run.state in visitors.ACTIVE[:2] or time.monotonic() - run.since < visitors.SAME
                )
                if run.owner == owner and run.plan == values and run.active and fresh:
                    return dataclasses.replace(run)
            self._life.check_room(owner)
            self._lock_file = self._lock_file or store.claim_private(clear=False)
            folder = store.new_folder()
            if text is not None:
                store.write_text(folder / OWN_TEXT, text)
            return self._add(owner, folder, values)

    def fork(
        self, owner: str, parent: Path, step: int, changes: dict[str, Any], label: str = ""
    ) -> visitors.RunState:
        """Put a fork of a run at one of its checkpoints into the queue.

        Raises ValueError naming the rule: see `make_fork` and `start`. Another visitor's run can be
        forked once it is kept.
        """
        with self._life.changed:
            if store.is_private(parent.name):
                visitors.check_control(self._known(parent.name), owner, self._life.visitors)
            self._life.check_room(owner)
            self._lock_file = self._lock_file or store.claim_private(clear=False)
            folder = store.new_folder()
            try:
                plan = make_fork(parent, step, folder, changes, label)
            except OSError as error:
                store.discard(folder)
                raise ValueError(
                    f"the fork cannot be written: {error.strerror or error}"
                ) from error
            except ValueError:
                store.discard(folder)
                raise
            return self._add(owner, folder, plan.to_dict())

    def controls(self, name: str, owner: str) -> bool:
        """Return whether a visitor may pause, stop, continue and fork a run as it is now.

        See `check_control` in `visitors`. What this server does not know is everybody's, if it
        is kept.
        """
        with self._life.changed:
            run = self._life.runs.get(name)
            if run is None:
                return not store.is_private(name)
            try:
                visitors.check_control(run, owner, self._life.visitors)
            except ValueError:
                return False
            return True

    def pause(self, name: str, owner: str) -> None:
        """Save a run after its present step and let it rest; another may have its place."""
        self._end(name, owner, "pause")

    def stop(self, name: str, owner: str) -> None:
        """Save a run after its present step and end it."""
        self._end(name, owner, "")

    def resume(self, name: str, owner: str) -> visitors.RunState:
        """Put a run that rests back into the queue; also a kept one that this server never saw.

        Raises ValueError: there is no such run, another process writes it, or it is not yours.
        """
        with self._life.changed:
            run = self._life.runs.get(name)
            if run is None:
                run = visitors.attach(name, owner, self._numbers[owner] + 1)
                self._numbers[owner] += 1
            visitors.check_control(run, owner, self._life.visitors)
            if run.active:
                return dataclasses.replace(run)
            self._life.check_room(owner)
            self._life.runs[name] = run
            run.owner = owner
            self._life.enter(run, "waiting")
            self._life.wait(run)
            self._life.dispatch()
            return dataclasses.replace(run)

    def keep(self, name: str, owner: str, wanted: str) -> None:
        """Move a run to the kept ones, under a free name like the one wanted.

        A run that trains is saved first, and goes on in its new place. Raises ValueError for a
        name that no folder can have.
        """
        with self._life.changed:
            run = self._known(name)
            visitors.check_control(run, owner, self._life.visitors)
            store.free_name(wanted)
            if run.kept or run.then.startswith("keep:"):
                return
            if run.state in ("preparing", "training", "stopping"):
                run.then = f"keep:{wanted}"
                self._life.order_stop(run)
            else:
                self._life.move(run, wanted)

    def discard(self, name: str, owner: str) -> None:
        """End a private run and delete it. Raises ValueError for one that is kept."""
        with self._life.changed:
            run = self._known(name)
            visitors.check_control(run, owner, self._life.visitors)
            if run.kept:
                raise ValueError(f"{name!r} is kept; to remove it, delete {run.folder}")
            self._life.drop(run)

    def know(self, owner: str, secret: str, address: str = "", *, own: bool = False) -> None:
        """Note the secret that a visitor's browser keeps, which tells it from others later.

        address: of the network, "" where it is not known. own: on the server's own machine; such a
        visitor's runs come first.
        """
        with self._life.changed:
            self._life.visitors.know(owner, secret, address, own=own)

    def adopt(self, name: str, owner: str) -> bool:
        """Hand a run to a visitor who knows its ID and comes back, by F5 say.

        That is: the one it belonged to is away, and had the same browser. A link alone does not
        do: a visitor who was given it may watch.
        Returns whether it is the visitor's now; raises ValueError where there is no such run.
        """
        with self._life.changed:
            run = self._known(name)
            before = run.owner
            if before != owner and self._life.visitors.may_follow(owner, before):
                for other in self._life.runs.values():  # F5: the whole visit comes back
                    if other.owner == before and (other is run or not other.kept):
                        other.owner = owner
                self._numbers[owner] += self._numbers.pop(before, 0)
                self._life.queue.hand_over(before, owner)
                self._life.visitors.forget(before)
            return run.owner == owner

    def runs(self, owner: str) -> list[visitors.RunState]:
        """A visitor's runs as they stand, the newest first."""
        with self._life.changed:
            self._life.visited = time.monotonic()
            mine = [
                dataclasses.replace(run) for run in self._life.runs.values() if run.owner == owner
            ]
            return sorted(mine, key=lambda run: -run.number)

    def run(self, name: str) -> visitors.RunState | None:
        """A run that this server knows, by its name."""
        with self._life.changed:
            run = self._life.runs.get(name)
            return dataclasses.replace(run) if run else None

    def queue_position(self, name: str) -> int:
        """How many runs are before this one in the queue; −1 where it does not wait."""
        with self._life.changed:
            order = list(self._life.queue.order())
            return order.index(name) if name in order else -1

    @property
    def limit(self) -> int:
        """How many runs may have a process at once."""
        return self._life.limit

    @property
    def waiting(self) -> int:
        """The length of the queue."""
        with self._life.changed:
            return len(self._life.queue)

    @property
    def training(self) -> int:
        """How many runs have a process."""
        with self._life.changed:
            return self._life.pool.busy

    def paces(self) -> list[Throughput]:
        """How fast the runs go that train now."""
        with self._life.changed:
            going = [run for run in self._life.runs.values() if run.state == "training"]
        paces = [throughput_of(Plan.from_dict(run.plan), run.folder) for run in going]
        return [pace for pace in paces if pace is not None]

    def wait(self, name: str, seconds: float) -> visitors.RunState | None:
        """Wait until a run has its first point or has ended, or the time is over."""
        with self._life.changed:
            self._life.changed.wait_for(
                lambda: (
                    name not in self._life.runs
                    or self._life.runs[name].state not in visitors.ACTIVE[:2]
                ),
                seconds,
            )
            return self.run(name)

    def step_time(
        self, plan: Plan, vocab_size: int | None = None
    ) -> tuple[float | None, str] | None:
        """Seconds of a step of a plan, measured by a process that waits, and why not if None.

        vocab_size: for a plan whose corpus only the page has; see `step_seconds`.
        Returns None until it is known; ask again. A run that starts goes before.
        """
        more = {} if vocab_size is None else {"vocab_size": vocab_size}
        with self._life.changed:
            return self._life.pool.step_time(repr((plan, vocab_size)), plan=plan.to_dict(), **more)

    def close(self, seconds: float = 10.0) -> None:
        """Let every process save its run and go, and wait for them."""
        self._life.close(seconds)
        if self._lock_file:
            self._lock_file.close()

    def _add(self, owner: str, folder: Path, plan: dict[str, Any]) -> visitors.RunState:
        self._numbers[owner] += 1
        run = visitors.RunState(
            folder.name, folder, owner, self._numbers[owner], plan, plan["train"]["steps"]
        )
        self._life.runs[run.name] = run
        self._life.wait(run)
        self._life.dispatch()
        return dataclasses.replace(run)

    def _known(self, name: str) -> visitors.RunState:
        if name not in self._life.runs:
            raise ValueError("this run is not known here any more")
        return self._life.runs[name]

    def _end(self, name: str, owner: str, then: str) -> None:
        with self._life.changed:
            run = self._known(name)
            visitors.check_control(run, owner, self._life.visitors)
            if run.state == "waiting":
                self._life.queue.remove(name)
                self._life.enter(run, "paused" if then else "stopped")
            elif run.state in ("preparing", "training"):
                run.then = then
                self._life.order_stop(run)
