"""A training that is looked at again and again: what all its moments have of one number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


class Moments:
    """What a training so far is asked, whatever its moments hold; each has its `step`."""

    moments: Sequence[Any]

    @property
    def last(self) -> Any:
        """The newest moment."""
        return self.moments[-1]

    @property
    def steps(self) -> np.ndarray:
        """The steps of the moments (S,)."""
        return self.curve("step")

    def curve(self, name: str) -> np.ndarray:
        """One number, or an array of numbers, of each moment (S, ...)."""
        return np.array([getattr(moment, name) for moment in self.moments])
