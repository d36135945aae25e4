"""A run that goes on from a trained model: its weights, its tokenizer, another text.

The folder gets a checkpoint of step 0 first, so that what is killed at any moment goes on from
there, bit for bit.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from llmviz.config import default_of
from llmviz.files.whole import write_whole, writing
from llmviz.models.catalogue import able
from llmviz.nn.lora import add_adapter
from llmviz.nn.lora_config import LoraConfig
from llmviz.training import distributed
from llmviz.training.checkpoints import Checkpoint, save_checkpoint
from llmviz.training.config import Plan
from llmviz.training.data import Tell, nobody
from llmviz.training.files import write_json
from llmviz.training.plan import plan_from, prepare
from llmviz.training.reading import CHAT, CONFIG, METRICS, TOKENIZER
from llmviz.training.run_folder import Run, Trained
from llmviz.training.settings_file import FREE, OF_THE_BASE

RATE = 3e-4  # learning rate where none was chosen: a trained model is easily spoiled


def plan_of_base(
    trained: Trained,
    planned: Mapping[str, Any],
    options: Mapping[str, Any],
    changes: dict[str, Any],
) -> Plan:
    """The plan of a run that goes on from a trained model; `planned` names it as `base`.

    The context is the model's own where none was chosen.
    Raises ValueError for what the model says itself, and a context longer than its own.
    """
    for name in OF_THE_BASE:
        if name in planned:
            raise ValueError(f"{name} must be left out: the model that is gone on from has its own")
    for name in options:
        if name not in FREE:
            raise ValueError(
                f"{name} cannot change in a model that is trained; {', '.join(FREE)} can"
            )
    about = trained.description["model"]
    config = trained.model.config
    kept = {
        field.name: getattr(config, field.name)
        for field in dataclasses.fields(config)
        if field.name in ("vocab_size", "context_length")
        or getattr(config, field.name) != default_of(type(config), field.name)
    }
    if planned.get("lora") and not able(about["name"], "attention"):
        raise ValueError(f"lora is for models with attention; this one is a {about['name']}")
    longest = getattr(trained.model, "context_length", None)
    suited = {"model": about["name"], "tokenizer": trained.tokenizer.name}
    if longest is not None:
        suited["context_length"] = longest
        context = planned.get("context_length", longest)
        if context > longest:
            raise ValueError(
                f"context_length must be at most that of the model, {longest}; got {context}"
            )
    return plan_from({**suited, **planned}, {**kept, **options}, {"learning_rate": RATE, **changes})


def begin_from(
    trained: Trained, plan: Plan, out: Path, command: str = "", tell: Tell = nobody
) -> Run:
    """Write the beginning of a run to its folder, which is there and empty, and return the run.

    To be run with `resume`: it goes on from its checkpoint of step 0.
    Raises ValueError as `prepare`, and where the folder cannot be written.
    """
    run = prepare(plan, command, out, tell=tell, tokenizer=trained.tokenizer)
    if CHAT in trained.description:
        run.description[CHAT] = trained.description[CHAT]
    world = distributed.current()
    if world.leads:
        model = copy.deepcopy(trained.model)
        if plan.lora:
            add_adapter(model, LoraConfig(rank=plan.lora), seed=plan.train.seed)
        weights = model.state_dict()
        first = Checkpoint(0, 0, 0.0, weights, {}, settings=plan.train.to_dict())
        with writing(f"the run in {out}"):
            write_whole(out / TOKENIZER, trained.tokenizer.save)
            write_whole(out / METRICS, lambda path: path.write_text("", encoding="utf-8"))
            save_checkpoint(out, first)
            write_json(out / CONFIG, run.description)  # what makes it a run comes last
    world.wait()
    return run
