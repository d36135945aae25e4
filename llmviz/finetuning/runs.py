"""The folder of a fine-tuning: read, gone on with, and finished with a card.

OUT/config.json     the plan, and which base and data it was
OUT/tokenizer.json, metrics.jsonl, model.safetensors, checkpoints/   as of any run
OUT/adapter/        with LoRA: the adapter in peft's layout, once the training has ended
OUT/card.json       what it reached on examples that it was not trained on
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import torch

from llmviz.files.whole import write_whole
from llmviz.finetuning.adapters import save_adapter
from llmviz.finetuning.plan import plan_of_tuning
from llmviz.finetuning.preparation import Tuning, prepare
from llmviz.finetuning.tuned import take_weights
from llmviz.training.files import write_json
from llmviz.training.reading import METRICS, read_metrics

CARD, ADAPTER = "card.json", "adapter"


def prepare_again(folder: Path | str, **changes: Any) -> Tuning:
    """The fine-tuning that a folder describes, ready to go on.

    changes: fields of TrainConfig to set anew, such as steps.
    Raises CheckpointError if the folder is none, ValueError if its base or data has changed.
    """
    path = Path(folder)
    plan, before = plan_of_tuning(path)
    plan = dataclasses.replace(plan, train=dataclasses.replace(plan.train, **changes))
    tuning = prepare(plan, before.get("command", ""))
    now = tuning.run.description
    if now["base"]["sha256"] != before["base"]["sha256"]:
        raise ValueError(f"the base {plan.base} is not the one that {path} began from")
    if now["data"].get("sha256") != before["data"].get("sha256"):
        raise ValueError(f"the data of {plan.task} are not those that {path} was trained on")
    return tuning


def load_tuning(folder: Path | str) -> Tuning:
    """A fine-tuning with its newest weights, ready for use.

    Raises CheckpointError naming what is absent or damaged, ValueError as `prepare_again`.
    """
    tuning = prepare_again(folder)
    take_weights(Path(folder), tuning.run.model)
    tuning.model.eval()
    return tuning


@torch.no_grad()
def export(folder: Path | str, tuning: Tuning, target: Path | str) -> dict[str, Any]:
    """Write a finished adapter as a small folder to ship: 16-bit numbers, the curve and the card.

    What is scored is the adapter as it is stored. Returns the card.
    Raises ValueError for a fine-tuning without an adapter.
    """
    if tuning.plan.way != "lora":
        raise ValueError(f"only an adapter can be exported; got way={tuning.plan.way}")
    for parameter in tuning.model.parameters():
        if parameter.requires_grad:
            parameter.copy_(parameter.half())
    out = Path(target)
    save_adapter(tuning.body, out, tuning.plan.base, dtype=torch.float16)
    curve = (Path(folder) / METRICS).read_text(encoding="utf-8")
    write_whole(out / METRICS, lambda path: path.write_text(curve, encoding="utf-8"))
    card = card_of(folder, tuning, out.name) | {"weights": "float16"}
    write_json(out / CARD, card)
    return card


def finish(folder: Path | str, tuning: Tuning) -> dict[str, Any]:
    """Write the adapter, where there is one, and the card; return the card."""
    out = Path(folder)
    card = card_of(out, tuning, out.name)
    if tuning.plan.way == "lora":
        save_adapter(tuning.body, out / ADAPTER, tuning.plan.base)
    write_json(out / CARD, card)
    return card


def card_of(folder: Path | str, tuning: Tuning, name: str) -> dict[str, Any]:
    """What a fine-tuning is and what it reached on examples that it was not trained on."""
    plan, last = tuning.plan, read_metrics(folder)[-1]
    tuning.model.eval()
    return {
        "name": name,
        "command": tuning.run.description["command"],
        "task": plan.task,
        "base": tuning.run.description["base"],
        "way": plan.way,
        "parameters": tuning.run.description["parameters"],
        "trained_parameters": tuning.run.description["trained_parameters"],
        "seed": plan.train.seed,
        "steps": last.step,
        "seconds": round(last.seconds, 1),
        "train_loss": last.train_loss,
        "validation_loss": last.validation_loss,
        "environment": tuning.run.description["versions"],
        **tuning.scores(),
    }
