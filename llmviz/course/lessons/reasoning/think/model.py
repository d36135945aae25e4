"""Two more tasks with many steps: adding several digits, and who has the ball after exchanges.

`python -m experiments make think-tasks` trains the models again and writes
`data/experiments/think-tasks.json`. Each task is answered at once, after dots, or after steps that
the model writes, as parity is in `llmviz.course.lessons.reasoning.think_first`.

A text is: the items, blanks up to SLOTS places, "=", the path, ":", the answer. B texts, T tokens.
"""

import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import cache, cached_property
from itertools import combinations
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from llmviz.course.lessons.reasoning import small_gpt
from llmviz.course.lessons.reasoning.parity_texts import DIRECT, DOTS, PATH, WAYS
from llmviz.course.lessons.reasoning.think_first import SEEDS, Share, share
from llmviz.paths import EXPERIMENT_FOLDER
from llmviz.records import Recorded, write_to
from llmviz.training.files import write_json

if TYPE_CHECKING:
    from llmviz.models.gpt import GPT

FILE = "think-tasks.json"
COMMAND = "python -m experiments make think-tasks"
SIGNS = BLANK, EQUALS, DOT, COLON = ("_", "=", ".", ":")
SUMS, BALL = "sums", "ball"
PEOPLE = "ABCDE"
SLOTS = 12  # places for items
TRAINED = 10  # most items of a text that is trained on
LENGTHS = (1, 2, 4, 6, 8, 10, 11, 12)  # that are measured
TESTS = 200  # texts of each length
LAYERS, HEADS, WIDTH = 2, 4, 48
BATCH, STEPS, RATE, WARMUP = 64, 2000, 2e-3, 100


@dataclass(frozen=True)
class Task:
    """Items that come one after the other, and what each makes of the state before it.

    The path is the state behind each item, and the answer is the last one. table (states, items):
    the next state. The first state is the one before all items.
    """

    items: tuple[str, ...]
    states: tuple[str, ...]
    table: np.ndarray

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        """Signs, items, states; a token's number is its place. A sign comes as no other token."""
        return (*SIGNS, *self.items, *self.states)

    def paths(self, items: np.ndarray) -> np.ndarray:
        """Return the states (…, N) behind each of N items (…, N), both as numbers from 0."""
        state, found = np.zeros(items.shape[:-1], int), np.empty_like(items)
        for at in range(items.shape[-1]):
            state = found[..., at] = self.table[state, items[..., at]]
        return found

    def said(self, items: Sequence[int]) -> tuple[str, str]:
        """Return items and their path as they are read."""
        path = self.paths(np.array(items))
        return " ".join(self.items[number] for number in items), " ".join(
            self.states[state] for state in path
        )


def _sums() -> Task:
    """Digits are added; the state is the sum so far."""
    most = 9 * SLOTS
    table = np.minimum(np.arange(most + 1)[:, None] + np.arange(10), most)
    return Task(tuple("0123456789"), tuple(map(str, range(most + 1))), table)


def _ball() -> Task:
    """Two people exchange what they hold; the state is who has the ball, A at first."""
    pairs = list(combinations(range(len(PEOPLE)), 2))
    table = np.repeat(np.arange(len(PEOPLE))[:, None], len(pairs), 1)
    for at, (left, right) in enumerate(pairs):
        table[left, at], table[right, at] = right, left
    return Task(tuple(PEOPLE[left] + PEOPLE[right] for left, right in pairs), tuple(PEOPLE), table)


TASKS = {SUMS: _sums(), BALL: _ball()}


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
    return small_gpt.new_gpt(
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
    losses = small_gpt.descend(
        model,
        lambda _: small_gpt.loss_on(model, batch(task, rng, way)),
        steps,
        rate=RATE,
        warmup=WARMUP,
    )
    last = float(np.mean([*losses][-100:]))
    return model.eval(), last


@dataclass(frozen=True)
class Measured:
    """One model: by length, the right answers, and the paths of its own without a mistake.

    loss: the mean of its last hundred steps, in nats per token. steps_right: empty without a path.
    """

    task: str
    way: str
    seed: int
    loss: float
    right: dict[int, Share]
    steps_right: dict[int, Share]


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


@cache
def recorded(folder: Path = EXPERIMENT_FOLDER) -> dict[tuple[str, str], list[Measured]]:
    """Return the results by task and way, three models each. ValueError: missing or damaged."""
    with Recorded(folder / FILE, COMMAND) as content:
        found: dict[tuple[str, str], list[Measured]] = {
            (name, way): [] for name in TASKS for way in WAYS
        }
        for model in content["models"]:
            right, steps_right = (
                {int(length): Share(**hits) for length, hits in model[key].items()}
                for key in ("right", "steps_right")
            )
            measured = Measured(**model | {"right": right, "steps_right": steps_right})
            found[measured.task, measured.way].append(measured)
        if any(len(models) != len(SEEDS) for models in found.values()):
            raise ValueError("models are missing")
        return found


if __name__ == "__main__":
    write_to(make, "Train the models of two more tasks again.")
