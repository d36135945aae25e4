"""The settings of a run as TOML: each run writes its own, and `train --config` reads it.

A setting is called as on the command line, without the dashes in front; those of the model stand
in the table [set].
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from llmviz.files.text import read_text_file
from llmviz.files.whole import write_whole
from llmviz.training.config import OWN_TEXT, Plan
from llmviz.training.reading import plan_in

SETTINGS = "run.toml"
MODEL_SETTINGS = "set"
RENAMED = {"learning_rate": "lr", "base": "from"}  # field -> what it is called here
LARGEST = 2**20  # bytes
OF_THE_BASE = ("model", "tokenizer", "vocab_size")  # what a model that is gone on from says itself
FREE = ("dropout",)  # settings of a model that fit its weights whatever they are
# What a command line cannot set.
UNSET = ("fraction", "split_seed", "schedule_start")


def settings_of_plan(plan: Plan) -> dict[str, Any]:
    """The settings of a plan, as the file has them; what is not set is left out."""
    values = plan.to_dict()
    train, options = values.pop("train"), values.pop("model_options")
    for name, value in following(train["learning_rate"], train["steps"]).items():
        if train[name] == value:  # so that it follows another rate, too
            del train[name]
    texts = [values.pop("corpus"), *values.pop("files")]
    values["corpus"] = texts if len(texts) > 1 else texts[0]
    if plan.base:
        options = {name: value for name, value in options.items() if name in FREE}
        for name in OF_THE_BASE:
            del values[name]
    settings = {
        RENAMED.get(name, name).replace("_", "-"): value
        for name, value in {**values, **train}.items()
        if value is not None and name not in UNSET and not (name in ("base", "lora") and not value)
    }
    options = {name: value for name, value in options.items() if value is not None}
    return {**settings, MODEL_SETTINGS: options} if options else settings


def following(learning_rate: float, steps: int) -> dict[str, Any]:
    """The settings of training that follow from others where they are not set."""
    return {"min_lr": learning_rate / 10, "warmup_steps": min(100, steps // 10)}


def write_settings(folder: Path, description: Mapping[str, Any]) -> None:
    """Write the settings of a run that can be trained again; of others nothing is written."""
    plan = plan_in(dict(description))
    if plan is None:
        return
    import tomli_w

    head = "# The settings of this run: train --config THIS-FILE --out NEW trains it again.\n"
    text = head + tomli_w.dumps(settings_of_plan(plan))
    write_whole(folder / SETTINGS, lambda path: path.write_text(text, encoding="utf-8"))


def read_settings(path: Path) -> dict[str, Any]:
    """The settings in a file by name; those of the model under `set`.

    A text that lies beside the file, as the own text of a run does, is found there.
    Raises ValueError naming the file where it is no TOML or cannot be read.
    """
    try:
        settings = tomllib.loads(read_text_file(path, LARGEST))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path} cannot be read as TOML: {error}") from None
    except RecursionError:
        raise ValueError(f"{path} cannot be read as TOML: it is nested too deeply") from None
    if settings.get("corpus") == OWN_TEXT and (path.parent / OWN_TEXT).is_file():
        settings["corpus"] = str(path.parent / OWN_TEXT)
    return settings
