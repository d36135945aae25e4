"""Patching that grows by small steps, so that no page waits for all of it.

L layers, A aligned places.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

    from llmviz.interpretability.patching import Reading, Site
    from llmviz.models.base import LanguageModel

AT_ONCE = 64  # sites of one batch: a deep model's take some tenths of a second
LEAST = 1e-6  # logits: preferences nearer to each other are the same


class Growing(ABC):
    """What patching moves, as a share of the way from the own preference to the donor's.

    A preference is the logit of `pair`'s second token less that of its first. Of `total`, `known`
    are done. Several threads may grow it.
    """

    def __init__(self, own: Tensor, donor: Tensor, pair: tuple[int, int], total: int) -> None:
        """Begin, with the logits (V,) after both prompts.

        Raises ValueError: both prompts prefer the one token to the other equally.
        """
        self.pair = pair
        self._start, goal = (
            float(logits[pair[1]].double() - logits[pair[0]].double()) for logits in (own, donor)
        )
        self._way = goal - self._start
        if abs(self._way) < LEAST:
            raise ValueError("both prompts prefer the one token to the other equally")
        self.known, self.total = 0, total
        self._more = self._steps()
        self._growing = Lock()

    def shares_of(self, logits: Tensor) -> list[float]:
        """Return the share of the way for each row of the pair's logits (N, 2)."""
        preferences = logits[:, 1].double() - logits[:, 0].double()
        return ((preferences - self._start) / self._way).tolist()

    def grow(self, seconds: float) -> bool:
        """Take step after step for some seconds of this thread's work, at least one.

        Returns whether all are done.
        """
        with self._growing:
            until = time.thread_time() + seconds
            while self.known < self.total:
                self.known += next(self._more)
                if time.thread_time() >= until:
                    break
            return self.known == self.total

    @abstractmethod
    def _steps(self) -> Iterator[int]:
        """Do one step after the other, and yield how many of `total` each did."""


class GrowingMap(Growing):
    """What each site moves: `shares` holds all sites that are done, from the last place on."""

    def __init__(
        self,
        model: LanguageModel,
        own: Reading,
        donor: Reading,
        pair: tuple[int, int],
        most: int,
        kinds: Sequence[str] = ("stream", "head", "mlp"),
    ) -> None:
        """Begin; at most `most` places, the last ones. Raises ValueError: see `Growing`."""
        from llmviz.interpretability.patching import aligned, all_sites

        self.places = min(aligned(own, donor), most)
        super().__init__(own.logits, donor.logits, pair, len(all_sites(model, self.places, kinds)))
        self._read, self._kinds = (model, own, donor), kinds
        self.shares: dict[Site, float] = {}

    def _steps(self) -> Iterator[int]:
        from llmviz.interpretability.patching import patch_by_position

        for sites, logits in patch_by_position(*self._read, self.pair, self._kinds, AT_ONCE):
            self.shares.update(zip(sites, self.shares_of(logits), strict=True))
            yield len(sites)
