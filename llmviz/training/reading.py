"""A run in a folder, read without torch: its description, its curve, its checkpoints."""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from llmviz.models.catalogue import able
from llmviz.training.config import Plan
from llmviz.training.errors import CheckpointError
from llmviz.training.files import open_regular, parse_json, read_json
from llmviz.training.train_record import TrainRecord

_TAIL = 1 << 16  # bytes at a curve's end that its last record is looked for in
FORMAT, CHECKPOINT_FORMAT = "llmviz-run-1", "llmviz-checkpoint-1"
CONFIG, TOKENIZER, METRICS = "config.json", "tokenizer.json", "metrics.jsonl"
WRONG = "wrong.json"  # of a run that went wrong: the step, and one line on what happened
FORK, BEFORE = "fork", "before"  # in config.json: where the run was forked, and its parent
CHAT = "chat"  # in config.json: the template of a published model, and the tokens that it names
LORA = "lora"  # in config.json: the adapters that stand beside the matrices in the weights
MODEL, OPTIMIZER, STATE = "model.safetensors", "optimizer.safetensors", "state.json"
LARGEST_CURVE = 256 * 2**20  # bytes of metrics.jsonl
LONGEST_LINE = 2**20  # bytes of a record
LARGEST_TOKENIZER = 64 * 2**20  # bytes
_STEP = re.compile(r"step-(\d{6,12})")

_WHOLE, _NUMBER = (int, type(None)), (int, float, type(None))
# Entries of config.json: of which type each is, and whether the part that it stands in needs it.
_ENTRIES: tuple[tuple[str, tuple[type, ...], bool], ...] = (
    ("model", (dict,), True),
    ("model.name", (str,), True),
    ("model.config", (dict,), True),
    ("model.config.negatives", (int,), False),
    ("train", (dict,), True),
    ("train.steps", (int,), False),  # word vectors count epochs
    ("train.seed", _WHOLE, False),
    ("data", (dict,), True),
    ("data.corpus", (str,), True),
    ("data.documents", _WHOLE, False),
    ("data.validation_documents", _WHOLE, False),
    ("data.references", (dict,), False),
    ("data.references.uniform", (int, float), True),
    ("data.references.unigram", (int, float), True),
    ("data.references.bigram", (int, float), True),
    ("data.references.floor", _NUMBER, True),
    ("data.references.tokens", (int,), True),
    ("data.references.bytes", (int,), True),
    ("data.references.floor_documents", (int,), False),
    ("tokenizer", (dict,), False),
    ("parameters", (int,), False),
    ("command", (str,), False),
    ("plan", (dict,), False),
    (FORK, (dict,), False),
    (CHAT, (dict,), False),
    (LORA, (dict,), False),
    (f"{CHAT}.template", (str,), True),
    (f"{CHAT}.tokens", (dict,), True),
)
_ABOVE_ZERO = ("data.references.tokens", "data.references.bytes")  # others divide by them


def read_description(folder: Path | str) -> dict[str, Any]:
    """The run's config.json; CheckpointError if it is not one of ours.

    What pages and models rely on is of the type that they rely on.
    """
    path = Path(folder) / CONFIG
    description = read_json(path)
    if description.get("format") != FORMAT:
        raise CheckpointError(f"{path} is not a {FORMAT} file")
    for name, types, needed in _ENTRIES:
        part, _, entry = name.rpartition(".")
        parent = _part(description, part)
        if parent is None or (entry not in parent and not needed):
            continue
        if entry not in parent:
            raise CheckpointError(f"{path} lacks {name}")
        value: Any = parent[entry]
        if not isinstance(value, types) or isinstance(value, bool):
            raise CheckpointError(f"{path} says {name} = {value!r:.60}")
        if name in _ABOVE_ZERO and isinstance(value, int) and value < 1:
            raise CheckpointError(f"{path} says {name} = {value}, which must be above 0")
    model = description["model"]
    if able(model["name"], "word_vectors") and "negatives" not in model["config"]:
        raise CheckpointError(f"{path} lacks model.config.negatives")
    _check_fork(description.get(FORK), FORK, path)
    return description


def _check_fork(fork: Any, name: str, path: Path) -> None:
    """Refuse an entry that does not say where a run was forked, or where its parent was."""
    while fork is not None:
        if not isinstance(fork, dict):
            raise CheckpointError(f"{path} says {name} = {fork!r:.60}")
        for entry, kind in (("of", str), ("step", int), ("changes", dict)):
            if not isinstance(fork.get(entry), kind) or isinstance(fork[entry], bool):
                raise CheckpointError(f"{path} says {name}.{entry} = {fork.get(entry)!r:.60}")
        changes = fork["changes"]
        if not all(isinstance(value, str | int | float) for value in changes.values()):
            raise CheckpointError(f"{path} says {name}.changes = {changes!r:.60}")
        fork, name = fork.get(BEFORE), f"{name}.{BEFORE}"


def _part(description: dict[str, Any], name: str) -> dict[str, Any] | None:
    """The part of a description that has this name, "" for all of it; None where it is absent."""
    value: Any = description
    for entry in filter(None, name.split(".")):
        value = value.get(entry)
        if value is None:
            return None
    return value


def went_wrong(folder: Path | str) -> str:
    """One line on how a run went wrong, which step and which tensor; "" where it did not."""
    path = Path(folder) / WRONG
    if not path.exists():
        return ""
    try:
        line = read_json(path).get("line")
    except CheckpointError as error:
        return str(error)
    return line if isinstance(line, str) else f"{path} does not say what went wrong"


def plan_in(description: dict[str, Any]) -> Plan | None:
    """The plan of a run that can be trained again; None where there is none, or not one of ours."""
    try:
        return Plan.from_dict(description["plan"])
    except (KeyError, TypeError, ValueError, AttributeError):  # of another version, or tampered
        return None


def read_tokenizer(folder: Path | str) -> Any:
    """The tokenizer of a run; CheckpointError names the folder where it is absent or damaged."""
    from llmviz.tokenizers import ENDOFTEXT, load_tokenizer

    path = Path(folder) / TOKENIZER
    try:
        with open_regular(path) as file:
            if os.fstat(file.fileno()).st_size > LARGEST_TOKENIZER:
                raise CheckpointError(f"{path} is larger than {LARGEST_TOKENIZER:,} bytes")
        tokenizer = load_tokenizer(path)
    except OSError as error:
        raise CheckpointError(f"{path} cannot be read: {error.strerror or error}") from error
    except CheckpointError:
        raise
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError) as error:
        raise CheckpointError(f"in {folder}, {error}") from error
    if ENDOFTEXT not in tokenizer.special_tokens:
        raise CheckpointError(f"{path} has no {ENDOFTEXT} token")
    return tokenizer


def read_metrics(folder: Path | str) -> list[TrainRecord]:
    """The records of a run so far; a line that is still being written is left out."""
    return Metrics(folder).read()


class Metrics:
    """The records of a run that may still be written; each reading goes on where the last ended.

    A run that was taken up again from an earlier checkpoint has dropped its later lines: the file
    is then shorter than what was read, and is read anew.

    most: how many records are kept in memory; None for all of them. Of a longer curve every second
    line stays, every fourth, and so on, and the newest; lines with a validation loss or a sample
    are counted apart from the others, so that they stay longer. What does not stay is not checked.
    `lines` says how many there are in the file.
    """

    records: list[TrainRecord]
    lines: int
    _end: int
    _mark: bytes
    _kept: list[tuple[int, int, TrainRecord]]  # kind, number among its kind, record
    _counts: list[int]  # of each kind
    _lengths: list[int]
    _strides: list[int]
    _last_stays: bool

    def __init__(self, folder: Path | str, most: int | None = None) -> None:
        self.path, self.most = Path(folder) / METRICS, most
        self._forget()
        self._file = 0

    def read(self) -> list[TrainRecord]:
        """All records so far, complete lines only.

        Raises CheckpointError for a line that is no record, or a file that no run of ours wrote.
        """
        try:
            with open_regular(self.path) as file:
                self._look_again(file)
                file.seek(self._end)
                self._read_on(file)
        except FileNotFoundError:
            self._forget()
        except OSError as error:
            raise CheckpointError(f"{self.path} cannot be read: {error.strerror}") from error
        except ValueError as error:
            self._forget()
            raise CheckpointError(f"{self.path} is damaged: {error}") from error
        return self.records

    def _read_on(self, file: IO[bytes]) -> None:
        before = self._end
        for line in complete_lines(file):
            self._take(line)
            self._end += len(line)
            self._mark = line
        if self._end == before:
            return
        # A new list: a caller that holds the old one keeps what it was given.
        self.records = [record for _, _, record in self._kept]
        if not self._last_stays:
            self.records.append(_record(self._mark))

    def _take(self, line: bytes) -> None:
        """Keep a line's record, if its turn has come, and fewer than before where it is one more
        than is to be kept."""
        kind = int(not (b'"validation_loss": null' in line and b'"sample": null' in line))
        number, self.lines = self._counts[kind], self.lines + 1
        self._counts[kind] += 1
        self._last_stays = number % self._strides[kind] == 0
        if not self._last_stays:
            return
        self._kept.append((kind, number, _record(line)))
        self._lengths[kind] += 1
        if self.most is not None and self._lengths[kind] > self.most // 2:
            stride = self._strides[kind] = 2 * self._strides[kind]
            self._kept = [kept for kept in self._kept if kept[0] != kind or kept[1] % stride == 0]
            self._lengths[kind] = sum(kept[0] == kind for kept in self._kept)
            self._last_stays = number % stride == 0

    def _look_again(self, file: IO[bytes]) -> None:
        """Forget what was read unless the last line read still stands where it stood."""
        about = os.fstat(file.fileno())
        if about.st_size > LARGEST_CURVE:
            raise ValueError(f"it is larger than {LARGEST_CURVE:,} bytes")
        file.seek(max(0, self._end - len(self._mark)))
        if about.st_ino != self._file or file.read(len(self._mark)) != self._mark:
            self._forget()
        self._file = about.st_ino

    def _forget(self) -> None:
        self.records, self.lines = [], 0
        self._end, self._mark = 0, b""
        self._kept = []
        self._counts, self._lengths, self._strides = [0, 0], [0, 0], [1, 1]
        self._last_stays = True


def complete_lines(file: IO[bytes]) -> Iterator[bytes]:
    """The lines of a curve from where the file stands, each with its end; the last one only whole.

    Raises ValueError for a line that is longer than any record.
    """
    while line := file.readline(LONGEST_LINE):
        if not line.endswith(b"\n"):
            if len(line) == LONGEST_LINE:
                raise ValueError(f"it holds a line of more than {LONGEST_LINE:,} bytes")
            return
        yield line


def copy_curve(folder: Path, step: int, target: Path) -> None:
    """Write the lines of a run's curve up to a step to a file, however many there are.

    Raises CheckpointError for a line that is no record, OSError as it comes.
    """
    with open_regular(folder / METRICS) as file, target.open("wb") as out:
        try:
            for line in complete_lines(file):
                if _record(line).step > step:
                    break
                out.write(line)
        except ValueError as error:
            raise CheckpointError(f"{folder / METRICS} is damaged: {error}") from error


def _record(line: bytes) -> TrainRecord:
    return TrainRecord.from_dict(parse_json(line))


def step_folder(folder: Path | str, step: int) -> Path:
    """Where the checkpoint of a step stands, in the run's folder of checkpoints."""
    return Path(folder) / "checkpoints" / f"step-{step:06d}"


def steps_saved(folder: Path | str) -> list[tuple[int, Path]]:
    """The complete checkpoints of a run, (step, folder), oldest first.

    A run that goes on puts its newest checkpoint in the place of the one before. Listing a folder
    is not one act: a reader may just then meet neither. A second look meets the newer one.
    """
    parent = step_folder(folder, 0).parent
    return sorted(_steps(parent)) or sorted(_steps(parent))


def _steps(parent: Path) -> Iterator[tuple[int, Path]]:
    if parent.is_dir():
        for path in parent.iterdir():
            match = _STEP.fullmatch(path.name)
            if match and path.is_dir():
                yield int(match[1]), path


def last_record(folder: Path) -> dict[str, Any] | None:
    """The newest line of a run's curve as plain values, or None where there is none yet.

    Raises CheckpointError for a line that is no record.
    """
    try:
        with open_regular(folder / METRICS) as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _TAIL))
            lines = file.read().split(b"\n")[:-1]
    except OSError:
        return None
    if not lines:
        return None
    try:
        return dataclasses.asdict(TrainRecord.from_dict(parse_json(lines[-1])))
    except ValueError as error:
        raise CheckpointError(f"{folder / METRICS} is damaged: {error}") from error


def begun_card(name: str, description: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a card says of a run before its first step; KeyError where that is damaged."""
    return {
        "name": name,
        "command": description["command"],
        "model": description["model"]["name"],
        "parameters": description["parameters"],
        "corpus": description["data"]["corpus"],
        "training_documents": description["data"]["documents"],
        "seed": description["train"]["seed"],
    }
