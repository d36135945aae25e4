"""Two more tasks with many steps: adding several digits, and who has the ball after exchanges.

Makes what `llmviz.course.lessons.reasoning.chain_of_thought.model` reads.

A text is: the items, blanks up to SLOTS places, "=", the path, ":", the answer. B texts, T tokens.
"""

import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from experiments._command import write_to
from llmviz.course.lessons.reasoning.parity_texts import DIRECT, DOTS, PATH, WAYS
from llmviz.course.lessons.reasoning.think_first import SEEDS, share
from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.training import small_models
from llmviz.training.files import write_json

if TYPE_CHECKING:
    from llmviz.models.gpt import GPT
from llmviz.course.lessons.reasoning.chain_of_thought.model import (
    BATCH,
    BLANK,
    COLON,
    COMMAND,
    DOT,
    EQUALS,
    FILE,
    LENGTHS,
    RATE,
    SIGNS,
    SLOTS,
    STEPS,
    TASKS,
    TESTS,
    TRAINED,
    WARMUP,
    Measured,
    Task,
)

LAYERS, HEADS, WIDTH = 2, 4, 48


def texts_of(task: Task, items: np.ndarray, way: str) -> np.ndarray:
    """Return whole texts (B, T) of items (B, N), as tokens."""
    count, length = items.shape
    signs, places = len(SIGNS), len(SIGNS) + len(task.items)
    blanks = np.full((count, SLOTS - length), SIGNS.index(BLANK))
    equals, colon = (np.full((count, 1), SIGNS.index(sign)) for sign in (EQUALS, COLON))
    path = task.paths(items) + places
    between = {DIRECT: path[:, :0], DOTS: np.full_like(path, SIGNS.index(DOT)), PATH: path}[way]
    return np.concatenate([items + signs, blanks, equals, between, colon, path[:, -1:]], -1)


def batch(task: Task, rng: np.random.Generator, way: str) -> tuple[np.ndarray, np.ndarray]:
    """Return inputs and targets (B, T) of new texts; the same items for each way of a seed."""
    from llmviz.nn.loss import IGNORED

    longest = SLOTS + TRAINED + 2
    inputs = np.full((BATCH, longest), SIGNS.index(BLANK))
    targets = np.full((BATCH, longest), IGNORED)
    lengths = rng.integers(1, TRAINED + 1, BATCH)
    items = rng.integers(0, len(task.items), (BATCH, TRAINED))
    for length in np.unique(lengths):
        rows = lengths == length
        texts = texts_of(task, items[rows, :length], way)
        end = texts.shape[1] - 1
        inputs[rows, :end] = texts[:, :-1]
        targets[rows, SLOTS:end] = texts[:, SLOTS + 1 :]
    return inputs, targets


def new_model(task: Task) -> "GPT":
    """Return a model with random weights, as torch's generator stands."""
    return small_models.new_gpt(
        vocab_size=len(task.tokens),
        context_length=2 * SLOTS + 2,
        n_layer=LAYERS,
        n_head=HEADS,
        n_embd=WIDTH,
    )


def train(name: str, way: str, seed: int, steps: int = STEPS) -> "tuple[GPT, float]":
    """Train a model; return it and the mean loss of its last hundred steps."""
    import torch

    torch.manual_seed(seed)
    task, rng = TASKS[name], np.random.default_rng(seed)
    model = new_model(task)
    losses = small_models.descend(
        model,
        lambda _: small_models.loss_on(model, batch(task, rng, way)),
        steps,
        rate=RATE,
        warmup=WARMUP,
    )
    last = float(np.mean([*losses][-100:]))
    return model.eval(), last


def write(model: "GPT", begun: np.ndarray, steps: int) -> np.ndarray:
    """Let a model write so many tokens, the likeliest each time, behind texts (B, T)."""
    import torch

    texts = torch.from_numpy(begun)
    with torch.inference_mode():
        for _ in range(steps):
            likely = model(texts, last_only=True)[0][:, -1].argmax(-1)
            texts = torch.cat([texts, likely[:, None]], -1)
    return texts.numpy()


def measure(model: "GPT", name: str, way: str, seed: int, loss: float) -> Measured:
    """Ask a model texts of each length, the same ones for each model of a task."""
    task, rng = TASKS[name], np.random.default_rng(12_345)
    right, steps_right = {}, {}
    for length in LENGTHS:
        texts = texts_of(task, rng.integers(0, len(task.items), (TESTS, length)), way)
        prompts = texts[:, :-1]
        if way == PATH:
            prompts = write(model, texts[:, : SLOTS + 1], length)
            steps_right[length] = share((prompts == texts[:, :-2]).all(-1))
            prompts = np.concatenate([prompts, texts[:, -2:-1]], -1)
        right[length] = share(write(model, prompts, 1)[:, -1] == texts[:, -1])
    return Measured(name, way, seed, loss, right, steps_right)


def _trained(name: str, way: str, seed: int) -> Measured:
    import torch

    torch.set_num_threads(1)
    model, loss = train(name, way, seed)
    return measure(model, name, way, seed, loss)


def make(folder: Path = EXPERIMENT_FOLDER) -> None:
    """Train all models, one on each core, and write what they answer."""
    from tqdm import tqdm

    begun = time.perf_counter()
    wanted = [(name, way, seed) for name in TASKS for way in WAYS for seed in SEEDS]
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        done = pool.map(_trained, *zip(*wanted, strict=True))
        found = [asdict(measured) for measured in tqdm(done, total=len(wanted))]
    seconds = round(time.perf_counter() - begun, 1)
    content = {"command": COMMAND, "steps": STEPS, "seconds": seconds, "models": found}
    write_json(folder / FILE, content)


if __name__ == "__main__":
    write_to(make, "Train the models of two more tasks again.")
