"""A fork: another run's folder up to a step, and from there on other settings."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

from llmviz.files.weights import write_weights
from llmviz.files.whole import write_whole
from llmviz.training import reading
from llmviz.training.checkpoint_step import progress_of_weights, step_of_weights
from llmviz.training.config import OWN_TEXT, Plan
from llmviz.training.errors import CheckpointError
from llmviz.training.files import write_json, write_manifest
from llmviz.training.reading import last_record

# What may change without the weights, the optimizer's state or the data ceasing to fit.
CHANGEABLE = (
    "steps",
    "batch_size",
    "learning_rate",
    "min_lr",
    "warmup_steps",
    "schedule",
    "schedule_start",
    "weight_decay",
    "grad_clip",
    "seed",
)
LARGEST_CORPUS = 2**30  # bytes of a learner's own text
DROPOUT = "dropout"  # a setting of the model that changes no weight
EXERCISES, PRACTICE = "exercises", "practice"  # settings of the plan that leave the text as it is


def fork_plan(plan: Plan, step: int, changes: dict[str, Any]) -> Plan:
    """The plan of a fork. Raises ValueError naming the rule for changes that cannot be made."""
    others = (DROPOUT, EXERCISES, PRACTICE)
    unknown = [name for name in changes if name not in (*CHANGEABLE, *others)]
    if unknown:
        raise ValueError(f"a fork cannot change {', '.join(unknown)}; it would be another model")
    values = plan.to_dict()
    options = dict(plan.model_options)
    if DROPOUT in changes:
        options[DROPOUT] = changes[DROPOUT]
    values |= {name: changes[name] for name in (EXERCISES, PRACTICE) if name in changes}
    train = values["train"] | {name: changes[name] for name in changes if name in CHANGEABLE}
    if train["steps"] <= step:
        raise ValueError(
            f"a fork at step {step} needs more steps than that; got steps={train['steps']}"
        )
    return Plan.from_dict(values | {"model_options": options, "train": train})


def make_fork(parent: Path, step: int, out: Path, changes: dict[str, Any], label: str = "") -> Plan:
    """Fill the folder `out` with a run's state after `step`; resuming it trains the fork.

    changes: fields of TrainConfig named in CHANGEABLE, `dropout`, `exercises` or `practice`. label:
    what the fork calls its parent. The curve up to the fork and the checkpoint are the parent's
    own. Of a run that kept its last weights alone, as the bundled ones do, a fork begins there,
    with an optimizer that remembers nothing; its description then says "fresh" and, where the
    parent is a fork itself, as "before" of what. The curve may go further than those weights, as
    after a kill.
    Raises ValueError for changes that cannot be made, CheckpointError where the parent kept nothing
    of this step, OSError as it comes.
    """
    description, before = (
        reading.read_description(parent),
        reading.plan_in(reading.read_description(parent)),
    )
    if before is None:
        raise CheckpointError(f"{parent} holds no plan that can be trained again")
    saved, there = dict(reading.steps_saved(parent)), forkable(parent)
    fresh = not saved
    if step not in there:
        listed = ", ".join(map(str, there)) or "none"
        raise CheckpointError(
            f"there is no checkpoint of step {step} to fork at; there is {listed}"
        )
    plan = fork_plan(before, step, changes)
    reading.read_tokenizer(parent)  # what is copied is one, and not of any size
    if (parent / OWN_TEXT).is_file() and (parent / OWN_TEXT).stat().st_size > LARGEST_CORPUS:
        raise CheckpointError(f"{parent / OWN_TEXT} is larger than {LARGEST_CORPUS:,} bytes")
    progress = progress_of_weights(parent) if fresh else None
    out.mkdir(parents=True, exist_ok=True)
    checkpoint = reading.step_folder(out, step)
    checkpoint.parent.mkdir()
    # Files of a checkpoint are never written again, so both runs may have the same ones.
    if progress is not None:
        _write_checkpoint(checkpoint, parent / reading.MODEL, progress, plan)
    else:
        shutil.copytree(saved[step], checkpoint, copy_function=_link_or_copy)
    _link_or_copy(checkpoint / reading.MODEL, out / reading.MODEL)
    for name in (reading.TOKENIZER, OWN_TEXT):
        if (parent / name).is_file():
            shutil.copyfile(parent / name, out / name)
    write_whole(out / reading.METRICS, lambda path: reading.copy_curve(parent, step, path))
    model = description["model"]
    if DROPOUT in changes:
        model = {**model, "config": {**model["config"], DROPOUT: changes[DROPOUT]}}
    fork: dict[str, Any] = {"of": label, "step": step, "changes": changes}
    if fresh:
        fork["fresh"] = True
        if reading.FORK in description:
            fork[reading.BEFORE] = description[reading.FORK]
    new = {
        **description,
        "model": model,
        "plan": plan.to_dict(),
        "train": plan.train.to_dict(),
        reading.FORK: fork,
    }
    write_json(out / reading.CONFIG, new)
    return plan


def forkable(folder: Path) -> list[int]:
    """The steps at which a run can be forked: of its checkpoints, or else of its last weights.

    Raises CheckpointError where it has no checkpoint and its weights cannot be read.
    """
    saved = [step for step, _ in reading.steps_saved(folder)]
    if saved or not (folder / reading.MODEL).is_file() or last_record(folder) is None:
        return saved
    return [step_of_weights(folder)]


def _write_checkpoint(
    folder: Path, weights: Path, place: tuple[int, int, float], plan: Plan
) -> None:
    """A checkpoint of weights alone: an optimizer begins anew from it.

    place: step, tokens and seconds of the weights.
    """
    step, tokens, seconds = place
    folder.mkdir()
    shutil.copyfile(weights, folder / reading.MODEL)
    write_weights(folder / reading.OPTIMIZER, {})
    state = {
        "format": reading.CHECKPOINT_FORMAT,
        "step": step,
        "tokens": tokens,
        "seconds": seconds,
        "kept": True,
        "settings": plan.train.to_dict(),
        "environment": {},
    }
    write_json(folder / reading.STATE, state)
    write_manifest(folder, [reading.MODEL, reading.OPTIMIZER, reading.STATE])


def fork_of(description: dict[str, Any]) -> dict[str, Any] | None:
    """Where a run was forked: {"of": name, "step": N, "changes": {…}}, or None.

    "fresh": True stands in it where the optimizer began anew, and as "before" the same of the
    parent where that is a fork, too.
    """
    fork = description.get(reading.FORK)
    return fork if isinstance(fork, dict) else None


def _link_or_copy(source: str | Path, target: str | Path) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
