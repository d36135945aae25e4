"""What a server knows of a run: whose it is, where it is, how it goes; and how many are allowed."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from llmviz.limits import DEFAULTS, from_environment

GRACE = 90.0  # seconds that a visitor may be away before the runs that are not kept end
TIDY_EVERY = 3.0  # seconds
IDLE = 900.0  # seconds without any visitor or run after which waiting processes go
ACTIVE_EACH = DEFAULTS["LLMVIZ_BROWSER_RUNS"]  # that train or wait, unless a setting says else
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
