"""What a fine-tuning left in its folder, ready for use: a model that writes.

Nothing that it was trained or scored on is made again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import nn

from llmviz.files.paths import HUB
from llmviz.finetuning.adapters import base_digest
from llmviz.finetuning.classifier import Classifier, classifier
from llmviz.finetuning.dpo import Preference
from llmviz.finetuning.plan import CLASSES, PREFER, TuningPlan, is_tuning, plan_of_tuning
from llmviz.nn.lora import add_adapter, without_adapters
from llmviz.runs.store import PREFIX, find_run, split_name
from llmviz.training.errors import CheckpointError
from llmviz.training.files import MANIFEST, check_manifest
from llmviz.training.newest_weights import Weights, newest_weights
from llmviz.training.reading import CONFIG, MODEL
from llmviz.training.run_folder import Trained
from llmviz.training.tensors import load_finite, load_weights

Find = Callable[[str], Trained]
"""The model of a name or a folder: `llmviz.pretrained.find_base`."""


def tuning_folder(name: str | Path) -> Path | None:
    """The folder of a fine-tuning that a name stands for; None for any other model."""
    called = str(name)
    if called.startswith(HUB):
        return None
    try:
        is_run = called.startswith(PREFIX)
        folder = find_run(split_name(called)[0]) if is_run else Path(called)
        return folder if is_tuning(folder) else None
    except (CheckpointError, OSError, ValueError):
        return None  # what opens it says why


def load_tuned(folder: Path, find: Find, *, merged: bool = True) -> Trained:
    """The model of a fine-tuning that writes, an adapter's change added into its matrices.

    find: gives the model that was tuned. merged: if not, an adapter stays beside them, and the
      description names its `base`.
    Raises CheckpointError where it is damaged, or a classifier, which writes nothing.
    """
    plan, description = plan_of_tuning(folder)
    if plan.kind == CLASSES:
        raise CheckpointError(f"{folder} holds a classifier; `classify` reads it")
    trained = base_of(folder, plan, description, find)
    model = trained.model
    if plan.way == "lora":
        add_adapter(model, plan.lora, seed=plan.train.seed)
    take_weights(folder, Preference(model, plan.beta) if plan.kind == PREFER else model)
    if plan.way == "lora" and merged:
        without_adapters(model)
        model.requires_grad_(True)
    about = trained.description | {"command": description.get("command", "")}
    if not merged:
        about["base"] = plan.base
    return replace(trained, model=model.eval(), description=about)


def load_classifier(folder: Path, find: Find) -> tuple[Classifier, Trained, tuple[str, ...]]:
    """The classifier of a fine-tuning, its base with the tokenizer, and the names of its classes.

    Raises CheckpointError where it is damaged or none.
    """
    plan, description = plan_of_tuning(folder)
    if plan.kind != CLASSES:
        raise CheckpointError(f"{folder} was trained for {plan.task}; it tells no classes apart")
    names = description["data"].get("classes")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise CheckpointError(f"{folder / CONFIG} does not name its classes")
    trained = base_of(folder, plan, description, find)
    model = classifier(trained.model, len(names), plan.way, plan.train.seed, plan.lora)
    take_weights(folder, model.head if plan.way == "head" else model)
    return model.eval(), trained, tuple(names)


def load_body(folder: Path, find: Find) -> Trained:
    """The gpt in a classifier, without the head: an adapter's change is added into its matrices.

    Its "logits" are the hidden states that the head of classes reads. Raises as `load_classifier`.
    """
    model, trained, _ = load_classifier(folder, find)
    body = model.body
    without_adapters(body)
    return replace(trained, model=body.requires_grad_(True))


def base_of(folder: Path, plan: TuningPlan, description: dict[str, Any], find: Find) -> Trained:
    """The model that was fine-tuned, as it was then."""
    if tuning_folder(plan.base) == folder:
        raise CheckpointError(f"{folder} says that it began from itself")
    trained = find(plan.base)
    if description["base"]["sha256"] != base_digest(trained.model):
        raise CheckpointError(f"the base {plan.base} is not the one that {folder} began from")
    return trained


@torch.no_grad()
def take_weights(folder: Path, module: nn.Module) -> None:
    """Give a model the newest weights of a fine-tuning, or those beside its description."""
    weights = newest_weights(folder)
    if weights is None and (folder / MANIFEST).is_file():
        check_manifest(folder)
        weights = Weights(load_finite(folder / MODEL), str(folder / MODEL))
    if weights is None:
        raise CheckpointError(f"{folder} holds no checkpoint yet")
    load_weights(module, weights.tensors, weights.source)
