"""Short runs that go wrong in one way each, beside those that do not; bundled with their curves.

`python -m experiments make mistakes` trains all of them again, half a minute in all, and writes
`data/experiments/NAME/`: config.json, metrics.jsonl, and card.json with the command and how the run
ended. Weights are not kept. Reading them needs no torch.
"""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.training.config import Plan, TrainConfig
from llmviz.training.files import read_json, write_json
from llmviz.training.reading import CONFIG, METRICS

CARD = "card.json"


def _plan(options: dict[str, Any] | None = None, fraction: float = 0.1, **train: Any) -> Plan:
    """A small transformer on names; what an experiment is not about is the same in all."""
    settings: dict[str, Any] = {
        "steps": 300,
        "batch_size": 32,
        "learning_rate": 5e-3,
        "min_lr": 0.0,
        "warmup_steps": 30,
        "weight_decay": 0.05,
        "eval_every": 30,
        "eval_batches": 6,
        "log_every": 2,
        "checkpoint_every": 0,
        "sample_every": 30,
        "sample_tokens": 160,
        "device": "cpu",
        "dtype": "float32",
        "threads": 1,
        "compile": "off",
    }
    return Plan(
        model="gpt",
        model_options={"n_layer": 2, "n_head": 4, "n_embd": 48, "dropout": 0.0, **(options or {})},
        corpus="names",
        tokenizer="char",
        context_length=16,
        windows="padded",
        fraction=fraction,
        train=TrainConfig(**{**settings, **train}),
    )


_RIGHT = _plan()
# 80 names, and all others to be asked about.
_HEART: dict[str, Any] = {
    "fraction": 0.99,
    "steps": 400,
    "eval_every": 20,
    "sample_every": 20,
    "weight_decay": 0.0,
}
# 400 names; long enough to learn them.
_FEW: dict[str, Any] = {
    "fraction": 0.95,
    "steps": 800,
    "eval_every": 40,
    "sample_every": 40,
    "log_every": 4,
    "weight_decay": 0.0,
}
_STEEP: dict[str, Any] = {"learning_rate": 1e-2, "grad_clip": 0.0}

PLANS: dict[str, Plan] = {
    "right": _RIGHT,
    "rate-small": replace(_RIGHT, train=replace(_RIGHT.train, learning_rate=1e-5)),
    "rate-large": replace(_RIGHT, train=replace(_RIGHT.train, learning_rate=1.0)),
    "rate-gone": _plan(
        optimizer="sgd",
        learning_rate=2.0,
        grad_clip=0.0,
        schedule="constant",
        warmup_steps=0,
        log_every=1,
    ),
    "no-shift": _plan({"shift": False}),
    "heart": _plan(**_HEART),
    "heart-all": _plan(**_HEART | {"fraction": 0.1}),
    "cold": _plan({"n_layer": 4}, warmup_steps=0, **_STEEP),
    "warm": _plan({"n_layer": 4}, warmup_steps=60, **_STEEP),
    "no-dropout": _plan(**_FEW),
    "dropout": _plan({"dropout": 0.2}, **_FEW),
}


@dataclass(frozen=True)
class Experiment:
    """What is compared: names of PLANS, the one that goes wrong first."""

    runs: tuple[str, ...]


EXPERIMENTS: dict[str, Experiment] = {
    "rate": Experiment(("rate-large", "rate-small", "right", "rate-gone")),
    "heart": Experiment(("heart", "heart-all")),
    "shift": Experiment(("no-shift", "right")),
    "warmup": Experiment(("cold", "warm")),
    "dropout": Experiment(("no-dropout", "dropout")),
}


def bundled(name: str) -> Path:
    """The folder of a bundled short run. Raises ValueError where it is not there."""
    folder = EXPERIMENT_FOLDER / name
    if not (folder / METRICS).is_file():
        raise ValueError(f"the short run {name!r} is not in this copy")
    return folder


def read_card(name: str) -> dict[str, Any]:
    """How a bundled short run ended. Raises ValueError where it is not there or damaged."""
    return read_json(bundled(name) / CARD)


def make(name: str, target: Path = EXPERIMENT_FOLDER) -> dict[str, Any]:
    """Train one, write its curve and its card below `target`, and return the card.

    Raises ValueError for an unknown name.
    """
    from llmviz.training.errors import Diverged
    from llmviz.training.plan import prepare
    from llmviz.training.run_folder import run_in_folder
    from llmviz.training.samples import sampler

    if name not in PLANS:
        raise ValueError(f"the run must be one of {', '.join(PLANS)}; got {name!r}")
    command = f"python -m experiments make mistakes {name}"
    run = prepare(PLANS[name], command)
    card: dict[str, Any] = {"name": name, "command": command, "ended": "done", "line": ""}
    with tempfile.TemporaryDirectory() as work:
        last = None
        try:
            for record in run_in_folder(Path(work) / "run", run, sample=sampler(run)):
                last = record
        except Diverged as error:
            card |= {"ended": "diverged", "line": str(error)}
        folder = target / name
        folder.mkdir(parents=True, exist_ok=True)
        for file in (CONFIG, METRICS):
            shutil.copyfile(Path(work) / "run" / file, folder / file)
    card |= {
        "parameters": run.description["parameters"],
        "training_documents": run.description["data"]["documents"],
        "steps": last.step if last else 0,
        "seconds": round(last.seconds, 1) if last else 0.0,
        "train_loss": last.train_loss if last else None,
        "validation_loss": last.validation_loss if last else None,
    }
    write_json(folder / CARD, card)
    return card


def copied(written: str, names: list[str]) -> tuple[list[str], list[str]]:
    """Which lines of a text are names of a list, and which are not; empty lines are left out."""
    known = set(names)
    lines = [line for line in written.split("\n") if line]
    return [line for line in lines if line in known], [line for line in lines if line not in known]
