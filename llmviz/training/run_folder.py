"""A run in a folder: what is written there, and reading it back.

OUT/config.json        model, settings, corpus, tokenizer, versions, command
OUT/tokenizer.json     the tokenizer
OUT/metrics.jsonl      one TrainRecord a line
OUT/model.safetensors  the newest saved weights
OUT/run.toml           the settings, for `train --config`
OUT/best/              the run as it was at its lowest validation loss, where that is kept
OUT/checkpoints/       what resuming needs (see checkpoints.py)
OUT/wrong.json         only where the run went wrong: the step, and what happened
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import json
import os
from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from torch import nn

from llmviz.files.whole import TEMPORARY, write_whole, writing
from llmviz.models.base import LanguageModel
from llmviz.nn.lora import without_adapters
from llmviz.quantization.files import QUANTIZATION, full_tensors
from llmviz.training import distributed, locks
from llmviz.training.best import has_best, settle_best, write_best
from llmviz.training.checkpoints import (
    MODEL,
    Checkpoint,
    forget_after,
    save_checkpoint,
    settle,
    versions,
)
from llmviz.training.config import TrainConfig
from llmviz.training.data import Batches
from llmviz.training.errors import CheckpointError, Diverged
from llmviz.training.files import MANIFEST, check_manifest, remove_unfinished, write_json
from llmviz.training.fitting import build_to_fit, check_vocabulary
from llmviz.training.loop import Sample, train
from llmviz.training.newest_weights import Weights, newest_checkpoint, newest_weights, weights_at
from llmviz.training.preparation import chosen_dtype
from llmviz.training.reading import (
    CONFIG,
    FORMAT,
    LORA,
    METRICS,
    TOKENIZER,
    WRONG,
    read_description,
    read_metrics,
    read_tokenizer,
    went_wrong,
)
from llmviz.training.settings_file import write_settings
from llmviz.training.tensors import load_finite, load_weights
from llmviz.training.train_record import TrainRecord

__all__ = [
    "CONFIG",
    "METRICS",
    "TOKENIZER",
    "Run",
    "Trained",
    "describe",
    "load_trained",
    "prepare_folder",
    "read_description",
    "read_metrics",
    "run_in_folder",
    "writing",
]


@dataclass(frozen=True)
class Run:
    """What a run trains, ready to start; `description` is the content of its config.json."""

    model: nn.Module
    tokenizer: Any
    data: Batches
    config: TrainConfig
    description: dict[str, Any]


def describe(
    model_name: str,
    model: LanguageModel,
    tokenizer: Any,
    config: TrainConfig,
    data: dict[str, Any],
    command: str = "",
) -> dict[str, Any]:
    """What config.json says about a run.

    data: how the batches are made again (corpus, context_length, windows, …).
    """
    return {
        "format": FORMAT,
        "model": {"name": model_name, "config": model.config.to_dict()},
        "train": config.to_dict(),
        "data": data,
        "tokenizer": {
            "name": tokenizer.name,
            "kind": tokenizer.kind,
            "vocab_size": tokenizer.vocab_size,
        },
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "versions": versions(),
        "command": command,
    }


def _with_dtype(run: Run, name: str) -> Run:
    """The run with its arithmetic in place of `auto`, in what it writes about itself, too."""
    description = copy.deepcopy(run.description)
    for part in (description.get("train"), description.get("plan", {}).get("train")):
        if isinstance(part, dict) and "dtype" in part:
            part["dtype"] = name
    config = dataclasses.replace(run.config, dtype=name)
    return dataclasses.replace(run, config=config, description=description)


def run_in_folder(
    out: Path | str,
    run: Run,
    *,
    resume: bool = False,
    checkpoint: Checkpoint | None = None,
    sample: Sample | None = None,
    stop: Callable[[], bool] | None = None,
) -> Generator[TrainRecord, None, None]:
    """Train and write everything to `out`; yields the records once they are on the disk.

    resume: go on from `checkpoint`, or else from `newest_checkpoint` of `out`, which must be there;
      from the start if nothing was saved yet. Lines of metrics.jsonl that are later are dropped.
    checkpoint: with resume=False, where a fork of another run begins.
    Closing the generator saves a checkpoint. A folder that is deleted ends the run after a step.
    Only one process may write a run at a time.

    Raises ValueError if `out` holds another run, cannot be written (a full disk, too: the last
    checkpoint stays), or is being written by another process; and for what `train` refuses. A run
    that is refused before its first step writes nothing.
    """
    folder = Path(out)
    leads = distributed.current().leads
    if leads:
        prepare_folder(folder, resume=resume)
    distributed.current().wait()
    if resume and checkpoint is None:
        checkpoint = newest_checkpoint(folder)
        distributed.current().wait()  # until all have read it; later ones are then removed

    if checkpoint is not None and checkpoint.best and not has_best(folder, checkpoint):
        checkpoint = dataclasses.replace(checkpoint, best={})  # of a fork's parent, or deleted
    if checkpoint is None:
        run = _with_dtype(run, chosen_dtype(run.model, run.data, run.config))
    metrics: IO[str] | None = None

    def save(state: Checkpoint, keep: bool) -> None:
        if metrics is not None:
            _check_there(folder, metrics)
        with writing(f"a checkpoint in {folder}"):
            save_checkpoint(folder, state, keep=keep)
            if state.best.get("step") == state.step:
                write_best(folder, state.step)

    def asked_to_stop() -> bool:
        if metrics is not None:
            _check_there(folder, metrics)
        return stop is not None and stop()

    records = train(
        run.model,
        run.data,
        run.config,
        resume=checkpoint,
        save=save,
        sample=sample,
        stop=asked_to_stop,
    )
    if not leads:
        yield from records
        return
    with writing(f"the run in {folder}"):
        metrics = _open_metrics(folder / METRICS)
    with metrics, contextlib.closing(records):
        with writing(f"the run in {folder}"):
            forget_after(folder, checkpoint.step if checkpoint else 0)
            _keep_until(metrics, checkpoint.step if checkpoint else 0)
            write_whole(folder / TOKENIZER, run.tokenizer.save)
            write_json(folder / CONFIG, run.description)
            write_settings(folder, run.description)
            settle_best(folder, checkpoint)
            if resume and checkpoint is not None:
                settle(folder, checkpoint.step)
            (folder / WRONG).unlink(missing_ok=True)
        try:
            for record in records:
                _check_there(folder, metrics)
                with writing(str(folder / METRICS)):
                    metrics.write(record.to_json() + "\n")
                    metrics.flush()
                yield record
        except Diverged as error:
            with writing(f"the run in {folder}"):
                write_json(folder / WRONG, {"step": error.step, "line": str(error)})
            raise


def _check_there(folder: Path, metrics: IO[str]) -> None:
    """Raise ValueError where a run's folder was deleted: it is not written back."""
    try:
        there = os.path.samestat((folder / METRICS).stat(), os.fstat(metrics.fileno()))
    except FileNotFoundError:
        there = False
    if not there:
        raise ValueError(f"{folder} was deleted while the run went on; the run has ended")


def prepare_folder(folder: Path, *, resume: bool) -> None:
    """Make the folder, or with `resume` look that it is there.

    Raises ValueError if it holds another run, cannot be written, or is not there.
    """
    with writing(str(folder)):
        if folder.exists() and not folder.is_dir():
            raise ValueError(f"{folder} is a file, not a folder")
        there = folder.iterdir() if folder.is_dir() and not resume else ()
        if any(not path.name.startswith(TEMPORARY) for path in there):  # what was killed goes
            raise ValueError(f"{folder} already holds a run or other files; choose another folder")
        if resume and not folder.exists():  # it was deleted: no run is wanted there
            raise ValueError(f"there is no folder {folder} with a run to continue")
        folder.mkdir(parents=True, exist_ok=True)
        remove_unfinished(folder)
        probe = folder / ".tmp-probe"
        probe.write_bytes(b"")
        probe.unlink()


def _open_metrics(path: Path) -> IO[str]:
    """The metrics file, open for adding lines and locked against a second writer."""
    file = path.open("a+", encoding="utf-8")
    if not locks.lock(file):
        file.close()
        raise ValueError(f"{path.parent} is being written by another process")
    return file


def _keep_until(file: IO[str], step: int) -> None:
    """Cut the metrics after the last complete line of at most `step`.

    Raises CheckpointError for a line that is no record.
    """
    file.seek(0)
    end = 0
    try:
        while line := file.readline():
            if not line.endswith("\n") or json.loads(line)["step"] > step:
                break
            end = file.tell()
    except (ValueError, TypeError, KeyError) as error:
        raise CheckpointError(
            f"{file.name} is damaged: one of its lines is not a record"
        ) from error
    file.seek(end)
    file.truncate()


@dataclass(frozen=True)
class Trained:
    """A trained model with its tokenizer and the description of its run."""

    model: LanguageModel
    tokenizer: Any
    description: dict[str, Any]
    notes: tuple[str, ...] = ()  # such as: the newest checkpoint is damaged, the one before is used


def load_trained(folder: Path | str, step: int | None = None, *, merged: bool = True) -> Trained:
    """The model of a run or of a bundled checkpoint, ready for use (`eval`, float32, CPU).

    step: of which kept checkpoint; None = the newest that is sound; `notes` says if it is not the
      last, or not what stands in model.safetensors, and if the run went wrong after it.
    merged: of a run with adapters, add them into its matrices; else they stay beside them.
    Raises CheckpointError naming the file that is absent, damaged or another model's.
    """
    path = Path(folder)
    if not path.is_dir():
        raise CheckpointError(f"there is no checkpoint folder {path}")
    description = read_description(path)
    weights = newest_weights(path) if step is None else weights_at(path, step)
    if weights is None:
        if (path / MANIFEST).exists():
            check_manifest(path)
        weights = Weights(load_finite(path / MODEL), str(path / MODEL))
    source = Path(weights.source)
    file = source / MODEL if source.is_dir() else source
    try:
        model = build_to_fit(description, file, str(path / CONFIG))
    except CheckpointError:
        if step is None and not source.exists():  # a run that goes on has put a newer one there
            return load_trained(folder, merged=merged)
        raise
    tensors = weights.tensors
    if QUANTIZATION in description:
        tensors = full_tensors(tensors, description, weights.source)
    load_weights(model, tensors, weights.source)
    if LORA in description and merged:  # from here on it is a model like any other
        without_adapters(model).requires_grad_(True)
        del description[LORA]
    tokenizer = read_tokenizer(path)
    check_vocabulary(tokenizer, description, path)
    line = went_wrong(path) if step is None else ""
    notes = (
        (f"this run went wrong: {line}; its weights are of its last checkpoint",) if line else ()
    )
    return Trained(model.eval(), tokenizer, description, (*weights.notes, *notes))
