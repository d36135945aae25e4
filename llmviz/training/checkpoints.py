"""Checkpoints of a run: a folder each, complete or absent, however the process ends.

    OUT/checkpoints/step-000200/model.safetensors      weights and buffers
                               /optimizer.safetensors  what the optimizer remembers
                               /state.json             step, tokens, seconds, settings, versions
                               /manifest.json          sha256 of the three
    OUT/model.safetensors                              the newest weights once more (a hard link)

A checkpoint is written under a temporary name, forced to the disk, and renamed as a whole; only
then is the one before it removed. The random state needs no file: batches, dropout and samples are
functions of (seed, step).
"""

from __future__ import annotations

import os
import platform
import shutil
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from llmviz.files.whole import sync, temporary_beside
from llmviz.training.checkpoint_step import STEP, read_header
from llmviz.training.errors import CheckpointError
from llmviz.training.files import (
    check_manifest,
    read_json,
    remove_folder,
    remove_unfinished,
    write_json,
    write_manifest,
)
from llmviz.training.reading import CHECKPOINT_FORMAT as FORMAT
from llmviz.training.reading import MODEL, OPTIMIZER, STATE, step_folder, steps_saved
from llmviz.training.tensors import load_finite, load_tensors, save_tensors
from llmviz.version import __version__

__all__ = [
    "MODEL",
    "Checkpoint",
    "forget_after",
    "load_checkpoint",
    "publish",
    "save_checkpoint",
    "steps_saved",
    "versions",
]

LOSS_SCALE = ("scale", "good_steps")  # what `LossScale.state` returns
BEST = ("step", "loss", "since")  # what `Lowest.state` returns


@dataclass(frozen=True)
class Checkpoint:
    """All that a run needs to go on as if it had never stopped."""

    step: int  # updates done
    tokens: int  # targets seen so far
    seconds: float  # training time so far, pauses not counted
    model: dict[str, Tensor]  # weights and buffers by name
    optimizer: dict[str, Tensor]  # state by `quantity/parameter`
    settings: dict[str, Any] = field(default_factory=dict)  # TrainConfig, with nothing left on auto
    environment: dict[str, Any] = field(default_factory=dict)  # versions, threads, dtype, device
    loss_scale: dict[str, float] = field(default_factory=dict)  # of a run in float16
    best: dict[str, float] = field(
        default_factory=dict
    )  # the lowest validation loss: `Lowest.state`
    source: str = "memory"  # where it came from, for messages
    notes: tuple[str, ...] = ()  # what the reader of the run should know; not saved


def versions() -> dict[str, str]:
    """The versions that a run's exact numbers depend on."""
    return {
        "llmviz": __version__,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": np.__version__,
        "machine": platform.machine(),
    }


def save_checkpoint(folder: Path | str, checkpoint: Checkpoint, *, keep: bool = False) -> Path:
    """Write a checkpoint of the run in `folder` and return its own folder.

    keep: it stays when later ones are written (a snapshot). Others are removed once a newer one
    is complete. If it cannot be written, as where the folder is not there, the earlier one stays
    and OSError is raised.
    """
    out = Path(folder)
    final = step_folder(out, checkpoint.step)
    parent = final.parent
    parent.mkdir(exist_ok=True)  # not `out`: a run whose folder was deleted does not bring it back
    remove_unfinished(parent)
    if not final.exists():
        temporary = temporary_beside(final)
        try:
            temporary.mkdir()
            save_tensors(temporary / MODEL, checkpoint.model, None, checkpoint.step)
            save_tensors(temporary / OPTIMIZER, checkpoint.optimizer)
            state = {
                "format": FORMAT,
                "step": checkpoint.step,
                "tokens": checkpoint.tokens,
                "seconds": checkpoint.seconds,
                "kept": keep,
                "settings": checkpoint.settings,
                "environment": checkpoint.environment,
            }
            if checkpoint.loss_scale:
                state["loss_scale"] = checkpoint.loss_scale
            if checkpoint.best:
                state["best"] = checkpoint.best
            write_json(temporary / STATE, state)
            write_manifest(temporary, [MODEL, OPTIMIZER, STATE])
            sync(temporary)
            temporary.rename(final)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
        sync(parent)
    publish(final / MODEL, out / MODEL)
    _remove_older(out, checkpoint.step)
    return final


def _remove_older(out: Path, step: int) -> None:
    for earlier, folder in steps_saved(out):
        if earlier < step and not _is_kept(folder):
            remove_folder(folder)


def settle(folder: Path, step: int) -> None:
    """Do for a whole checkpoint of a run what a process that was killed behind it did not do.

    The run gets its weights, unless it has those of a later step or of an unknown one, and older
    checkpoints go.
    """
    source = step_folder(folder, step) / MODEL
    if not source.is_file():
        return
    try:
        there = read_header(folder / MODEL).get(STEP, "")
    except CheckpointError:  # none, or what is damaged
        there = "0"
    if there.isdecimal() and int(there) < step:
        publish(source, folder / MODEL)
    _remove_older(folder, step)


def _is_kept(checkpoint: Path) -> bool:
    """Whether a checkpoint is to stay for good; a damaged one, which does not tell, stays too."""
    try:
        return bool(read_json(checkpoint / STATE).get("kept"))
    except CheckpointError:
        return True


def publish(source: Path, target: Path) -> None:
    """Let `target` be the same file as `source` (a copy where links are not to be had)."""
    temporary = temporary_beside(target)
    try:
        try:
            os.link(source, temporary)
        except OSError:
            shutil.copyfile(source, temporary)
            sync(temporary)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
    sync(target.parent)


def load_checkpoint(folder: Path | str, step: int | None = None) -> Checkpoint:
    """Read a run's newest checkpoint, or that of `step`, after checking every sha256.

    folder: a run, or one checkpoint inside it.
    Raises CheckpointError naming the file that is absent, damaged or not ours. It does not fall
    back to an older checkpoint: `newest_checkpoint` does.
    """
    path = Path(folder)
    if not (path / STATE).exists():
        saved = steps_saved(path)
        if not saved:
            raise CheckpointError(f"{path} holds no checkpoint to resume from")
        if step is not None and step not in dict(saved):
            listed = ", ".join(str(number) for number, _ in saved)
            raise CheckpointError(f"{path} has no checkpoint of step {step}; it has {listed}")
        path = dict(saved)[step if step is not None else saved[-1][0]]
    check_manifest(path)
    state = read_json(path / STATE)
    if state.get("format") != FORMAT:
        raise CheckpointError(f"{path / STATE} is not a {FORMAT} file")
    scale, best = state.get("loss_scale"), state.get("best")
    try:
        return Checkpoint(
            step=int(state["step"]),
            tokens=int(state["tokens"]),
            seconds=float(state["seconds"]),
            model=load_finite(path / MODEL),
            optimizer=load_tensors(path / OPTIMIZER),
            settings=state["settings"],
            environment=state["environment"],
            loss_scale={key: float(scale[key]) for key in LOSS_SCALE} if scale else {},
            best={key: float(best[key]) for key in BEST} if best else {},
            source=str(path),
        )
    except (KeyError, TypeError) as error:
        raise CheckpointError(f"{path / STATE} lacks {error}") from error


def forget_after(folder: Path | str, step: int) -> None:
    """Remove checkpoints later than `step`: a resumed run will write that future anew.

    A damaged one, of which something may still be saved by hand, is only put aside under a name
    that is not a checkpoint's.
    """
    for number, path in steps_saved(folder):
        if number <= step:
            continue
        try:
            check_manifest(path)
        except CheckpointError:
            path.rename(path.with_name(f"damaged-{path.name}-{uuid.uuid4().hex[:8]}"))
        else:
            remove_folder(path)
