"""Runs that belong together: they go into the queue a few at a time, as far as there is room."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from llmviz.runs import store
from llmviz.runs.queue import RunQueue
from llmviz.runs.visitors import RunState
from llmviz.training.config import Plan

AT_ONCE = 2  # runs of a series that train or wait for a process


@dataclass
class Series:
    """The runs of a visitor that go one after another: those in the queue, and those behind."""

    owner: str
    names: set[str] = field(default_factory=set)
    behind: deque[tuple[Path, dict[str, Any]]] = field(default_factory=deque)


class RunSeries:
    """Series of the runs of a lifecycle; every public method may be called from any thread."""

    def __init__(self, life: RunQueue) -> None:
        self._life = life
        self._series: dict[str, Series] = {}
        life.before_dispatch = self._feed

    def begin_series(self, name: str, owner: str, plans: Mapping[Path, Plan]) -> None:
        """Train runs in folders of their own below RUNS, each from where its folder stands.

        They are kept, so they go on when their visitor leaves. A series that goes on already is
        left alone. Raises ValueError where the visitor has no room for a first run.
        """
        with self._life.changed:
            if self.is_active(name):
                return
            self._life.check_room(owner)
            behind = deque((folder, plan.to_dict()) for folder, plan in plans.items())
            self._series[name] = Series(owner, behind=behind)
            self._life.dispatch()

    def stop_series(self, name: str, owner: str) -> None:
        """Save the runs of a series after their present step, and begin no further one.

        Raises ValueError for another visitor's, as long as this one is there.
        """
        with self._life.changed:
            series = self._series.get(name)
            if series is None:
                return
            if not self.may_stop(name, owner):
                raise ValueError("this study belongs to another visitor; here it can be watched")
            series.behind.clear()
            for run in [
                self._life.runs[member] for member in series.names if member in self._life.runs
            ]:
                if run.state == "waiting":
                    self._life.queue.remove(run.name)
                    self._life.enter(run, "stopped")
                elif run.state in ("preparing", "training"):
                    self._life.order_stop(run)

    def may_stop(self, name: str, owner: str) -> bool:
        """Whether a visitor may stop a series: its own, or one whose owner has left."""
        with self._life.changed:
            series = self._series.get(name)
            if series is None:
                return False
            left = self._life.visitors.is_gone(series.owner) or self._life.visitors.may_follow(
                owner, series.owner
            )
            return series.owner == owner or left

    def is_active(self, name: str) -> bool:
        """Whether some run of a series trains, waits, or stands behind."""
        with self._life.changed:
            series = self._series.get(name)
            return series is not None and bool(series.behind or self._going(series))

    def lines_of(self, name: str) -> list[str]:
        """Return why runs of a series ended, of those that were refused or lost."""
        with self._life.changed:
            series = self._series.get(name) or Series("")
            runs = [
                self._life.runs[member]
                for member in sorted(series.names)
                if member in self._life.runs
            ]
            return [run.line for run in runs if run.state in ("refused", "lost") and run.line]

    def _going(self, series: Series) -> int:
        return sum(
            self._life.runs[member].active for member in series.names if member in self._life.runs
        )

    def _feed(self) -> None:
        """Put runs of all series into the queue, as far as each visitor has room."""
        for series in self._series.values():
            while series.behind and self._going(series) < AT_ONCE:
                try:
                    self._life.check_room(series.owner)
                except ValueError:  # later, when another run of the visitor's has ended
                    break
                folder, plan = series.behind.popleft()
                run = RunState(
                    store.run_name(folder),
                    folder,
                    series.owner,
                    0,
                    plan,
                    plan["train"]["steps"],
                    kept=True,
                )
                self._life.runs[run.name] = run
                series.names.add(run.name)
                self._life.wait(run)
