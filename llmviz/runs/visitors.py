"""What a visitor may do: how many runs, whose run, and where a new one lies.

What a server knows of a run: whose it is, where it is, how it goes; and how many are allowed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from hashlib import sha256
from hmac import compare_digest
from pathlib import Path
from typing import Any

from llmviz.processes.limits import from_environment, limit
from llmviz.runs import store
from llmviz.training.reading import plan_in, read_description

GRACE = 90.0  # seconds that a visitor may be away before the runs that are not kept end
TIDY_EVERY = 3.0  # seconds
IDLE = 900.0  # seconds without any visitor or run after which waiting processes go
KILL_AFTER = 2.0  # seconds of preparing after which nobody waits for a process to stop by itself
SAME = 2.0  # seconds in which a second click on the same start is the first one's echo

# waiting -> preparing -> training -> done, stopped, diverged, refused or lost
ACTIVE = ("waiting", "preparing", "training", "stopping")
RESUMABLE = ("paused", "stopped", "lost", "refused")


@dataclass
class RunState:
    """A run that this server knows: where it is, whose it is, how it goes."""

    name: str  # the ID of a private run, the name of a kept one
    folder: Path
    owner: str
    number: int  # the visitor's first run is 1
    plan: dict[str, Any]
    steps: int
    state: str = "waiting"
    line: str = ""  # why it ended, where that was not its last step
    kept: bool = False
    since: float = field(default_factory=time.monotonic)  # when the state was reached
    then: str = ""  # what to do once it has stopped: pause, keep:NAME, discard

    @property
    def active(self) -> bool:
        """Whether it trains or is going to."""
        return self.state in ACTIVE


def limit_from_environment() -> int:
    """How many runs may train at once: LLMVIZ_MAX_RUNS, or one for two cores.

    Raises ValueError for a setting that is not a whole number above 0.
    """
    return from_environment("LLMVIZ_MAX_RUNS", max(1, (os.cpu_count() or 1) // 2))


class Visitors:
    """Who is there, and who has been away for too long.

    alive: asked whether a visitor's window is open. grace: seconds that one may be away.
    """

    def __init__(self, alive: Callable[[str], bool], grace: float) -> None:
        self.here, self.grace = alive, grace
        self._away: dict[str, float] = {}  # since when
        self._gone: set[str] = set()  # away for longer than the grace, and told of
        self._browsers: dict[str, bytes] = {}  # what is left of the secret of a visitor's browser
        self._places: dict[str, tuple[str, bool]] = {}  # address, and whether it is this machine

    def know(self, owner: str, secret: str, address: str = "", *, own: bool = False) -> None:
        """Note whose browser keeps which secret, and where it is; only the secret's hash stays.

        address: of the network, "" where it is not known. own: on the server's own machine.
        """
        self._browsers[owner] = sha256(secret.encode("utf-8")).digest()
        self._places[owner] = address, own

    def is_own(self, owner: str) -> bool:
        """Whether a visitor sits at the server's own machine."""
        return self._places.get(owner, ("", False))[1]

    def same_address(self, visitor: str, other: str) -> bool:
        """Whether two visits come from one address; not where one of the two is not known."""
        first, second = (self._places.get(who, ("", False))[0] for who in (visitor, other))
        return first != "" and first == second

    def same_browser(self, visitor: str, other: str) -> bool:
        """Whether two visits are of one browser; not where nothing is known of one of them."""
        first, second = self._browsers.get(visitor), self._browsers.get(other)
        return first is not None and second is not None and compare_digest(first, second)

    def may_follow(self, owner: str, before: str) -> bool:
        """Whether a visitor may take the place of one who is away: in the same browser only."""
        return not self.here(before) and self.same_browser(owner, before)

    def is_gone(self, owner: str) -> bool:
        """Whether a visitor was away for longer than the grace, and is away still."""
        return owner in self._gone and not self.here(owner)

    def left(self, owners: Iterable[str], now: float) -> list[str]:
        """Those of the owners who have been away for longer than the grace; each is told once."""
        gone, owners = [], set(owners)
        for known in [who for who in self._browsers if who not in owners and not self.here(who)]:
            self.forget(known)
            del self._browsers[known]
            self._places.pop(known, None)
        for owner in owners - self._gone:
            if self.here(owner):
                self.forget(owner)
            elif now - self._away.setdefault(owner, now) > self.grace:
                self.forget(owner)
                self._gone.add(owner)
                gone.append(owner)
        self._gone = {owner for owner in self._gone if owner in owners and not self.here(owner)}
        return gone

    def forget(self, owner: str) -> None:
        """Count no absence of a visitor any more."""
        self._away.pop(owner, None)


def check_room(runs: Iterable[RunState], owner: str, waiting: int, visitors: Visitors) -> None:
    """Raise ValueError where a browser or an address has as many runs as it may have, or all wait.

    On the server's own machine only the limits of a browser hold.
    """
    runs = list(runs)
    mine = [run for run in runs if run.owner == owner or visitors.same_browser(run.owner, owner)]
    active = sum(run.active for run in mine)
    if active >= limit("LLMVIZ_BROWSER_RUNS"):
        raise ValueError(
            f"{active} of your runs are training or waiting, and more are not allowed; "
            "stop one or wait until it ends"
        )
    private = sum(not run.kept for run in mine)
    if private >= limit("LLMVIZ_BROWSER_UNKEPT"):
        raise ValueError(
            f"you have {private} runs here, and more are not allowed; delete one first"
        )
    if visitors.is_own(owner):
        return
    near = [run for run in runs if visitors.same_address(run.owner, owner)]
    active = sum(run.active for run in near)
    if active >= limit("LLMVIZ_ADDRESS_RUNS"):
        raise ValueError(
            f"{active} runs from your network address are training or waiting, and more are not "
            "allowed; wait until one ends"
        )
    private = sum(not run.kept for run in near)
    if private >= limit("LLMVIZ_ADDRESS_UNKEPT"):
        raise ValueError(
            f"there are {private} runs from your network address that nobody kept, and more are "
            "not allowed; delete one first"
        )
    if waiting >= limit("LLMVIZ_MAX_WAITING"):
        raise ValueError(f"{waiting} runs are waiting already; try again later")


def check_control(run: RunState, owner: str, visitors: Visitors) -> None:
    """Raise ValueError for another visitor's run.

    A kept one that goes on is everybody's once its owner is gone, longer than the grace, and one
    at rest at once.
    """
    if run.owner == owner:
        return
    left = visitors.is_gone(run.owner) or visitors.may_follow(owner, run.owner)
    if not run.kept or (run.active and not left):
        raise ValueError("this run belongs to another visitor; here it can be watched")


def attach(name: str, owner: str, number: int) -> RunState:
    """A run on the disk that can be gone on with. Raises ValueError where another writes it."""
    folder = store.find_run(name)
    if store.is_private(name):
        raise ValueError("this run is not known here any more")
    if store.is_written(folder):
        raise ValueError(f"{name} is being written by another process; it can be watched here")
    plan = plan_in(read_description(folder))
    if plan is None:
        raise ValueError(f"{name} does not say how it was made, so it cannot go on")
    return RunState(
        name, folder, owner, number, plan.to_dict(), plan.train.steps, "paused", kept=True
    )
