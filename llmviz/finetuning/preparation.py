"""A fine-tuning from its plan: the base, the data, what is trained and how it is scored."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from llmviz.finetuning import fewshot
from llmviz.finetuning.adapters import base_digest
from llmviz.finetuning.classifier import (
    Classifier,
    accuracy,
    balanced_accuracy,
    balanced_weights,
    classifier,
    confusion,
    encode,
    predict,
    prepare_classes,
)
from llmviz.finetuning.dpo import Preference, prepare_pairs
from llmviz.finetuning.instructions import (
    Instruction,
    instructions,
    prepare_instructions,
    replies,
)
from llmviz.finetuning.labels import TASKS as CLASS_TASKS
from llmviz.finetuning.labels import Labelled, from_csv, stories
from llmviz.finetuning.plan import CLASSES, FORMAT, INSTRUCTIONS, PREFER, RULES, TuningPlan
from llmviz.finetuning.preferences import pairs
from llmviz.models import GPT, build
from llmviz.models.base import LanguageModel
from llmviz.models.catalogue import able
from llmviz.models.memory_limits import check_memory
from llmviz.models.training_bytes import OPTIMIZER_NUMBERS
from llmviz.nn.lora import add_adapter, trained_parameters
from llmviz.nn.outline import outlined
from llmviz.pretrained import bundled, find_base, read_card
from llmviz.training.checkpoints import versions
from llmviz.training.estimate import FLOAT, saved_bytes
from llmviz.training.evaluate import evaluate_documents
from llmviz.training.run_folder import Run

PLAIN_STORIES = 100  # that what was forgotten is measured on
ROWS_LOOKED_AT = 16  # of a batch, to see how long they are
TEST_QUESTIONS = 120  # questions that a card's score is over


@dataclass(frozen=True)
class Tuning:
    """A fine-tuning that is ready to start.

    model: a Classifier, or the GPT that learns to write otherwise. run: what `run_in_folder` takes;
    its module may be a part of the model (a head) or hold it (the loss of DPO).
    scores: measures the model as it is at the moment, on examples it is not trained on.
    """

    plan: TuningPlan
    model: nn.Module
    run: Run
    scores: Callable[[], dict[str, Any]]

    @property
    def body(self) -> nn.Module:
        """The GPT whose matrices an adapter changes."""
        return self.model.body if isinstance(self.model, Classifier) else self.model


def prepare(plan: TuningPlan, command: str = "") -> Tuning:
    """Load the base, make the data, freeze what the plan says.

    Raises ValueError for a base that is not there or no gpt, for data that cannot be trained on
    (see `labels`), and where memory lacks.
    """
    found = find_base(plan.base)
    base, tokenizer, kind = found.model, found.tokenizer, found.description["model"]["name"]
    # BERT is built like a GPT, but sees both sides: nothing here trains it.
    if not isinstance(base, GPT) or not able(kind, "next_token"):
        kinds = {name: read_card(name)["model"] for name in bundled()}
        fit = ", ".join(name for name in kinds if able(kinds[name], "next_token", "attention"))
        raise ValueError(f"base must be a gpt, such as {fit}; {plan.base} is a {kind}")
    digest = base_digest(base)  # before anything is put beside its matrices
    model, module, data, scores, about = _PREPARE[plan.kind](plan, base, tokenizer)
    _check_room(plan, base, module, data)
    description = {
        "format": FORMAT,
        "plan": plan.to_dict(),
        "base": {"name": plan.base, "sha256": digest},
        "data": about,
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "trained_parameters": trained_parameters(model),
        "versions": versions(),
        "command": command,
        "model": {"name": "gpt", "config": base.config.to_dict()},
    }
    return Tuning(plan, model, Run(module, tokenizer, data, plan.train, description), scores)


def _check_room(plan: TuningPlan, base: GPT, module: nn.Module, data: Any) -> None:
    """Raise ValueError, with both numbers, where training needs more memory than is free.

    A few rows are drawn to see how long they are, and the step is laid out without memory.
    """
    rows = min(plan.train.batch_size, ROWS_LOOKED_AT)
    first = data.batch(1, rows)[0]
    if first.is_floating_point():  # what the frozen model made of the texts, for a head alone
        step = first.nbytes
    else:
        ids = first.reshape(-1, first.shape[-1]).to("meta")
        with outlined():
            step = saved_bytes(build("gpt", base.config).train(), (ids, ids))
    state = FLOAT * trained_parameters(module) * (1 + OPTIMIZER_NUMBERS[plan.train.optimizer])
    check_memory(state + step * plan.train.batch_size // rows, "this fine-tuning")


Prepared = tuple[nn.Module, nn.Module, Any, Callable[[], dict[str, Any]], dict[str, Any]]


def _classes(plan: TuningPlan, base: GPT, tokenizer: Any) -> Prepared:
    train, test = _labelled(plan)
    weights = balanced_weights(train.labels, len(train.names)) if plan.balanced else None
    model = classifier(base, len(train.names), plan.way, plan.train.seed, plan.lora, weights)
    module, data = prepare_classes(model, tokenizer, train, test, plan.way, plan.train.seed)

    def scores() -> dict[str, Any]:
        encoded = encode(tokenizer, test.texts, model.context_length)
        table = confusion(test.labels, predict(model, encoded).argmax(1), len(test.names))
        return {
            "accuracy": accuracy(table),
            "balanced_accuracy": balanced_accuracy(table),
            "confusion": table.tolist(),
        }

    about = {
        "classes": list(train.names),
        "counts": train.counts,
        "tested_on": len(test.texts),
        "sha256": _digest([*train.texts, *test.texts]),
    }
    return model, module, data, scores, about


def _labelled(plan: TuningPlan) -> tuple[Labelled, Labelled]:
    """Training and test texts; of a table, at most as many as the plan says."""
    if plan.task in CLASS_TASKS:
        whole = stories(plan.task, plan.examples + plan.test_examples)
        return whole.split(plan.test_examples / len(whole.texts), plan.train.seed)
    train, test = from_csv(plan.task).split(0.2, plan.train.seed)
    if plan.examples < len(train.texts):
        train = train.first(plan.examples, plan.train.seed)
    return train, test


def _freeze(plan: TuningPlan, base: GPT) -> None:
    """Put an adapter beside a model that writes, where the plan says so."""
    if plan.way == "lora":
        add_adapter(base, plan.lora, seed=plan.train.seed)


def _instructions(plan: TuningPlan, base: GPT, tokenizer: Any) -> Prepared:
    examples = instructions(plan.examples + plan.test_examples)
    train, test = examples[: plan.examples], examples[plan.examples :]
    context, seed = base.context_length, plan.train.seed
    data = prepare_instructions(tokenizer, context, train, test, plan.mix, seed)
    _freeze(plan, base)
    plain = [example.story for example in test[:PLAIN_STORIES]]
    before = evaluate_documents(base, tokenizer, plain).per_token
    about = {"plain_loss_before": before, "sha256": _digest(example.prompt for example in examples)}

    def scores() -> dict[str, Any]:
        return {
            **share_right(base, tokenizer, test[:TEST_QUESTIONS]),
            "plain_loss_before": before,
            "plain_loss_after": evaluate_documents(base, tokenizer, plain).per_token,
        }

    return base, base, data, scores, about


def share_right(
    model: LanguageModel, tokenizer: Any, examples: Sequence[Instruction]
) -> dict[str, Any]:
    """The share of questions that a model answers right, of all and of each kind."""
    right = [reply.right for reply in replies(model, tokenizer, examples)]
    kinds: dict[str, list[bool]] = {example.kind: [] for example in examples}
    for example, is_right in zip(examples, right, strict=True):
        kinds[example.kind].append(is_right)
    by_kind = {kind: sum(answers) / len(answers) for kind, answers in kinds.items()}
    return {"right": sum(right) / len(right), "right_by_kind": by_kind}


def _preferences(plan: TuningPlan, base: GPT, tokenizer: Any) -> Prepared:
    drawn = pairs(plan.task, plan.examples + plan.test_examples)
    train, test = drawn[: plan.examples], drawn[plan.examples :]
    _freeze(plan, base)
    data = prepare_pairs(base, tokenizer, train, test, plan.train.seed)
    module = Preference(base, plan.beta)
    about = {"sha256": _digest(pair.story + pair.better for pair in drawn)}

    @torch.no_grad()
    def scores() -> dict[str, Any]:
        base.eval()
        batches = data.validation_batches(16, 0)
        margins = torch.cat([module(*batch)[0] for batch in batches])
        return {
            "preferred": float((margins > 0).double().mean()),
            "margin": float(margins.mean()),
        }

    return base, module, data, scores, about


def _rules(plan: TuningPlan, base: GPT, tokenizer: Any) -> Prepared:
    context, seed = base.context_length, plan.train.seed
    data = fewshot.prepare_rules(tokenizer, context, plan.examples, seed)
    _freeze(plan, base)

    def scores() -> dict[str, Any]:
        base.eval()
        return {"accuracy_by_examples": fewshot.curve(base, tokenizer, plan.test_examples)}

    return base, base, data, scores, {}


_PREPARE: dict[str, Callable[[TuningPlan, GPT, Any], Prepared]] = {
    CLASSES: _classes,
    INSTRUCTIONS: _instructions,
    PREFER: _preferences,
    RULES: _rules,
}


def _digest(texts: Any) -> str:
    digest = hashlib.sha256()
    for text in texts:
        digest.update(text.encode("utf-8") + b"\0")
    return digest.hexdigest()
