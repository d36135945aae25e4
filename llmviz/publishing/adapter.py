"""`export --to peft`: the adapter of a run, with the module names of the transformers model.

Queries, keys and values are one matrix here and three in a Llama: each of the three gets all of A
and its own rows of B, which is the same change.
"""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor

from llmviz.files.whole import writing
from llmviz.finetuning.adapters import PREFIX, A, B, write_adapter
from llmviz.finetuning.tuned import load_tuned, tuning_folder
from llmviz.nn.lora import Adapter, LoraLinear, lora_layers
from llmviz.nn.lora_config import LoraConfig
from llmviz.pretrained import find_base
from llmviz.publishing.form import gpt_of, published_config, stored_tensors
from llmviz.runs.named import find_checkpoint
from llmviz.runs.store import PREFIX as RUN
from llmviz.runs.store import find_run, split_name
from llmviz.training.files import removed_if_empty, whole_folder
from llmviz.training.reading import LORA, read_description
from llmviz.training.run_folder import Trained, load_trained, prepare_folder

WEIGHT = ".weight"


def export_adapter(name: str, folder: Path, dtype: torch.dtype = torch.float32) -> tuple[int, str]:
    """Write the adapter of a run or a fine-tuning to a new folder; return its rank and its base.

    Raises ValueError for what has no adapter, a base without a published form, and a folder that
    holds files already or cannot be written.
    """
    trained, base = _with_adapter(name)
    model = gpt_of(trained)
    published_config(model.config)  # it must have a form
    layers = lora_layers(model)
    tensors: dict[str, Tensor] = {}
    targets, transposed = [], False
    for stored in stored_tensors(model.config):
        path = stored.ours.removesuffix(WEIGHT)
        if path not in layers or not stored.ours.endswith(WEIGHT):
            continue
        theirs, adapter = stored.name.removesuffix(WEIGHT), _adapter_of(layers[path])
        tensors[f"{PREFIX}{theirs}{A}"] = adapter.A.detach().clone()
        tensors[f"{PREFIX}{theirs}{B}"] = adapter.B.detach()[stored.rows].clone()
        targets.append(theirs)
        transposed = transposed or stored.transposed
    first = _adapter_of(next(iter(layers.values())))
    rank = first.A.shape[0]
    with removed_if_empty(folder):
        prepare_folder(folder, resume=False)
        with writing(str(folder)), whole_folder(folder) as new:
            write_adapter(
                new,
                tensors,
                base,
                LoraConfig(rank, round(first.scale * rank, 9), tuple(targets)),
                dtype=dtype,
                task_type="CAUSAL_LM",
                fan_in_fan_out=transposed,
            )
    return rank, base


def _adapter_of(layer: LoraLinear) -> Adapter:
    adapter = layer.beside
    assert adapter is not None
    return adapter


def _with_adapter(name: str) -> tuple[Trained, str]:
    """The model with its adapter beside its matrices, and the name of what it changes."""
    folder = tuning_folder(name)
    if folder is not None:
        trained = load_tuned(folder, find_base, merged=False)
        if not lora_layers(trained.model):
            raise ValueError(f"{name} was not tuned with --way lora, so it has no adapter")
        return trained, str(trained.description["base"])
    path = find_run(split_name(name)[0]) if name.startswith(RUN) else find_checkpoint(name)
    description = read_description(path)
    if LORA not in description:
        raise ValueError(f"{name} was not trained with --lora, so it has no adapter")
    step = split_name(name)[1] if name.startswith(RUN) else None
    return load_trained(path, step, merged=False), str(description["plan"]["base"])
