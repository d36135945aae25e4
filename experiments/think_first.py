"""Parity of bits: models that answer at once, after dots, or after steps that they write.

Makes what `llmviz.course.lessons.reasoning.think_first` reads.
"""

from __future__ import annotations

import time
from dataclasses import asdict
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from experiments._command import write_to
from llmviz.course.lessons.reasoning.parity_texts import (
    COLON,
    DOT,
    DOTS,
    MIXED,
    ORDERS,
    PATH,
    SLOTS,
    TRAINED,
    WAYS,
    batch,
    parities,
    path_of,
    question,
)
from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.training import small_models
from llmviz.training.files import write_json

if TYPE_CHECKING:
    from llmviz.models.gpt import GPT
from llmviz.course.lessons.reasoning.think_first import (
    COMMAND,
    FILE,
    LENGTHS,
    NONE,
    OWN,
    RATE,
    SEEDS,
    SHUFFLED,
    STEPS,
    TESTS,
    WARMUP,
    WEIGHTS,
    Changed,
    Measured,
    logits_after,
    new_model,
    share,
)

GROWING = 0.8  # of the updates, in which the longest length grows; after them it is TRAINED


def longest_at(step: int, steps: int, order: str) -> int:
    """Return the most bits of a text at a step, counted from 0, of a training of so many steps.

    MIXED: always TRAINED. SHORT_FIRST: from 1 on, one more after each equal part of the first
    GROWING of the steps; TRAINED from then on.
    """
    if order == MIXED:
        return TRAINED
    return min(TRAINED, 1 + int(TRAINED * step / (GROWING * steps)))


def train(order: str, way: str, seed: int, steps: int = STEPS) -> tuple[GPT, float]:
    """Train a model; return it and the mean loss of its last hundred steps.

    Models of one seed begin with the same weights, whatever their order and way.
    """
    import torch

    torch.manual_seed(seed)
    model, rng = new_model(), np.random.default_rng(seed)
    losses = small_models.descend(
        model,
        lambda step: small_models.loss_on(model, batch(rng, way, longest_at(step, steps, order))),
        steps,
        rate=RATE,
        warmup=WARMUP,
    )
    last = float(np.mean([*losses][-100:]))
    return model.eval(), last


def write_path(model: GPT, begun: np.ndarray, steps: int) -> np.ndarray:
    """Let a model write so many steps, the likelier of 0 and 1 each, behind texts (B, T)."""
    import torch

    texts = torch.from_numpy(begun)
    for _ in range(steps):
        likely = torch.from_numpy(logits_after(model, texts)[:, :2].argmax(-1))
        texts = torch.cat([texts, likely[:, None]], -1)
    return texts.numpy()


def answers(model: GPT, texts: np.ndarray) -> np.ndarray:
    """Return the likelier answer, 0 or 1, once ":" stands behind each text (B, T)."""
    import torch

    prompts = np.concatenate([texts, np.full((len(texts), 1), COLON)], -1)
    return logits_after(model, torch.from_numpy(prompts))[:, :2].argmax(-1)


def measure(model: GPT, order: str, way: str, seed: int, loss: float) -> Measured:
    """Ask a model texts of each length; random ones, the same for each model."""
    rng = np.random.default_rng(12_345)
    right, steps_right, shown, changed = {}, {}, {}, None
    for n in LENGTHS:
        bits = rng.integers(0, 2, (TESTS, n))
        true = parities(bits)
        questions = np.array([question(row) for row in bits.tolist()])
        if way == PATH:
            texts = write_path(model, questions, n)
            steps_right[n] = share((texts[:, SLOTS + 1 :] == true).all(-1))
        else:
            texts = np.concatenate([questions, [path_of(row, way) for row in bits.tolist()]], -1)
            texts = texts.astype(np.int64)
        right[n] = share(answers(model, texts) == true[:, -1])
        if way == PATH and n == TRAINED:
            own = texts[:, SLOTS + 1 :]
            mixed = rng.permuted(own, axis=-1)
            paths = {OWN: own, SHUFFLED: mixed, DOTS: np.full_like(own, DOT), NONE: own[:, :0]}
            for name, path in paths.items():
                given = answers(model, np.concatenate([questions, path], -1))
                shown[name] = share(given == true[:, -1])
            changed = _changed(model, questions, own, true[:, -1], rng)
    return Measured(order, way, seed, loss, right, steps_right, shown, changed)


def _changed(
    model: GPT, questions: np.ndarray, own: np.ndarray, true: np.ndarray, rng: np.random.Generator
) -> Changed:
    """Change one random step of each path and let the model go on from it."""
    places = rng.integers(0, own.shape[1], len(own))
    given = np.empty(len(own), int)
    for place in range(own.shape[1]):
        rows = places == place
        if rows.any():
            path = own[rows, : place + 1].copy()
            path[:, -1] ^= 1
            begun = np.concatenate([questions[rows], path], -1)
            given[rows] = answers(model, write_path(model, begun, own.shape[1] - place - 1))
    # A changed step changes the parity of all steps after it, where they follow from it.
    wanted = own[:, -1] ^ 1
    return Changed(share(given == wanted), share(given == true))


def make(folder: Path = EXPERIMENT_FOLDER) -> None:
    """Train all models, and write what they answer and the models that are bundled."""
    from tqdm import tqdm

    from llmviz.training.tensors import save_tensors

    begun, found = time.perf_counter(), []
    for seed, way, order in tqdm([*product(SEEDS, WAYS, ORDERS)]):
        model, loss = train(order, way, seed)
        found.append(measure(model, order, way, seed, loss))
        if seed == SEEDS[0] and (order, way) in WEIGHTS:
            save_tensors(folder / WEIGHTS[order, way], dict(model.state_dict()))
        seconds = round(time.perf_counter() - begun, 1)
        models = [asdict(measured) for measured in found]
        write_json(
            folder / FILE,
            {"command": COMMAND, "steps": STEPS, "seconds": seconds, "models": models},
        )


if __name__ == "__main__":
    write_to(make, "Train the models that think first again.")
