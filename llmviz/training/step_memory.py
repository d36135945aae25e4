"""The memory of one training step: which tensors are alive when.

`memory_profiler` reads it from torch.

Storage: the bytes behind a tensor; views of a tensor share them, so each is counted once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

# Parts of a step that lie in none of the model's: before the first of them and after the last.
INPUTS, LOSS = "inputs", "loss"
KINDS = ("weights", "averages", "gradients", "activations", "batch", "temporary")
FORWARD, AGAIN, BACKWARD, UPDATE = "forward", "again", "backward", "update"


class Held(NamedTuple):
    """One storage: what it is, its bytes, and from which moment to before which it is alive."""

    kind: str  # of KINDS
    name: str  # a parameter's name; else the operation that made it
    part: str  # where it was computed, as in `Moment`; empty for a parameter and its like
    shape: tuple[int, ...]
    dtype: str
    bytes: int
    born: int
    died: int


class Moment(NamedTuple):
    """After one operation: its name, and what the step was doing."""

    phase: str  # forward, again (computed once more for the backward pass), backward, update
    part: str  # path of the module whose forward or backward pass this is, INPUTS or LOSS
    operation: str  # empty before the first one


@dataclass(frozen=True)
class StepMemory:
    """One step: M moments, each after an operation that took or gave back memory."""

    moments: tuple[Moment, ...]
    held: tuple[Held, ...]

    def live(self) -> np.ndarray:
        """Bytes that are alive of each kind at each moment, (len(KINDS), M)."""
        changes = np.zeros((len(KINDS), len(self.moments) + 1), dtype=np.int64)
        for storage in self.held:
            row = changes[KINDS.index(storage.kind)]
            row[storage.born] += storage.bytes
            row[storage.died] -= storage.bytes
        return changes.cumsum(axis=1)[:, :-1]

    def peak(self) -> int:
        """The moment with the most bytes, the first of several."""
        return int(self.live().sum(axis=0).argmax())

    def alive(self, moment: int) -> list[Held]:
        """What is alive at a moment, the largest first."""
        alive = [storage for storage in self.held if storage.born <= moment < storage.died]
        return sorted(alive, key=lambda storage: -storage.bytes)

    def after_forward(self) -> int:
        """The last moment of the first forward pass; all that the backward pass needs is there."""
        phases = [moment.phase for moment in self.moments]
        return next((i for i, phase in enumerate(phases) if phase != FORWARD), len(phases)) - 1
