"""Runs that belong together: they go into the queue a few at a time, as far as there is room."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from llmviz.training import run_folders
from llmviz.training.config import Plan
from llmviz.training.permissions import RunState, check_room
from llmviz.training.run_lifecycle import RunLifecycle

AT_ONCE = 2  # runs of a series that train or wait for a process


@dataclass
class Series:
    """The runs of a visitor that go one after another: those in the queue, and those behind."""

    owner: str
    names: set[str] = field(default_factory=set)
    behind: deque[tuple[Path, dict[str, Any]]] = field(default_factory=deque)


class RunSeries(RunLifecycle):
    """Runs by name, and series of them; every public method may be called from any thread."""

    def __init__(self, *given: Any) -> None:
        self._series: dict[str, Series] = {}
        super().__init__(*given)

    def begin_series(self, name: str, owner: str, plans: Mapping[Path, Plan]) -> None:
        """Train runs in folders of their own below RUNS, each from where its folder stands.

        They are kept, so they go on when their visitor leaves. A series that goes on already is
        left alone. Raises ValueError where the visitor has no room for a first run.
        """
        with self._changed:
            if self.is_active(name):
                return
            check_room(self._runs.values(), owner, len(self._queue), self._visitors)
            behind = deque((folder, plan.to_dict()) for folder, plan in plans.items())
            self._series[name] = Series(owner, behind=behind)
            self._dispatch()

    def stop_series(self, name: str, owner: str) -> None:
        """Save the runs of a series after their present step, and begin no further one.

        Raises ValueError for another visitor's, as long as this one is there.
        """
        with self._changed:
            series = self._series.get(name)
            if series is None:
                return
            if not self.may_stop(name, owner):
                raise ValueError("this study belongs to another visitor; here it can be watched")
            series.behind.clear()
            for run in [self._runs[member] for member in series.names if member in self._runs]:
                if run.state == "waiting":
                    self._queue.remove(run.name)
                    self._enter(run, "stopped")
                elif run.state in ("preparing", "training"):
                    self._order_stop(run)

    def may_stop(self, name: str, owner: str) -> bool:
        """Whether a visitor may stop a series: its own, or one whose owner has left."""
        with self._changed:
            series = self._series.get(name)
            if series is None:
                return False
            left = self._visitors.is_gone(series.owner) or self._visitors.may_follow(
                owner, series.owner
            )
            return series.owner == owner or left

    def is_active(self, name: str) -> bool:
        """Whether some run of a series trains, waits, or stands behind."""
        with self._changed:
            series = self._series.get(name)
            return series is not None and bool(series.behind or self._going(series))

    def lines_of(self, name: str) -> list[str]:
        """Return why runs of a series ended, of those that were refused or lost."""
        with self._changed:
            series = self._series.get(name) or Series("")
            runs = [self._runs[member] for member in sorted(series.names) if member in self._runs]
            return [run.line for run in runs if run.state in ("refused", "lost") and run.line]

    def _going(self, series: Series) -> int:
        return sum(self._runs[member].active for member in series.names if member in self._runs)

    def _feed(self) -> None:
        """Put runs of all series into the queue, as far as each visitor has room."""
        for series in self._series.values():
            while series.behind and self._going(series) < AT_ONCE:
                try:
                    check_room(self._runs.values(), series.owner, len(self._queue), self._visitors)
                except ValueError:  # later, when another run of the visitor's has ended
                    break
                folder, plan = series.behind.popleft()
                run = RunState(
                    run_folders.run_name(folder),
                    folder,
                    series.owner,
                    0,
                    plan,
                    plan["train"]["steps"],
                    kept=True,
                )
                self._runs[run.name] = run
                series.names.add(run.name)
                self._queue.add(run.name, run.owner, first=self._visitors.is_own(run.owner))

    def _dispatch(self) -> None:
        self._feed()
        super()._dispatch()
