"""The queue of runs: visitors who had fewer turns come first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator


class FairQueue:
    """Names of runs that wait, with whose they are; not locked by itself."""

    def __init__(self) -> None:
        self._waiting: dict[str, str] = {}  # name of the run -> its owner, the first to come first
        self._served: Counter[str] = Counter()  # how often an owner got a process

    def __len__(self) -> int:
        return len(self._waiting)

    def __contains__(self, name: str) -> bool:
        return name in self._waiting

    def add(self, name: str, owner: str) -> None:
        """Put a run at the end."""
        self._waiting[name] = owner

    def remove(self, name: str) -> None:
        """Take a run out that is not to begin."""
        self._waiting.pop(name, None)

    def clear(self) -> None:
        """Let nobody wait any more."""
        self._waiting.clear()

    def order(self) -> Iterator[str]:
        """The names as they will be served: of the owners the one served least, then who came."""
        served, left = self._served.copy(), dict(self._waiting)
        while left:
            name = min(left, key=lambda name: served[left[name]])
            served[left.pop(name)] += 1
            yield name

    def take(self) -> str:
        """Take the next run out; there must be one."""
        name = next(self.order())
        self._served[self._waiting.pop(name)] += 1
        return name

    def rename(self, name: str, new: str) -> None:
        """Call a waiting run by another name, in its place."""
        self._waiting = {new if one == name else one: who for one, who in self._waiting.items()}

    def hand_over(self, owner: str, to: str) -> None:
        """Let one visitor stand for another, in the queue and in what they had."""
        self._waiting = {name: to if who == owner else who for name, who in self._waiting.items()}
        self._served[to] += self._served.pop(owner, 0)
