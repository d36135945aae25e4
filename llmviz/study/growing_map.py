"""A map of all patched sites that grows a place at a time, so that no page waits for all of it.

L layers, A aligned places.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

    from llmviz.models.base import LanguageModel
    from llmviz.study.patching import Reading, Site

LEAST = 1e-6  # logits: preferences nearer to each other are the same


class GrowingMap:
    """What each site moves, as a share of the way from the own preference to the donor's.

    A preference is the logit of `pair`'s second token less that of its first. Of `places`, counted
    from the end, `known` are done; `shares` holds all sites of those. Several threads may grow it.
    """

    def __init__(
        self, model: LanguageModel, own: Reading, donor: Reading, pair: tuple[int, int], most: int
    ) -> None:
        """Begin; at most `most` places, the last ones.

        Raises ValueError: both prompts prefer the one token to the other equally.
        """
        from llmviz.study.patching import aligned, patch_places

        self._start, goal = (self._preference(one.logits, *pair) for one in (own, donor))
        self._way = goal - self._start
        if abs(self._way) < LEAST:
            raise ValueError("both prompts prefer the one token to the other equally")
        self.places = min(aligned(own, donor), most)
        self.known = 0
        self.shares: dict[Site, float] = {}
        self._more: Iterator[tuple[list[Site], Tensor]] = patch_places(model, own, donor, pair)
        self._growing = Lock()

    @staticmethod
    def _preference(logits: Tensor, first: int, second: int) -> float:
        return float(logits[second].double() - logits[first].double())

    def grow(self, seconds: float) -> bool:
        """Patch place after place for some seconds of this thread's work, at least one.

        Returns whether all are done.
        """
        with self._growing:
            until = time.thread_time() + seconds
            while self.known < self.places:
                sites, logits = next(self._more)
                moved = (logits[:, 1].double() - logits[:, 0].double() - self._start) / self._way
                self.shares.update(zip(sites, moved.tolist(), strict=True))
                self.known += 1
                if time.thread_time() >= until:
                    break
            return self.known == self.places
