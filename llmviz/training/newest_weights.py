"""What a run goes on from, and its newest weights, also where files are damaged or gone.

1. The newest sound checkpoint: a damaged one is passed over for the one before it.
2. Without any checkpoint the weights in OUT/model.safetensors, with a fresh optimizer.

Notes say whatever is not as it should be.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeVar

from torch import Tensor

from llmviz.training.checkpoint_step import progress_of_weights
from llmviz.training.checkpoints import Checkpoint, load_checkpoint
from llmviz.training.errors import CheckpointError
from llmviz.training.files import check_manifest, sha256
from llmviz.training.reading import MODEL, steps_saved
from llmviz.training.tensors import load_finite

Read = TypeVar("Read")


class Weights(NamedTuple):
    """Weights and buffers by name, the folder they are of, and what the reader should know."""

    tensors: dict[str, Tensor]
    source: str
    notes: tuple[str, ...] = ()


def newest_step(folder: Path | str) -> int | None:
    """The step of what was saved last, sound or not; None before anything is saved.

    Raises CheckpointError as `newest_checkpoint` for weights of an unknown step.
    """
    out, saved = Path(folder), steps_saved(folder)
    if saved:
        return saved[-1][0]
    return progress_of_weights(out)[0] if (out / MODEL).is_file() else None


def newest_checkpoint(folder: Path | str) -> Checkpoint | None:
    """The state that the run in `folder` goes on from; None before anything is saved.

    Its notes say where a damaged checkpoint was passed over, where OUT/model.safetensors holds
    other weights, and where there is no checkpoint, so that the optimizer begins anew.
    Raises CheckpointError where all checkpoints are damaged, and for weights of an unknown step.
    """
    out = Path(folder)
    sound = _newest_sound(out, load_checkpoint)
    if sound is not None:
        return dataclasses.replace(sound[0], notes=sound[1])
    if not (out / MODEL).is_file():
        return None
    step, tokens, seconds = progress_of_weights(out)
    note = (
        f"there is no checkpoint in {out}: the run goes on from step {step} with the weights in "
        f"{MODEL} and an optimizer that begins anew"
    )
    weights = load_finite(out / MODEL)
    return Checkpoint(step, tokens, seconds, weights, {}, source=str(out / MODEL), notes=(note,))


def newest_weights(folder: Path | str) -> Weights | None:
    """The weights of the newest checkpoint whose weights are sound; None without a checkpoint.

    Its other files, such as the optimizer's, need not be there.
    Raises CheckpointError where the weights of all checkpoints are damaged.
    """
    sound = _newest_sound(Path(folder), _weights_in)
    return None if sound is None else sound[0]._replace(notes=sound[1])


def weights_at(folder: Path | str, step: int) -> Weights:
    """The weights of the checkpoint of `step`; CheckpointError if it is absent or damaged."""
    saved = dict(steps_saved(folder))
    if step not in saved:
        listed = ", ".join(map(str, saved)) or "none"
        raise CheckpointError(f"{folder} has no checkpoint of step {step}; it has {listed}")
    return _weights_in(saved[step])


def _weights_in(checkpoint: Path) -> Weights:
    check_manifest(checkpoint, [MODEL])
    weights = load_finite(checkpoint / MODEL)
    return Weights(weights, str(checkpoint))


def _newest_sound(out: Path, read: Callable[[Path], Read]) -> tuple[Read, tuple[str, ...]] | None:
    """What `read` makes of the newest checkpoint that it can read, and notes; None without any."""
    damages: list[CheckpointError] = []
    for step, path in reversed(steps_saved(out)):
        try:
            content = read(path)
        except CheckpointError as error:
            if not path.is_dir():  # a run that goes on has just put a newer one in its place
                return _newest_sound(out, read)
            damages.append(error)
            continue
        if damages:
            return content, (f"{damages[0]}; the checkpoint of step {step} is used instead",)
        if _differs(out / MODEL, path / MODEL):
            return content, (f"{out / MODEL} holds other weights; those of {path} are used",)
        return content, ()
    if damages:
        raise damages[0]
    return None


def _differs(plain: Path, checked: Path) -> bool:
    """Whether a run's plain file of weights, where there is one, is not its checkpoint's."""
    try:
        if not plain.is_file() or plain.samefile(checked):
            return False
        return plain.stat().st_size != checked.stat().st_size or sha256(plain) != sha256(checked)
    except FileNotFoundError:  # replaced at this moment by the process that trains
        return False
    except OSError as error:
        raise CheckpointError(f"{plain} cannot be read: {error.strerror or error}") from error
