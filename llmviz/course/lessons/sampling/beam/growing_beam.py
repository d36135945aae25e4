"""A beam search that grows a token at a time, so that no page waits for all of it."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from llmviz.sampling import BeamTree


class GrowingBeam:
    """A search as far as it is known. Several threads may let it grow."""

    def __init__(self, steps: Iterator[BeamTree]) -> None:
        """Begin; steps: what `beam_steps` returns."""
        self._steps: Iterator[BeamTree] = steps
        self._tree: BeamTree | None = None
        self.over = False
        self._growing = Lock()

    def grow(self, seconds: float) -> bool:
        """Go on for some seconds of this thread's work, at least one token.

        Returns whether the search is over.
        """
        with self._growing:
            until = time.thread_time() + seconds
            while not self.over:
                tree = next(self._steps, None)
                self.over, self._tree = tree is None, tree or self._tree
                if time.thread_time() >= until:
                    break
            return self.over

    def whole(self) -> BeamTree:
        """Return the tree once the search is over, which it is soon after at the latest."""
        self.grow(math.inf)
        assert self._tree is not None
        return self._tree
