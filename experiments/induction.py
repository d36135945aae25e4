"""Bundled trainings of attention alone on letters that repeat, and the weights of their moments.

Makes what `llmviz.course.lessons.discoveries.induction.induction_record` reads.

S moments, L layers, H heads, D = C/H, V letters.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments._command import write_to
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
from llmviz.interpretability.induction import Learned, losses, scores, train
from llmviz.training.files import read_json, write_json

if TYPE_CHECKING:
    from llmviz.models import GPT


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
    write_json(folder / ON_RANDOM, story_model_on_random_tokens())


def story_model_on_random_tokens() -> dict[str, Any]:
    """Measure the story model on random tokens of its vocabulary, without special ones."""
    import llmviz
    from llmviz.models.transformers import require_transformer

    loaded = llmviz.load(STORY_MODEL)
    special = set(loaded.tokenizer.special_tokens.values())
    vocabulary = [token for token in range(loaded.tokenizer.vocab_size) if token not in special]
    return on_random_tokens(require_transformer(loaded.module), vocabulary)


def on_random_tokens(
    model: GPT, vocabulary: Sequence[int], texts: int = 64, block: int = 24, seed: int = 0
) -> dict[str, Any]:
    """Measure a model on blocks of tokens that are drawn from a vocabulary and written twice.

    The loss of each block begins with its second token. For the rest see `story_on_random`.
    """
    import torch

    from llmviz.nn.attention.study import summarise_heads

    drawn = np.random.default_rng(seed).choice(np.asarray(vocabulary), (texts, block))
    twice = np.concatenate([drawn, drawn], 1)
    previous, induction = scores(model, twice)
    alike = torch.ones(2 * block, 2 * block).tril()
    alike = alike / alike.sum(-1, keepdim=True)
    even = np.mean([float(summarise_heads(alike, text).induction) for text in twice.tolist()])
    with torch.inference_mode():
        each = losses(model, torch.from_numpy(twice)).double().numpy()
    measured: dict[str, Any] = {
        "texts": texts,
        "block": block,
        "previous": float(previous.max()),
        "induction": float(induction.max()),
        "which": [int(at) for at in np.unravel_index(induction.argmax(), induction.shape)],
        "even": float(even),
    }
    for name, half in (("first", each[:, : block - 1].mean(1)), ("again", each[:, block:].mean(1))):
        measured[name] = float(half.mean())
        measured[f"{name}_error"] = float(half.std(ddof=1) / texts**0.5)
    return measured


if __name__ == "__main__":
    write_to(make, "Train the bundled models that copy again.", FOLDER)
