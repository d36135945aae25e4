"""A fork: another run's folder up to a step, and from there on other settings."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

from safetensors.numpy import save_file

from llmviz.training.config import OWN_TEXT, Plan
from llmviz.training.errors import CheckpointError
from llmviz.training.files import write_json, write_manifest
from llmviz.training.library import last_record
from llmviz.training.reading import (
    CHECKPOINT_FORMAT,
    CONFIG,
    FORK,
    METRICS,
    MODEL,
    OPTIMIZER,
    STATE,
    TOKENIZER,
    read_description,
    read_metrics,
    steps_saved,
)
from llmviz.training.records import TrainRecord
from llmviz.wholefile import write_whole

# What may change without the weights, the optimizer's state or the data ceasing to fit.
CHANGEABLE = (
    "steps",
    "batch_size",
    "learning_rate",
    "min_lr",
    "warmup_steps",
    "schedule",
    "weight_decay",
    "grad_clip",
    "seed",
)
DROPOUT = "dropout"  # a setting of the model that changes no weight
EXERCISES = "exercises"  # a setting of the plan that leaves the text as it is


def fork_plan(plan: Plan, step: int, changes: dict[str, Any]) -> Plan:
    """The plan of a fork. Raises ValueError naming the rule for changes that cannot be made."""
    unknown = [name for name in changes if name not in (*CHANGEABLE, DROPOUT, EXERCISES)]
    if unknown:
        raise ValueError(f"a fork cannot change {', '.join(unknown)}; it would be another model")
    values = plan.to_dict()
    options = dict(plan.model_options)
    if DROPOUT in changes:
        options[DROPOUT] = changes[DROPOUT]
    if EXERCISES in changes:
        values[EXERCISES] = changes[EXERCISES]
    train = values["train"] | {name: changes[name] for name in changes if name in CHANGEABLE}
    if train["steps"] <= step:
        raise ValueError(
            f"a fork at step {step} needs more steps than that; got steps={train['steps']}"
        )
    return Plan.from_dict(values | {"model_options": options, "train": train})


def make_fork(parent: Path, step: int, out: Path, changes: dict[str, Any], label: str = "") -> Plan:
    """Fill the folder `out` with a run's state after `step`; resuming it trains the fork.

    changes: fields of TrainConfig named in CHANGEABLE, `dropout` or `exercises`. label: what the
    fork calls its parent. The curve up to the fork and the checkpoint are the parent's own. Of a
    run that kept its last weights alone, as the bundled ones do, a fork begins at the end, with an
    optimizer that remembers nothing; its description then says "fresh".
    Raises ValueError for changes that cannot be made, CheckpointError where the parent kept nothing
    of this step, OSError as it comes.
    """
    description, records = read_description(parent), read_metrics(parent)
    saved = dict(steps_saved(parent))
    fresh = not saved and bool(records) and (parent / MODEL).is_file()
    there = [records[-1].step] if fresh else list(saved)
    if step not in there:
        listed = ", ".join(map(str, there)) or "none"
        raise CheckpointError(
            f"there is no checkpoint of step {step} to fork at; there is {listed}"
        )
    plan = fork_plan(Plan.from_dict(description["plan"]), step, changes)
    out.mkdir(parents=True, exist_ok=True)
    checkpoint = out / "checkpoints" / f"step-{step:06d}"
    checkpoint.parent.mkdir()
    # Files of a checkpoint are never written again, so both runs may have the same ones.
    if fresh:
        _write_checkpoint(checkpoint, parent / MODEL, records[-1], plan)
    else:
        shutil.copytree(saved[step], checkpoint, copy_function=_link_or_copy)
    _link_or_copy(checkpoint / MODEL, out / MODEL)
    for name in (TOKENIZER, OWN_TEXT):
        if (parent / name).is_file():
            shutil.copyfile(parent / name, out / name)
    lines = [record.to_json() + "\n" for record in records if record.step <= step]
    write_whole(out / METRICS, lambda path: path.write_text("".join(lines), "utf-8"))
    model = description["model"]
    if DROPOUT in changes:
        model = {**model, "config": {**model["config"], DROPOUT: changes[DROPOUT]}}
    new = {
        **description,
        "model": model,
        "plan": plan.to_dict(),
        "train": plan.train.to_dict(),
        FORK: {"of": label, "step": step, "changes": changes} | ({"fresh": True} if fresh else {}),
    }
    write_json(out / CONFIG, new)
    return plan


def forkable(folder: Path) -> list[int]:
    """The steps at which a run can be forked: its checkpoints, or else the end of its curve."""
    saved = [step for step, _ in steps_saved(folder)]
    last = last_record(folder) if not saved and (folder / MODEL).is_file() else None
    return [int(last["step"])] if last else saved


def _write_checkpoint(folder: Path, weights: Path, last: TrainRecord, plan: Plan) -> None:
    """A checkpoint of weights alone: an optimizer begins anew from it."""
    folder.mkdir()
    shutil.copyfile(weights, folder / MODEL)
    save_file({}, folder / OPTIMIZER, metadata={"format": "pt"})
    state = {
        "format": CHECKPOINT_FORMAT,
        "step": last.step,
        "tokens": last.tokens,
        "seconds": last.seconds,
        "kept": True,
        "settings": plan.train.to_dict(),
        "environment": {},
    }
    write_json(folder / STATE, state)
    write_manifest(folder, [MODEL, OPTIMIZER, STATE])


def fork_of(description: dict[str, Any]) -> dict[str, Any] | None:
    """Where a run was forked: {"of": name, "step": N, "changes": {…}}, or None.

    "fresh": True stands in it where the optimizer began anew.
    """
    fork = description.get(FORK)
    return fork if isinstance(fork, dict) else None


def _link_or_copy(source: str | Path, target: str | Path) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
