"""Where on a run's curve the weights in OUT/model.safetensors belong; torch is not needed."""

from __future__ import annotations

from pathlib import Path

from safetensors import SafetensorError

from llmviz.files.weights import open_weights
from llmviz.training.errors import CheckpointError
from llmviz.training.reading import METRICS, MODEL, last_record, read_metrics

STEP = "step"  # header entry: after how many updates the tensors were so


def read_header(path: Path) -> dict[str, str]:
    """What a safetensors file says of itself beside its tensors; CheckpointError if it is none."""
    try:
        with open_weights(path, "np") as file:
            return file.metadata() or {}
    except (SafetensorError, OSError) as error:
        raise CheckpointError(f"{path} is not a readable safetensors file: {error}") from error


def step_of_weights(out: Path) -> int:
    """The step of the weights in OUT/model.safetensors.

    The file says it; where it does not, it is that of the last line of the curve.
    Raises CheckpointError where there is no curve, or the file is none.
    """
    written, last = read_header(out / MODEL).get(STEP, ""), last_record(out)
    if last is None:
        raise _unknown_progress(out)
    return int(written) if written.isdecimal() else last["step"]


def progress_of_weights(out: Path) -> tuple[int, int, float]:
    """Step, tokens and seconds of the weights in OUT/model.safetensors.

    Raises CheckpointError as `step_of_weights`, and where the curve has no line of that step or of
    an earlier one.
    """
    step = step_of_weights(out)
    records = [record for record in read_metrics(out) if record.step <= step]
    if not records:
        raise _unknown_progress(out)
    return step, records[-1].tokens, records[-1].seconds


def _unknown_progress(out: Path) -> CheckpointError:
    return CheckpointError(
        f"{out} has no checkpoint, and {METRICS} does not say how far the weights in {MODEL} "
        "were trained; train into another folder"
    )
