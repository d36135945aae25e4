"""The curve of a run for other programs: comma-separated values, or TensorBoard's events.

They stand beside the run's own curve, metrics.jsonl, and hold the same numbers.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from llmviz.files.whole import write_whole
from llmviz.training.reading import read_metrics
from llmviz.training.train_record import TrainRecord

TABLE, EVENTS = "metrics.csv", "tensorboard"  # in the folder of the run
NUMBERS = (
    *("tokens", "train_loss", "validation_loss", "lr", "grad_norm", "tokens_per_second"),
    "seconds",
)


class CurveLog(Protocol):
    """Takes the records of a run, the first ones with those before it."""

    def add(self, record: TrainRecord) -> None:
        """Take a record that stands in the run's own curve already."""

    def close(self) -> None:
        """Write what waits to be written."""


class TableLog:
    """OUT/metrics.csv, a line a record; a cell is empty where nothing was measured."""

    def __init__(self, out: Path) -> None:
        self._out, self._begun = out, False

    def add(self, record: TrainRecord) -> None:
        path = self._out / TABLE
        if not self._begun:
            before = [earlier for earlier in read_metrics(self._out) if earlier.step < record.step]
            write_whole(path, lambda temporary: _write_rows(temporary, "w", before, head=True))
            self._begun = True
        _write_rows(path, "a", [record])

    def close(self) -> None:
        pass


def _write_rows(path: Path, mode: str, records: Sequence[TrainRecord], head: bool = False) -> None:
    with path.open(mode, encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if head:
            writer.writerow(("step", *NUMBERS))
        writer.writerows((row.step, *(getattr(row, name) for name in NUMBERS)) for row in records)


class EventsLog:
    """OUT/tensorboard/, which `tensorboard --logdir` shows. Samples are texts in it.

    Raises ValueError where TensorBoard is not installed.
    """

    def __init__(self, out: Path) -> None:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            raise ValueError(
                "tensorboard is not installed; install it with: pip install tensorboard"
            ) from None
        self._out, self._open = out, SummaryWriter
        self._writer: Any = None

    def add(self, record: TrainRecord) -> None:
        if self._writer is None:
            folder = self._out / EVENTS
            new = not folder.exists()
            # What a resumed run writes anew takes the place of what was written before.
            self._writer = self._open(str(folder), purge_step=None if new else record.step)
            before = read_metrics(self._out) if new else []
            for earlier in before:
                if earlier.step < record.step:
                    self._write(earlier)
        self._write(record)

    def _write(self, record: TrainRecord) -> None:
        for name in NUMBERS:
            value = getattr(record, name)
            if value is not None:
                self._writer.add_scalar(name, value, record.step)
        if record.sample is not None:
            self._writer.add_text("sample", record.sample, record.step)

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()


LOGS: dict[str, Callable[[Path], CurveLog]] = {"csv": TableLog, "tensorboard": EventsLog}
