"""Loss scaling for float16: gradients that are too small for it are multiplied before they vanish.

The smallest number of float16 above 0 is 2⁻²⁴. The loss is multiplied by the scale before the
backward pass, so that every gradient is multiplied by it, too; before the update they are divided
by it again, in float32. The scale is a power of two, which changes no digit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor

from llmviz.training.config import TrainConfig

START = 2.0**16
LEAST = 2.0**-14  # START halved 30 times: a gradient that is then infinite is so by itself
MOST = 2.0**126  # float32 holds it and its half
GROW_EVERY = 2000  # steps


@dataclass
class LossScale:
    """The scale of a run: halved when a gradient is not finite, doubled after many good steps.

    The same rule as `torch.amp.GradScaler`, which a test holds it against. A step with a gradient
    that is infinite or not a number makes no update.
    grow_every: good steps after which it is doubled; 0: the scale stays what it is.

    Reference: Micikevicius et al. 2018, "Mixed precision training", section 3.2.
    """

    scale: float = START
    grow_every: int = GROW_EVERY
    good_steps: int = 0  # since the scale was changed

    @classmethod
    def of(cls, config: TrainConfig, dtype: torch.dtype) -> Self | None:
        """Return the scale that a run begins with; None in any other precision than float16."""
        if dtype is not torch.float16:
            return None
        return cls(config.loss_scale, grow_every=0) if config.loss_scale else cls()

    @property
    def can_fall(self) -> bool:
        """Whether a smaller scale may help."""
        return self.grow_every > 0 and self.scale > LEAST

    def unscale(self, gradients: Sequence[Tensor]) -> None:
        """Divide gradients by the scale, in place."""
        if self.scale != 1:
            torch._foreach_mul_(list(gradients), 1 / self.scale)

    def update(self, *, finite: bool) -> None:
        """Set the scale of the next step; finite: whether all gradients of this one were."""
        if not self.grow_every:
            return
        self.good_steps = self.good_steps + 1 if finite else 0
        if not finite:
            self.scale /= 2
        elif self.good_steps == self.grow_every:
            self.scale, self.good_steps = min(2 * self.scale, MOST), 0

    def note(self, step: int) -> str:
        """Return what the reader of a run is told about a step without an update."""
        return (
            f"step {step}: a gradient was too large for float16, so there was no update; "
            f"the loss scale is now {self.scale:g}"
        )

    def state(self) -> dict[str, float]:
        """Return what a checkpoint keeps."""
        return {"scale": self.scale, "good_steps": float(self.good_steps)}

    def restore(self, state: Mapping[str, float]) -> None:
        """Go on from what a checkpoint kept; a scale that is set for the whole run stays."""
        if self.grow_every:
            self.scale, self.good_steps = float(state["scale"]), int(state["good_steps"])
