"""What can go wrong in training and is the reader's to know."""

from __future__ import annotations


class CheckpointError(ValueError):
    """A checkpoint that is absent, damaged, or not ours; the message names the file."""


class Diverged(ValueError):
    """The loss, the gradient or a weight stopped being a finite number.

    what: which of them, and how. tensor: the first weight or gradient that is wrong, in words.
    Carries `step` (the update that failed), `last_step` and `last_loss` (the last finite value,
    nats per token, or None where there was none).
    """

    def __init__(
        self,
        step: int,
        last_step: int | None,
        last_loss: float | None,
        lr: float,
        what: str = "the loss is not finite",
        tensor: str = "",
    ) -> None:
        self.step, self.last_step, self.last_loss, self.lr = step, last_step, last_loss, lr
        before = (
            f"the last finite loss was {last_loss:.4f} at step {last_step}"
            if last_loss is not None
            else "no earlier loss is known"
        )
        super().__init__(
            f"{what} at step {step} (learning rate {lr:g}){tensor and f': {tensor}'}; {before}; "
            "try a smaller learning rate, more warm-up steps, or gradient clipping"
        )
