"""A background job with given results, for tests of what a page makes of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llmviz.processes.background import DONE, OVER


class FakeJob:
    """What pages read of a `Job`; its results are given."""

    def __init__(self, results: Sequence[Any], state: str = DONE, problem: str = "") -> None:
        self.results, self.state, self.problem = list(results), state, problem
        self.expected, self.before = True, 0

    @property
    def over(self) -> bool:
        """Whether nothing more will come."""
        return self.state in OVER

    ended = over

    def stop(self) -> None:
        """End it."""
        self.state = "stopped"

    def again(self) -> bool:
        """Nobody else watches it."""
        return False
