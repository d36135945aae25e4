"""The queue of runs: first those of the server's own machine, then who had fewer turns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator


class FairQueue:
    """Names of runs that wait, with whose they are; not locked by itself."""

    def __init__(self) -> None:
        self._waiting: dict[str, str] = {}  # name of the run -> its owner, the first to come first
        self._first: set[str] = set()  # names of runs that go before all others
        self._served: Counter[str] = Counter()  # how often an owner got a process

    def __len__(self) -> int:
        return len(self._waiting)

    def __contains__(self, name: str) -> bool:
        return name in self._waiting

    def add(self, name: str, owner: str, *, first: bool = False) -> None:
        """Put a run at the end; with `first` before all that are not so."""
        self._waiting[name] = owner
        if first:
            self._first.add(name)

    def remove(self, name: str) -> None:
        """Take a run out that is not to begin."""
        self._waiting.pop(name, None)
        self._first.discard(name)

    def clear(self) -> None:
        """Let nobody wait any more."""
        self._waiting.clear()
        self._first.clear()

    def order(self) -> Iterator[str]:
        """The names as they will be served: of the owners the one served least, then who came.

        Those that were put first go before all others.
        """
        served, left = self._served.copy(), dict(self._waiting)
        while left:
            name = min(left, key=lambda name: (name not in self._first, served[left[name]]))
            served[left.pop(name)] += 1
            yield name

    def take(self) -> str:
        """Take the next run out; there must be one."""
        name = next(self.order())
        self._served[self._waiting[name]] += 1
        self.remove(name)
        return name

    def rename(self, name: str, new: str) -> None:
        """Call a waiting run by another name, in its place."""
        self._waiting = {new if run == name else run: who for run, who in self._waiting.items()}
        self._first = {new if run == name else run for run in self._first}

    def hand_over(self, owner: str, to: str) -> None:
        """Let one visitor stand for another, in the queue and in what they had."""
        self._waiting = {name: to if who == owner else who for name, who in self._waiting.items()}
        self._served[to] += self._served.pop(owner, 0)
