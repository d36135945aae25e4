"""Weights and optimizer state as named tensors, in and out of safetensors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from torch import Tensor, nn

from llmviz.files.weights import open_weights, write_weights
from llmviz.files.whole import write_whole
from llmviz.nn.finite import wrong_tensor, wrong_type
from llmviz.training.checkpoint_step import STEP
from llmviz.training.errors import CheckpointError
from llmviz.training.files import parse_json

LONGEST_HEADER = 2**24  # bytes at the beginning of a file of weights
TIED = "tied"  # header entry: {alias: name} of tensors that are one and the same


def split_tied(tensors: dict[str, Tensor]) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Keep one name for each tensor that has several (tied weights), and say which were alike."""
    kept: dict[str, Tensor] = {}
    seen: dict[tuple[object, ...], str] = {}
    tied: dict[str, str] = {}
    for name, tensor in tensors.items():
        key = (tensor.data_ptr(), tuple(tensor.shape), tensor.stride(), tensor.dtype)
        if tensor.numel() and key in seen:
            tied[name] = seen[key]
        else:
            seen[key] = name
            kept[name] = tensor
    return kept, tied


def save_tensors(
    path: Path,
    tensors: dict[str, Tensor],
    dtype: torch.dtype | None = None,
    step: int | None = None,
) -> None:
    """Write tensors to a safetensors file, whole or not at all; equal tensors make equal files.

    dtype: what floating-point tensors are stored as; None keeps their own. A value too large for
    it is refused with ValueError. step: of the run, for the file's header.
    Raises OSError where the file cannot be written.
    """
    kept, tied = split_tied(tensors)
    plain = {}
    for name, tensor in kept.items():
        # clone: safetensors refuses views that share one block of memory
        stored = tensor.detach().to("cpu", copy=True).contiguous()
        if dtype is not None and stored.is_floating_point():
            lowered = stored.to(dtype)
            if not torch.isfinite(lowered).all() and torch.isfinite(stored).all():
                raise ValueError(f"{name} holds values that {dtype} cannot")
            stored = lowered
        plain[name] = stored
    header = {TIED: json.dumps(tied)}
    if step is not None:
        header[STEP] = str(step)

    def write(temporary: Path) -> None:
        temporary.touch()
        mode = temporary.stat().st_mode  # safetensors would leave the file to its owner alone
        write_weights(temporary, plain, header)
        _order_header(temporary)
        temporary.chmod(mode)

    write_whole(path, write)


def _order_header(path: Path) -> None:
    """Sort the names in a safetensors file's header, whose order the library leaves to chance.

    The header is JSON of which the first eight bytes say the length; spaces may stand at its end.
    Reference: the format's description in the safetensors project's README.
    """
    with path.open("r+b") as file:
        length = int.from_bytes(file.read(8), "little")
        names = json.loads(file.read(length))
        text = json.dumps(names, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        ordered = text.encode("utf-8").ljust(length)
        if len(ordered) == length:  # otherwise the two write a character differently
            file.seek(8)
            file.write(ordered)


def load_tensors(path: Path) -> dict[str, Tensor]:
    """Read a safetensors file, tied names included; CheckpointError if it is not one."""
    if not path.is_file():
        raise CheckpointError(f"{path} is missing")
    try:
        with open_weights(path) as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            tied = _tied(file.metadata(), tensors, path)
    except (SafetensorError, OSError) as error:
        raise CheckpointError(f"{path} is not a readable safetensors file: {error}") from error
    return tensors | {alias: tensors[name] for alias, name in tied.items()}


def load_finite(path: Path) -> dict[str, Tensor]:
    """The same of a model's weights; CheckpointError, too, where one is no number to compute with.

    The message names the first such tensor; see `wrong_tensor`.
    """
    tensors = load_tensors(path)
    if wrong := wrong_tensor(tensors.items()):
        raise CheckpointError(
            f"{path} cannot be computed with: {wrong}. Take an earlier checkpoint, or another run"
        )
    return tensors


def load_shapes(path: Path) -> Shapes:
    """The names and shapes that a safetensors file lists at its beginning, tied names included.

    Raises CheckpointError where the file is absent, or is none.
    """
    if not path.is_file():
        raise CheckpointError(f"{path} is missing")
    try:
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
        if length > LONGEST_HEADER:
            raise CheckpointError(f"{path} begins with a list of {length:,} bytes")
        with open_weights(path) as file:
            names = list(file.keys())
            listed = {name: tuple(file.get_slice(name).get_shape()) for name in names}
            tied = _tied(file.metadata(), listed, path)
    except (SafetensorError, OSError) as error:
        raise CheckpointError(f"{path} is not a readable safetensors file: {error}") from error
    return listed | {alias: listed[name] for alias, name in tied.items()}


def _tied(header: dict[str, str] | None, there: dict[str, Any], path: Path) -> dict[str, str]:
    """Which names stand for another tensor; CheckpointError where that one is absent."""
    try:
        tied = parse_json((header or {}).get(TIED, "{}").encode())
    except ValueError as error:
        raise CheckpointError(f"{path} is not a readable safetensors file: {error}") from error
    if not isinstance(tied, dict):
        raise CheckpointError(f"{path} is damaged: it does not say which tensors are tied")
    for alias, name in tied.items():
        if not isinstance(name, str) or name not in there:
            raise CheckpointError(f"{path} is damaged: {alias} is tied to {name}, which is absent")
    return tied


def load_weights(model: nn.Module, tensors: dict[str, Tensor], source: str) -> None:
    """Copy weights into a model; CheckpointError if another model's, or of no type for weights."""
    own = model.state_dict()
    check_shapes(shapes(own), shapes(tensors), source)
    for name, tensor in own.items():
        if tensor.is_floating_point() and (wrong := wrong_type(name, tensors[name])):
            raise CheckpointError(f"{source} cannot be computed with: {wrong}")
    model.load_state_dict(tensors)


Shapes = dict[str, tuple[int, ...]]


def shapes(tensors: dict[str, Tensor]) -> Shapes:
    """The shapes of tensors by name."""
    return {name: tuple(tensor.shape) for name, tensor in tensors.items()}


def check_shapes(own: Shapes, listed: Shapes, source: str) -> None:
    """Raise CheckpointError unless a model's tensors are the ones listed, by name and shape."""
    absent, extra = sorted(own.keys() - listed.keys()), sorted(listed.keys() - own.keys())
    if absent or extra:
        what = f"it lacks {absent[0]}" if absent else f"it has {extra[0]}, which the model lacks"
        raise CheckpointError(f"{source} belongs to another model than this one: {what}")
    for name, shape in listed.items():
        if shape != own[name]:
            raise CheckpointError(
                f"{source} belongs to another model than this one: {name} is {shape} there "
                f"and {own[name]} here"
            )


def optimizer_tensors(
    optimizer: torch.optim.Optimizer, names: dict[Tensor, str]
) -> dict[str, Tensor]:
    """The optimizer's state as `quantity/parameter` -> tensor, such as `exp_avg/wte.weight`."""
    return {
        f"{quantity}/{names[parameter]}": value
        for parameter, state in optimizer.state.items()
        for quantity, value in state.items()
        if isinstance(value, Tensor)
    }


def load_optimizer(
    optimizer: torch.optim.Optimizer,
    names: dict[Tensor, str],
    tensors: dict[str, Tensor],
    source: str,
) -> None:
    """Put back what `optimizer_tensors` gave; CheckpointError if parameters differ."""
    per_parameter: dict[str, dict[str, Tensor]] = {}
    for key, value in tensors.items():
        quantity, _, name = key.partition("/")
        per_parameter.setdefault(name, {})[quantity] = value
    wrong = sorted(per_parameter.keys() - set(names.values()))
    if wrong:
        raise CheckpointError(f"{source} holds the state of {wrong[0]}, which the model lacks")
    in_order = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    state = {
        index: per_parameter[names[parameter]]
        for index, parameter in enumerate(in_order)
        if names[parameter] in per_parameter
    }
    optimizer.load_state_dict(
        {"state": state, "param_groups": optimizer.state_dict()["param_groups"]}
    )
