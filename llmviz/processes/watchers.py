"""Who watches work in the background, and how much of it a visitor may have."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from llmviz.processes.limits import limit

GRACE = 10.0  # seconds that a visitor may be away before their watching ends


class Owner(NamedTuple):
    """Whose a visit is.

    browser: the same for all windows of one. address: empty where it is not known. own: on the
    server's own machine.
    """

    browser: str = ""
    address: str = ""
    own: bool = False


class Visitors:
    """Who asks for work; here it is nobody in particular, who never goes."""

    def here(self) -> str:
        """Return the name of the visit for which the calling thread works; "" for none."""
        return ""

    def is_open(self, visitor: str) -> bool:
        """Return whether the visit's window is open."""
        return True

    def owner(self, visitor: str) -> Owner:
        """Return whose visit it is, as long as its window is open."""
        return Owner(visitor)


class Watchers:
    """Who watches a piece of work. It goes on as long as anybody does."""

    def __init__(self, visitor: str, owner: Owner) -> None:
        self.begun_by = owner
        self._owners = {visitor: owner}
        self._away: dict[str, float] = {}  # since when a visitor's window is closed
        self._left: dict[str, int] = {}  # at how many results a visitor stopped watching

    def __len__(self) -> int:
        return len(self._owners)

    def __contains__(self, visitor: str) -> bool:
        return visitor in self._owners

    def left_at(self, visitor: str) -> int | None:
        """Return at how many results a visitor stopped watching; None for one who did not."""
        return self._left.get(visitor)

    def join(self, visitor: str, owner: Owner) -> None:
        """Let a visitor watch, also one who had stopped."""
        self._left.pop(visitor, None)
        self._owners[visitor] = owner

    def leave(self, visitor: str, results: int) -> None:
        """Let a visitor watch no longer, at this many results."""
        self._left[visitor] = results
        self._owners.pop(visitor, None)

    def forget_gone(self, visitors: Visitors, now: float) -> None:
        """Take out whose window has been closed for longer than the grace."""
        for visitor in list(self._owners):
            if not visitor or visitors.is_open(visitor):
                self._away.pop(visitor, None)
            elif now - self._away.setdefault(visitor, now) > GRACE:
                self._owners.pop(visitor, None)

    def counts_for(self, owner: Owner) -> bool:
        """Return whether a browser began this work and watches it still."""
        mine = [known for known in list(self._owners.values()) if known.browser == owner.browser]
        return self.begun_by.browser == owner.browser and bool(mine)


def refusal(owner: Owner, going: Iterable[Watchers]) -> str:
    """Return why a visitor may begin no more work beside what goes on; "" where they may.

    On the server's own machine only the limit of a browser holds.
    """
    going = list(going)
    mine = sum(work.counts_for(owner) for work in going)
    if mine >= limit("LLMVIZ_BROWSER_JOBS"):
        return (
            f"{mine} of your computations are going on or waiting, and more are not "
            "allowed; stop one or wait until it ends"
        )
    near = sum(work.begun_by.address == owner.address != "" for work in going)
    if not owner.own and near >= limit("LLMVIZ_ADDRESS_JOBS"):
        return (
            f"{near} computations from your network address are going on or waiting, and more "
            "are not allowed; wait until one ends"
        )
    return ""
