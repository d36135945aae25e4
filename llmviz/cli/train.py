"""`train`: a model on a corpus, into a folder."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import shlex
import sys
from typing import TYPE_CHECKING, Any

from llmviz.cli.options import Interruption, number, setting, whole, write, write_json

if TYPE_CHECKING:
    from llmviz.training.plan import Plan
    from llmviz.training.runs import Run

# option of the command line -> field of TrainConfig
TRAINING = {
    "steps": ("steps", whole(1), "updates of the weights"),
    "batch-size": ("batch_size", whole(1), "sequences in an update"),
    "accumulate": ("accumulate", whole(1), "micro-batches an update is split into"),
    "lr": ("learning_rate", number, "highest learning rate"),
    "min-lr": ("min_lr", number, "learning rate at the last step; a tenth of --lr"),
    "warmup-steps": ("warmup_steps", whole(0), "steps of rising learning rate"),
    "schedule": ("schedule", str, "cosine, linear or constant"),
    "optimizer": ("optimizer", str, "adamw, adam, sgd, momentum, nesterov, adagrad, rmsprop"),
    "weight-decay": ("weight_decay", number, "on matrices"),
    "beta2": ("beta2", number, "decay of Adam's mean square"),
    "grad-clip": ("grad_clip", number, "largest norm of the gradient, 0 = none"),
    "eval-every": ("eval_every", whole(0), "steps between validation losses"),
    "eval-batches": ("eval_batches", whole(0), "batches of each; 0 = all validation data"),
    "log-every": ("log_every", whole(1), "steps between records"),
    "sample-every": ("sample_every", whole(0), "steps between samples of text, 0 = none"),
    "checkpoint-every": ("checkpoint_every", whole(0), "steps between checkpoints"),
    "snapshot-every": ("snapshot_every", whole(0), "steps between checkpoints that are kept"),
    "seed": ("seed", whole(0), "of weights, batches and dropout"),
    "device": ("device", str, "auto, cpu, cuda or mps"),
    "dtype": ("dtype", str, "auto, float32 or bfloat16"),
    "compile": ("compile", str, "auto, on or off"),
    "threads": ("threads", whole(0), "CPU threads, 0 = measure"),
}
SIZES = ("n-layer", "n-head", "n-embd")
PLANNING = ("model", "corpus", "characters", "tokenizer", "vocab-size", "context-length", "windows")


def add(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "train",
        help="train a model on a bundled corpus or on a text file",
        description="Train a model. OUT receives metrics.jsonl, model.safetensors, config.json, "
        "tokenizer.json and what resuming needs. Under torchrun it trains data-parallel.",
    )
    given = parser.add_argument
    given("--out", required=True, metavar="OUT", help="folder of the run")
    given("--model", help="name in the registry (see `models`); default gpt")
    given("--corpus", help="bundled name (see `corpus list`) or a text file; default tiny-world")
    given("--characters", type=whole(1), help="tiny-world only: how much of it to write")
    given("--tokenizer", help="char, word, bpe (trained here), gpt2 …; default char")
    given("--vocab-size", type=whole(1), help="tokens of a trained tokenizer")
    given("--context-length", type=whole(1), help="tokens in a window; default 64")
    given("--windows", help="auto, random, documents or padded")
    for name in SIZES:
        given(f"--{name}", type=whole(1), help="size of the model, where it has one")
    given(
        "--set",
        dest="settings",
        metavar="NAME=VALUE",
        type=setting,
        action="append",
        default=[],
        help="any other setting of the model, such as positions=rotary",
    )
    for flag, (_, kind, meaning) in TRAINING.items():
        given(f"--{flag}", type=kind, help=meaning)
    given("--shard", action="store_true", default=None, help="under torchrun: split the weights")
    given("--resume", action="store_true", help="go on with the run in OUT")
    given("--json", action="store_true", help="records to standard output, one JSON line each")
    parser.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Train until the end, or until Ctrl-C: then save and return 130."""
    from llmviz.training import distributed
    from llmviz.training.memory import keep_freed_memory

    keep_freed_memory()
    interruption = Interruption()
    with distributed.joined(given.device or "auto") as world, interruption.watched():
        prepared = _prepared(given)
        show(prepared, given.out, interruption, given.resume, world.leads, given.json)
    return interruption.exit_code


def show(
    prepared: Run,
    out: str,
    interruption: Interruption,
    resume: bool,
    leads: bool = True,
    json: bool = False,
) -> None:
    """Run with a progress bar on standard error; `json`: records on standard output."""
    from tqdm import tqdm

    from llmviz.training.runs import run_in_folder
    from llmviz.training.samples import sampler

    config = prepared.config
    records = run_in_folder(
        out, prepared, resume=resume, stop=interruption, sample=sampler(prepared)
    )
    bar = tqdm(total=config.steps, unit="step", disable=None if leads else True, file=sys.stderr)
    last = validation = None
    with bar, contextlib.closing(records):
        for record in records:
            for note in record.notes if leads else ():
                bar.write(f"note: {note}", file=sys.stderr)
            validation = record.validation_loss or validation
            bar.update(record.step - bar.n)
            bar.set_postfix_str(
                f"train {record.train_loss:.3f}"
                + (f", validation {validation:.3f}" if validation else "")
                + f", {record.tokens_per_second:,.0f} tokens/s"
            )
            if leads and json:
                write_json(dataclasses.asdict(record))
            elif leads and record.sample:
                bar.write(f"--- step {record.step}\n{record.sample}", file=sys.stderr)
            last = record
    if leads and not json:
        if last is None:
            write(f"{out} is already at its last step, {config.steps}")
        else:
            loss = "" if validation is None else f", validation loss {validation:.4f} nats"
            write(f"step {last.step}: train loss {last.train_loss:.4f}{loss}; in {out}")


def _prepared(given: argparse.Namespace) -> Run:
    """The run of the arguments; with --resume that of the folder, if it holds one."""
    from pathlib import Path

    from llmviz.training.plan import prepare, prepare_again
    from llmviz.training.runs import CONFIG, prepare_folder

    changes = {
        field: getattr(given, flag.replace("-", "_"))
        for flag, (field, _, _) in TRAINING.items()
        if getattr(given, flag.replace("-", "_")) is not None
    }
    if given.shard:
        changes["shard"] = True
    if given.resume and (Path(given.out) / CONFIG).exists():
        fixed = [f"--{name}" for name in (*PLANNING, *SIZES) if _given(given, name)]
        fixed += [f"--set {name}" for name, _ in given.settings]
        if fixed:
            raise ValueError(f"{fixed[0]} cannot change in a run that is resumed")
        return prepare_again(given.out, **changes)
    from llmviz.training import distributed

    if distributed.current().leads:
        prepare_folder(Path(given.out), given.resume)
    return prepare(plan(given, changes), shlex.join(["python", "-m", "llmviz", *sys.argv[1:]]))


def plan(given: argparse.Namespace, changes: dict[str, Any]) -> Plan:
    """The plan of the arguments."""
    from llmviz.training.config import TrainConfig
    from llmviz.training.plan import Plan

    options = {name.replace("-", "_"): _given(given, name) for name in SIZES}
    options = {name: value for name, value in options.items() if value is not None}
    options.update(given.settings)
    if "learning_rate" in changes and "min_lr" not in changes:
        changes["min_lr"] = changes["learning_rate"] / 10
    if "warmup_steps" not in changes:
        changes["warmup_steps"] = min(100, changes.get("steps", TrainConfig.steps) // 10)
    chosen = {
        name.replace("-", "_"): _given(given, name)
        for name in PLANNING
        if _given(given, name) is not None
    }
    return Plan(**chosen, model_options=options, train=TrainConfig(**changes))


def _given(given: argparse.Namespace, name: str) -> Any:
    return getattr(given, name.replace("-", "_"))
