"""A run in a folder, read without torch: its description, its curve, its checkpoints."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from llmviz.training.errors import CheckpointError
from llmviz.training.files import read_json
from llmviz.training.records import TrainRecord

FORMAT, CHECKPOINT_FORMAT = "llmviz-run-1", "llmviz-checkpoint-1"
CONFIG, TOKENIZER, METRICS = "config.json", "tokenizer.json", "metrics.jsonl"
FORK = "fork"  # in config.json: where the run was forked
MODEL, OPTIMIZER, STATE = "model.safetensors", "optimizer.safetensors", "state.json"
_STEP = re.compile(r"step-(\d{6,})")


def read_description(folder: Path | str) -> dict[str, Any]:
    """The run's config.json; CheckpointError if it is not one of ours."""
    path = Path(folder) / CONFIG
    description = read_json(path)
    if description.get("format") != FORMAT:
        raise CheckpointError(f"{path} is not a {FORMAT} file")
    return description


def read_metrics(folder: Path | str) -> list[TrainRecord]:
    """The records of a run so far; a line that is still being written is left out."""
    return Metrics(folder).read()


class Metrics:
    """The records of a run that may still be written; each reading goes on where the last ended.

    A run that was taken up again from an earlier checkpoint has dropped its later lines: the file
    is then shorter than what was read, and is read anew.
    """

    def __init__(self, folder: Path | str) -> None:
        self.path = Path(folder) / METRICS
        self.records: list[TrainRecord] = []
        self._end, self._file, self._mark = 0, 0, b""

    def read(self) -> list[TrainRecord]:
        """All records so far, complete lines only.

        Raises CheckpointError for a line that is no record.
        """
        try:
            with self.path.open("rb") as file:
                self._look_again(file)
                file.seek(self._end)
                new = file.read()
        except FileNotFoundError:
            self._forget()
            return self.records
        except OSError as error:
            raise CheckpointError(f"{self.path} cannot be read: {error.strerror}") from error
        complete = new[: new.rfind(b"\n") + 1]
        # The list grows in a copy: who holds the old one keeps what it was given.
        self.records = [*self.records, *map(self._record, complete.splitlines())]
        self._end += len(complete)
        if complete:
            self._mark = complete.splitlines()[-1] + b"\n"
        return self.records

    def _look_again(self, file: Any) -> None:
        """Forget what was read unless the last line read still stands where it stood."""
        about = os.fstat(file.fileno())
        file.seek(max(0, self._end - len(self._mark)))
        if about.st_ino != self._file or file.read(len(self._mark)) != self._mark:
            self._forget()
        self._file = about.st_ino

    def _forget(self) -> None:
        self.records, self._end, self._mark = [], 0, b""

    def _record(self, line: bytes) -> TrainRecord:
        try:
            return TrainRecord.from_dict(json.loads(line))
        except (ValueError, TypeError) as error:
            raise CheckpointError(f"{self.path} is damaged: {error}") from error


def steps_saved(folder: Path | str) -> list[tuple[int, Path]]:
    """The complete checkpoints of a run, (step, folder), oldest first.

    A run that goes on puts its newest checkpoint in the place of the one before. Listing a folder
    is not one act: who does it just then may meet neither. A second look meets the newer one.
    """
    parent = Path(folder) / "checkpoints"
    return sorted(_steps(parent)) or sorted(_steps(parent))


def _steps(parent: Path) -> Iterator[tuple[int, Path]]:
    if parent.is_dir():
        for path in parent.iterdir():
            match = _STEP.fullmatch(path.name)
            if match and path.is_dir():
                yield int(match[1]), path
