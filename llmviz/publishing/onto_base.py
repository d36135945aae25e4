"""An adapter in the layout of the library peft, added into the model that it changes.

Its matrices have the names of the transformers model, as `export --to peft` writes them, or ours,
as `finetune` does.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import torch

from llmviz.finetuning.adapters import BASE, CONFIG, WEIGHTS, config_of, load_adapter, pairs_of
from llmviz.models.gpt import GPT
from llmviz.nn.finite import wrong_tensor
from llmviz.nn.lora import without_adapters
from llmviz.publishing.form import gpt_of, stored_tensors
from llmviz.training.errors import CheckpointError
from llmviz.training.files import read_json
from llmviz.training.run_folder import Trained
from llmviz.training.tensors import load_tensors

WEIGHT = ".weight"
READ_HERE = ("fan_in_fan_out", "use_rslora")


def with_adapter(folder: Path, find: Callable[[str], Trained]) -> Trained:
    """Return the base of an adapter with its change added: W + s·B·A.

    find: gives the model of the name that the adapter has for its base.
    Raises ValueError for an adapter of another kind, a base that is not to be had, and matrices
    that are not those of the base.
    Reference: Hu et al. 2021, section 4.1; Kalajdzievski 2023 for s = α/√r (use_rslora).
    """
    about = read_json(folder / CONFIG)
    base = about.get("base_model_name_or_path")
    if not isinstance(base, str) or not base:
        raise CheckpointError(f"{folder / CONFIG} names no base_model_name_or_path")
    config = config_of(about, folder / CONFIG, READ_HERE)
    trained = find(base)
    model = gpt_of(trained)
    if (folder / BASE).exists():  # of ours: under our names, and with the digest of its base
        load_adapter(model, folder)
        without_adapters(model)
        return trained
    scale = config.alpha / (math.sqrt(config.rank) if about.get("use_rslora") else config.rank)
    tensors = load_tensors(folder / WEIGHTS)
    if wrong := wrong_tensor(tensors.items()):
        raise CheckpointError(f"{folder / WEIGHTS} cannot be computed with: {wrong}")
    _add(model, pairs_of(tensors, folder / WEIGHTS), scale, folder / WEIGHTS)
    return trained


@torch.no_grad()
def _add(
    model: GPT, pairs: dict[str, tuple[torch.Tensor, torch.Tensor]], scale: float, source: Path
) -> None:
    known = {stored.name.removesuffix(WEIGHT): stored for stored in stored_tensors(model.config)}
    parameters = dict(model.named_parameters())
    for name, (a, b) in pairs.items():
        stored = known.get(name)
        if stored is None or stored.ours not in parameters:
            raise CheckpointError(f"{source} changes {name}, which its base does not have")
        rows = parameters[stored.ours][stored.rows]
        if a.shape[0] != b.shape[1] or (b.shape[0], a.shape[1]) != tuple(rows.shape):
            raise CheckpointError(
                f"{source} belongs to another base: {name} is {_size(rows)} here, its A is "
                f"{_size(a)} and its B {_size(b)}"
            )
        rows += scale * (b.float() @ a.float())


def _size(matrix: torch.Tensor) -> str:
    return " × ".join(map(str, matrix.shape))
