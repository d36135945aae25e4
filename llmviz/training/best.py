"""The lowest validation loss of a run: its step, its weights, how long none was lower.

OUT/best/ is a run that ends there: its weights, its curve up to there, its tokenizer, its
description. Every command reads it as it reads any run.
"""

from __future__ import annotations

import math
import shutil
from dataclasses import dataclass
from pathlib import Path

from llmviz.files.whole import temporary_beside
from llmviz.training.checkpoint_step import STEP, read_header
from llmviz.training.checkpoints import Checkpoint, publish
from llmviz.training.config import TrainConfig
from llmviz.training.files import remove_folder, write_manifest
from llmviz.training.reading import CONFIG, METRICS, MODEL, TOKENIZER, copy_curve, step_folder

BEST = "best"  # the folder, inside that of the run


@dataclass
class Lowest:
    """The lowest validation loss so far, and how many came after it that were not lower.

    >>> lowest = Lowest(patience=2)
    >>> [lowest.hears(step, loss) for step, loss in ((1, 3.0), (2, 2.0), (3, 2.0), (4, 2.5))]
    [True, True, False, False]
    >>> lowest.is_over, lowest.state()
    (True, {'step': 2, 'loss': 2.0, 'since': 2})
    """

    patience: int = 0  # so many without a lower one end the run; 0 = never
    step: int = 0
    loss: float = math.inf
    since: int = 0

    @classmethod
    def of(cls, config: TrainConfig) -> Lowest | None:
        """What a run keeps in mind; None where nothing is to be kept and nothing ends it."""
        return cls(config.patience) if config.keep_best or config.patience else None

    def hears(self, step: int, loss: float) -> bool:
        """Take a measurement; return whether it is the lowest so far."""
        if loss < self.loss:
            self.step, self.loss, self.since = step, loss, 0
            return True
        self.since += 1
        return False

    @property
    def is_over(self) -> bool:
        """Whether the run has waited long enough for a lower one."""
        return bool(self.patience) and self.since >= self.patience

    def state(self) -> dict[str, float]:
        """What a checkpoint keeps; empty before the first measurement."""
        if not self.step:
            return {}
        return {"step": self.step, "loss": self.loss, "since": self.since}

    def restore(self, state: dict[str, float]) -> None:
        """Go on from what `state` returned."""
        self.step, self.loss = int(state["step"]), float(state["loss"])
        self.since = int(state["since"])

    def note(self) -> str:
        """Why the run has ended."""
        return (
            f"it ended early: {self.since} validation losses in a row were not below that of step "
            f"{self.step}, {self.loss:.4f} nats"
        )


def write_best(folder: Path, step: int) -> None:
    """Let OUT/best be the run as it is at its checkpoint of `step`."""
    best = folder / BEST
    temporary = temporary_beside(best)
    try:
        temporary.mkdir()
        publish(step_folder(folder, step) / MODEL, temporary / MODEL)
        for name in (CONFIG, TOKENIZER):
            shutil.copyfile(folder / name, temporary / name)
        copy_curve(folder, step, temporary / METRICS)
        write_manifest(temporary, [MODEL, TOKENIZER, METRICS, CONFIG])
        if best.exists():
            remove_folder(best)
        temporary.rename(best)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def has_best(folder: Path, checkpoint: Checkpoint) -> bool:
    """Whether OUT/best, or the checkpoint itself, has the weights that a checkpoint calls best."""
    return checkpoint.best["step"] in (_step_of_best(folder), checkpoint.step)


def _step_of_best(folder: Path) -> int:
    path = folder / BEST / MODEL
    return int(read_header(path).get(STEP, "0")) if path.is_file() else 0


def settle_best(folder: Path, checkpoint: Checkpoint | None) -> None:
    """Make OUT/best what it was at the checkpoint that a run goes on from.

    One of a later step is removed: that future is written anew. One that a killed process did not
    come to write is written.
    """
    done = checkpoint.step if checkpoint is not None else 0
    there = _step_of_best(folder)
    if there > done:
        remove_folder(folder / BEST)
    if checkpoint is not None and checkpoint.best.get("step") == done > 0 and there != done:
        write_best(folder, done)
