"""Forward passes of several visitors take turns: at most one for each core at a time.

Eight passes at once on two cores end all together, after the time of four; one after another the
first ends at once, and the last no later. Measured with eight threads on two busy cores, a pass of
tiny-world-gpt on 200 tokens: the first ended after 63–82 ms instead of 212–262, the middle one
after 0.76–0.79 of the time, at the same processor time. Passes of 40 tokens are so short that no
difference was seen beside other work (`python -m benchmarks.turns`).
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from torch import nn

    Model = TypeVar("Model", bound=nn.Module)


class Turns:
    """A gate for `at_once` passes. A pass within a pass of the same thread goes through."""

    def __init__(self, at_once: int) -> None:
        self._free = threading.Semaphore(at_once)
        self._own = threading.local()

    def __deepcopy__(self, _: Any) -> Turns:
        return self  # the copy of a model waits with the model

    def begin(self, *_: Any) -> None:
        """Wait for a turn."""
        depth = getattr(self._own, "depth", 0)
        if depth == 0:
            self._free.acquire()
        self._own.depth = depth + 1

    def end(self, *_: Any) -> None:
        """Let the next one begin."""
        self._own.depth -= 1
        if self._own.depth == 0:
            self._free.release()


TURNS = Turns(max(1, os.cpu_count() or 1))


def take_turns(model: Model, turns: Turns = TURNS) -> Model:
    """Let a model's forward passes wait for their turn; returns the model."""
    model.register_forward_pre_hook(turns.begin)
    model.register_forward_hook(turns.end, always_call=True)  # also where the pass fails
    return model
