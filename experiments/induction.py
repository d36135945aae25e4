"""Bundled trainings of attention alone on letters that repeat, and the weights of their moments.

Makes what `llmviz.course.lessons.discoveries.induction.induction_record` reads.

S moments, L layers, H heads, D = C/H, V letters.
"""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from llmviz.course.lessons.discoveries.induction.induction_record import (
    CARD,
    COMMAND,
    CURVES,
    FOLDER,
    ON_RANDOM,
    ONE,
    RUNS,
    STORY_MODEL,
    TWO,
    WEIGHTS,
    copiers,
    name_of,
)
from llmviz.course.lessons.discoveries.induction.pairs_again import OnRandomTokens, on_random_tokens
from llmviz.interpretability.induction import Learned, train
from llmviz.records import write_to
from llmviz.training.files import read_json, write_json


def make(folder: Path = FOLDER) -> None:
    """Train what is not in the folder yet, and write it after each training."""
    import torch
    from tqdm import tqdm

    from llmviz.training.tensors import load_tensors, save_tensors

    folder.mkdir(parents=True, exist_ok=True)
    there = (folder / CARD).is_file()
    parts = load_tensors(folder / RUNS) if there else {}
    weights = load_tensors(folder / WEIGHTS) if there else {}
    new: dict[str, Any] = {"command": COMMAND, "trainings": {}}
    card = read_json(folder / CARD) if there else new
    for copier in tqdm(copiers()):
        name = name_of(copier)
        if name in card["trainings"]:
            continue
        begun, moments, states = time.perf_counter(), [], []
        for moment, model in train(copier):
            moments.append(moment)
            states.append({key: tensor.clone() for key, tensor in model.state_dict().items()})
        learned = Learned(copier, moments)
        for curve in CURVES:
            parts[f"{name}.{curve}"] = torch.from_numpy(learned.curve(curve).astype(np.float32))
        if copier in (TWO, ONE):
            taken = states[::-2][::-1] if copier == TWO else states[-1:]
            for key in taken[0]:
                weights[f"{name}.{key}"] = torch.stack([state[key].half() for state in taken])
        save_tensors(folder / RUNS, parts)
        save_tensors(folder / WEIGHTS, weights)
        card["trainings"][name] = asdict(copier) | {
            "parameters": sum(parameter.numel() for parameter in model.parameters()),
            "seconds": round(time.perf_counter() - begun, 1),
        }
        write_json(folder / CARD, card)
    write_json(folder / ON_RANDOM, asdict(story_model_on_random_tokens()))


def story_model_on_random_tokens() -> OnRandomTokens:
    """Measure the story model on random tokens of its vocabulary, without special ones."""
    import llmviz
    from llmviz.models.transformers import require_transformer

    loaded = llmviz.load(STORY_MODEL)
    special = set(loaded.tokenizer.special_tokens.values())
    vocabulary = [token for token in range(loaded.tokenizer.vocab_size) if token not in special]
    return on_random_tokens(require_transformer(loaded.module), vocabulary)


if __name__ == "__main__":
    write_to(make, "Train the bundled models that copy again.", FOLDER)
