"""What a fine-tuning left in its folder, ready for use: a model that writes, or a classifier.

Nothing that it was trained or scored on is made again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from llmviz.finetuning.adapters import base_digest
from llmviz.finetuning.classifier import Classifier, classifier, encode, predict
from llmviz.finetuning.dpo import Preference
from llmviz.finetuning.lora import add_adapter, without_adapters
from llmviz.finetuning.plan import CLASSES, PREFER, TuningPlan
from llmviz.finetuning.runs import read_tuning
from llmviz.models import GPT
from llmviz.pretrained import load_with_notes
from llmviz.tokenizers import Tokenizer
from llmviz.training.errors import CheckpointError
from llmviz.training.newest_weights import newest_weights
from llmviz.training.reading import CONFIG
from llmviz.training.runs import Trained
from llmviz.training.tensors import load_weights


@dataclass(frozen=True)
class Classes:
    """A trained classifier with its tokenizer and the names of its classes."""

    model: Classifier
    tokenizer: Tokenizer
    names: tuple[str, ...]

    def probabilities(self, texts: list[str]) -> Tensor:
        """How probable each class is for each text, (N, K)."""
        return predict(self.model, encode(self.tokenizer, texts, self.model.context_length))


def load_classes(folder: Path) -> Classes:
    """The classifier of a fine-tuning. Raises CheckpointError where it is damaged or none."""
    plan, description = _plan_of(folder)
    if plan.kind != CLASSES:
        raise CheckpointError(f"{folder} was trained for {plan.task}; it tells no classes apart")
    names = description.get("data", {}).get("classes")
    if not isinstance(names, list) or not all(isinstance(one, str) for one in names):
        raise CheckpointError(f"{folder / CONFIG} does not name its classes")
    trained = _base(folder, plan, description)
    assert isinstance(trained.model, GPT)
    model = classifier(trained.model, len(names), plan.way, plan.train.seed, plan.lora)
    _take_weights(folder, model.head if plan.way == "head" else model)
    return Classes(model.eval(), trained.tokenizer, tuple(names))


def load_tuned(folder: Path, *, merged: bool = True) -> Trained:
    """The model of a fine-tuning that writes, an adapter's change added into its matrices.

    merged: if not, an adapter stays beside them, and the description names its `base`.
    Raises CheckpointError where it is damaged, or a classifier, which writes nothing.
    """
    plan, description = _plan_of(folder)
    if plan.kind == CLASSES:
        raise CheckpointError(f"{folder} holds a classifier; `classify` reads it")
    trained = _base(folder, plan, description)
    model = trained.model
    if plan.way == "lora":
        add_adapter(model, plan.lora, seed=plan.train.seed)
    _take_weights(folder, Preference(model, plan.beta) if plan.kind == PREFER else model)
    if plan.way == "lora" and merged:
        without_adapters(model)
        model.requires_grad_(True)
    about = trained.description | {"command": description.get("command", "")}
    if not merged:
        about["base"] = plan.base
    return replace(trained, model=model.eval(), description=about)


def _plan_of(folder: Path) -> tuple[TuningPlan, dict[str, Any]]:
    description = read_tuning(folder)
    try:
        return TuningPlan.from_dict(description["plan"]), description
    except (KeyError, TypeError, ValueError) as error:
        raise CheckpointError(f"{folder / CONFIG} describes no fine-tuning: {error}") from error


def _base(folder: Path, plan: TuningPlan, description: dict[str, Any]) -> Trained:
    """The model that was fine-tuned, as it was then."""
    trained, _ = load_with_notes(plan.base)
    base = description.get("base")
    if not isinstance(base, dict) or base.get("sha256") != base_digest(trained.model):
        raise CheckpointError(f"the base {plan.base} is not the one that {folder} began from")
    return trained


@torch.no_grad()
def _take_weights(folder: Path, module: nn.Module) -> None:
    weights = newest_weights(folder)
    if weights is None:
        raise CheckpointError(f"{folder} holds no checkpoint yet")
    load_weights(module, weights.tensors, weights.source)
