"""Two more tasks with many steps: sums of several digits, and who has the ball after hand-overs.

`python -m llmviz.study.think_tasks` trains the models again and writes
`data/experiments/think-tasks.json`. Each task is answered at once, after dots, or after steps that
the model writes, as parity is in `llmviz.study.think_first`.

A text is: blanks, the question, "=", the path, ":", the answer. B texts, T tokens.
"""

import argparse
import random
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from llmviz.paths import EXPERIMENT_FOLDER
from llmviz.study import small_gpt
from llmviz.study.records import Recorded
from llmviz.study.think_first import DIRECT, DOTS, PATH, SEEDS, WAYS, Share
from llmviz.training.files import write_json

if TYPE_CHECKING:
    from llmviz.models.gpt import GPT

FILE = "think-tasks.json"
COMMAND = "python -m llmviz.study.think_tasks"
BLANK, EQUALS, DOT, COLON = "_", "=", ".", ":"
SUMS, BALL = "sums", "ball"
PEOPLE = "ABCDE"
LAYERS, HEADS, WIDTH = 2, 4, 48
BATCH, STEPS, RATE, WARMUP = 64, 2500, 2e-3, 100
TESTS = 200  # texts of each length


@dataclass(frozen=True)
class Puzzle:
    """One question of a task, the steps to its answer, and the answer; a token is a character."""

    question: str
    path: str
    answer: str


def sum_of(first: int, second: int, digits: int) -> Puzzle:
    """Return a sum of two numbers, written with so many digits each.

    The path goes from the last place to the first: the digit that is written, then what is carried.

    >>> sum_of(34, 57, 2)
    Puzzle(question='34+57', path='1190', answer='091')
    """
    path, carried = "", 0
    for place in range(digits):
        here = first // 10**place % 10 + second // 10**place % 10 + carried
        carried = here // 10
        path += f"{here % 10}{carried}"
    total = f"{first + second:0{digits + 1}}"
    return Puzzle(f"{first:0{digits}}+{second:0{digits}}", path, total)


def ball_of(exchanges: Sequence[tuple[str, str]]) -> Puzzle:
    """Return who has the ball after exchanges; two people hand each other what they hold.

    A has it at first. The path is who has it after each exchange.

    >>> ball_of([("A", "C"), ("B", "E"), ("C", "B")])
    Puzzle(question='ACBECB', path='CCB', answer='B')
    """
    holder, path = PEOPLE[0], ""
    for one, other in exchanges:
        holder = {one: other, other: one}.get(holder, holder)
        path += holder
    return Puzzle("".join(one + other for one, other in exchanges), path, holder)


def _draw_sum(chance: random.Random, digits: int) -> Puzzle:
    return sum_of(chance.randrange(10**digits), chance.randrange(10**digits), digits)


def _draw_ball(chance: random.Random, exchanges: int) -> Puzzle:
    pairs = [chance.sample(PEOPLE, 2) for _ in range(exchanges)]
    return ball_of([(one, other) for one, other in pairs])


@dataclass(frozen=True)
class Task:
    """A task: its tokens, the lengths that are trained on and measured, and how a puzzle is drawn.

    slots: places for a question.
    """

    tokens: str
    trained: int
    lengths: tuple[int, ...]
    slots: int
    draw: Callable[[random.Random, int], Puzzle]

    @property
    def most(self) -> int:
        """The most tokens of a text."""
        longest = self.draw(random.Random(0), self.lengths[-1])
        return self.slots + 2 + len(longest.path) + len(longest.answer)


SIGNS = BLANK + EQUALS + DOT + COLON
TASKS = {
    SUMS: Task(f"0123456789+{SIGNS}", 5, (1, 2, 3, 4, 5, 6), 13, _draw_sum),
    BALL: Task(PEOPLE + SIGNS, 10, (1, 2, 3, 4, 6, 8, 10, 11, 12), 24, _draw_ball),
}


def path_of(puzzle: Puzzle, way: str) -> str:
    """Return what stands between "=" and ":"."""
    return {DIRECT: "", DOTS: DOT * len(puzzle.path), PATH: puzzle.path}[way]


def encode(task: Task, text: str) -> list[int]:
    """Return the tokens of a text."""
    return [task.tokens.index(one) for one in text]


def question_ids(task: Task, puzzle: Puzzle) -> list[int]:
    """Return the tokens up to "="."""
    return encode(task, puzzle.question.rjust(task.slots, BLANK) + EQUALS)


def batch(task: Task, chance: random.Random, way: str) -> tuple[np.ndarray, np.ndarray]:
    """Return inputs and targets (B, T) of new texts; the same puzzles for each way of a seed."""
    from llmviz.nn.loss import IGNORED

    inputs = np.full((BATCH, task.most), task.tokens.index(BLANK))
    targets = np.full((BATCH, task.most), IGNORED)
    for row in range(BATCH):
        puzzle = task.draw(chance, chance.randint(1, task.trained))
        learned = encode(task, path_of(puzzle, way) + COLON + puzzle.answer)
        text = question_ids(task, puzzle) + learned
        inputs[row, : len(text) - 1] = text[:-1]
        targets[row, len(text) - 1 - len(learned) : len(text) - 1] = learned
    longest = int((targets != IGNORED).any(0).nonzero()[0][-1]) + 1
    return inputs[:, :longest], targets[:, :longest]


def new_model(task: Task) -> "GPT":
    """Return a model with random weights, as torch's generator stands."""
    return small_gpt.new_gpt(
        vocab_size=len(task.tokens),
        context_length=task.most,
        n_layer=LAYERS,
        n_head=HEADS,
        n_embd=WIDTH,
    )


@dataclass(frozen=True)
class Measured:
    """One model: its last loss, and by length the right answers and the paths without a mistake.

    loss: the mean of the last hundred steps, in nats per token. steps_right: empty without a path.
    """

    task: str
    way: str
    seed: int
    loss: float
    right: dict[int, Share]
    steps_right: dict[int, Share]


def train(name: str, way: str, seed: int, steps: int = STEPS) -> "tuple[GPT, float]":
    """Train a model; return it and the mean loss of its last hundred steps."""
    import torch

    torch.manual_seed(seed)
    task, chance = TASKS[name], random.Random(seed)
    model = new_model(task)
    losses = small_gpt.descend(
        model,
        lambda _: small_gpt.loss_on(model, batch(task, chance, way)),
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
    """Ask a model puzzles of each length, the same ones for each model of a task."""
    task, chance = TASKS[name], random.Random(f"think {name}")
    right, steps_right = {}, {}
    for length in task.lengths:
        puzzles = [task.draw(chance, length) for _ in range(TESTS)]
        texts = np.array([question_ids(task, one) for one in puzzles])
        true = np.array([encode(task, path_of(one, way)) for one in puzzles], int)
        if way == PATH:
            texts = write(model, texts, true.shape[1])
            steps_right[length] = _share((texts[:, task.slots + 1 :] == true).all(-1))
        else:
            texts = np.concatenate([texts, true], -1)
        colon = np.full((TESTS, 1), task.tokens.index(COLON))
        wanted = np.array([encode(task, one.answer) for one in puzzles])
        given = write(model, np.concatenate([texts, colon], -1), wanted.shape[1])
        right[length] = _share((given[:, -wanted.shape[1] :] == wanted).all(-1))
    return Measured(name, way, seed, loss, right, steps_right)


def _share(hits: np.ndarray) -> Share:
    return Share(int(hits.sum()), len(hits))


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
        found = [asdict(one) for one in tqdm(done, total=len(wanted))]
    seconds = round(time.perf_counter() - begun, 1)
    content = {"command": COMMAND, "steps": STEPS, "seconds": seconds, "models": found}
    write_json(folder / FILE, content)


@cache
def recorded(folder: Path = EXPERIMENT_FOLDER) -> dict[str, dict[str, list[Measured]]]:
    """Return the results by task and way, three models each. ValueError: missing or damaged."""
    with Recorded(folder / FILE, COMMAND) as content:
        found: dict[str, dict[str, list[Measured]]] = {
            name: {way: [] for way in WAYS} for name in TASKS
        }
        for one in content["models"]:
            shares = [
                {int(length): Share(**share) for length, share in one[key].items()}
                for key in ("right", "steps_right")
            ]
            found[one["task"]][one["way"]].append(
                Measured(one["task"], one["way"], one["seed"], one["loss"], *shares)
            )
        if any(len(models) != len(SEEDS) for ways in found.values() for models in ways.values()):
            raise ValueError("models are missing")
        return found


def main() -> None:
    """Read the arguments and train."""
    parser = argparse.ArgumentParser(description="Train the models of two more tasks again.")
    parser.add_argument("--to", type=Path, default=EXPERIMENT_FOLDER, help="the folder written to")
    make(parser.parse_args().to)


if __name__ == "__main__":
    main()
