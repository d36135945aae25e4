"""`finetune`: a trained model for another task, into a folder."""

from __future__ import annotations

import argparse
import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

from llmviz.cli.options import (
    Interruption,
    add_run_options,
    add_settings,
    chosen,
    place,
    tell,
    typed,
)
from llmviz.config import settings_of
from llmviz.finetuning.plan import TuningPlan, plan_of_tuning, suited_training
from llmviz.training.config import TrainConfig

if TYPE_CHECKING:
    from llmviz.finetuning.preparation import Tuning

# Settings of training that a fine-tuning has no use for: it writes no samples and is not split.
LEFT_OUT = (
    *("sample_every", "sample_tokens", "compile", "accumulate", "recompute", "shard", "keep_best"),
)
BY_TASK = dict.fromkeys(settings_of(TrainConfig), "by task and way")


def add(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "finetune",
        help="teach a trained model something else: classes, instructions, preferences",
        examples=(
            "finetune --task about --way head --out runs/about",
            "finetune --task my-labels.csv --way lora --out runs/mine-too",
            "finetune --task instructions --rank 8 --mix 0.2 --out runs/answers",
        ),
        description=(
            "Fine-tune a trained model. The folder OUT gets the files that `train` writes, and "
            "card.json with the scores on examples that were not used in training. With --way lora "
            "it also gets the folder adapter/."
        ),
    )
    given = parser.add_argument
    given("--out", type=place, required=True, metavar="OUT", help="folder of the run")
    add_settings(parser, TuningPlan)
    given("--targets", nargs="+", metavar="LAYER", help="layers that LoRA changes; default all")
    add_settings(parser, TrainConfig, without=LEFT_OUT, defaults=BY_TASK)
    add_run_options(parser, run)


def run(given: argparse.Namespace) -> int:
    """Train until the end, or until Ctrl-C: then save and return 130."""
    from llmviz.finetuning.runs import finish
    from llmviz.training.files import removed_if_empty
    from llmviz.training.memory import keep_freed_memory

    keep_freed_memory()
    interruption = Interruption()
    with interruption.watched(), removed_if_empty(Path(given.out)):
        tuning = _prepared(given)
        train(tuning, given.out, interruption, resume=given.resume, json=given.json)
        if not interruption():
            report(finish(given.out, tuning), json=given.json)
    return interruption.exit_code


def train(
    tuning: Tuning, out: str, interruption: Interruption, *, resume: bool, json: bool = False
) -> None:
    """Run to the end, or until interrupted; the model then has the newest weights."""
    from llmviz.cli.train import show
    from llmviz.training.newest_weights import newest_weights
    from llmviz.training.tensors import load_weights

    show(tuning.run, out, interruption, resume=resume, json=json)
    newest = newest_weights(out)
    if newest is not None:  # the run may have been at its end already
        load_weights(tuning.run.model, newest.tensors, newest.source)


def report(card: dict[str, Any], *, json: bool) -> None:
    """Write a card, or its scores in one line."""
    tell(card, scores_line(card), json=json)


def scores_line(card: dict[str, Any]) -> str:
    """The scores of a card in one line."""
    names = (
        *("accuracy", "balanced_accuracy", "right", "preferred", "margin"),
        *("plain_loss_before", "plain_loss_after"),
    )
    parts = [f"{name.replace('_', ' ')} {card[name]:.3f}" for name in names if name in card]
    for examples, share in card.get("accuracy_by_examples", {}).items():
        parts.append(f"{examples} examples {share:.3f}")
    return f"{card['task']}, not trained on: {', '.join(parts)}"


def _prepared(given: argparse.Namespace) -> Tuning:
    """The fine-tuning of the arguments; with --resume that of the folder, if it holds one."""
    from llmviz.cli.resume import take_folder
    from llmviz.finetuning.preparation import prepare
    from llmviz.training.run_folder import CONFIG

    out = Path(given.out)
    changes = chosen(given, settings_of(TrainConfig))
    planned = chosen(given, settings_of(TuningPlan))
    if given.targets:
        planned["targets"] = tuple(given.targets)
    if given.resume and (out / CONFIG).exists():
        return _again(out, planned, changes)
    planned_run = plan(planned, changes)
    take_folder(out, resume=given.resume)
    return prepare(planned_run, typed(given))


def plan(planned: dict[str, Any], changes: dict[str, Any]) -> TuningPlan:
    """The plan of what was chosen; the rest as it suits."""
    base = TuningPlan(**planned)
    values = {**suited_training(base.kind, base.way), **changes}
    steps, rate = values.get("steps", base.train.steps), values["learning_rate"]
    if "learning_rate" in changes and "min_lr" not in changes:
        values["min_lr"] = rate / 100
    values.setdefault("warmup_steps", min(base.train.warmup_steps, steps // 10))
    return dataclasses.replace(base, train=dataclasses.replace(base.train, **values))


def _again(out: Path, planned: dict[str, Any], changes: dict[str, Any]) -> Tuning:
    """The fine-tuning in a folder. Raises ValueError for what cannot change in it."""
    from llmviz.finetuning.runs import prepare_again
    from llmviz.training.newest_weights import newest_step

    there, _ = plan_of_tuning(out)
    for name, value in planned.items():
        if (known := getattr(there, name)) != value:
            raise ValueError(
                f"{name} cannot change in a run that is resumed; it is {known}, got {value}"
            )
    done = newest_step(out) or 0
    if changes.get("steps", done) < done:
        raise ValueError(f"steps must be at least the {done} done in {out}; got {changes['steps']}")
    return prepare_again(out, **changes)
