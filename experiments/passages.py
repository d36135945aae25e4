"""What models make of the passages before a question: right, wrong, none, two that disagree.

Makes what `llmviz.course.lessons.reasoning.retrieval.passage_record` reads.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from experiments._command import write_to
from llmviz.corpus.facts_in_passages import (
    ALL,
    DECLINES,
    NAMED,
    NAMES,
    Example,
    example,
    split,
    values,
)
from llmviz.course.lessons.reasoning.retrieval.passage_reader import (
    BETAS,
    BLANK,
    END,
    MOST,
    RATE,
    SOURCES,
    STEPS,
    WARMUP,
    encode,
    logits_behind,
    new_model,
    passages_ids,
    question_text,
    tokens,
    vocabulary,
)
from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.training import small_models
from llmviz.training.files import write_json

if TYPE_CHECKING:
    import torch

    from llmviz.models.gpt import GPT
from llmviz.course.lessons.reasoning.retrieval.passage_record import (
    CASES,
    COMMAND,
    DECLINED,
    ELSE,
    FILE,
    FORCED,
    RIGHT,
    SEEDS,
    SOURCED,
    TESTS,
    UNTOLD,
    WEIGHTS,
    Measured,
    Trial,
    _Draw,
)

NAMED_STEPS = 800  # of STEPS, with texts of NAMED
LEARNED = 0.79  # nats per token; where no person is told from another it stays above 1.1
ROWS = {NAMES: 24, NAMED: 32, ALL: 24}  # texts of a step
QUESTIONS = 6  # at most, of a text


def prompt_ids(passages: Sequence[str], question: str) -> list[int]:
    """Return the tokens that the model reads before it answers, of texts of this grammar."""
    return [*passages_ids(passages), *encode(question_text(question))]


def text_of(text: Example) -> tuple[list[int], list[int]]:
    """Return the tokens of a text and its targets: −1 where nothing is learned.

    Learned are the answers, and of the passages who each sentence is about: the token behind its
    number.
    """
    from llmviz.nn.loss import IGNORED

    ids = passages_ids(text.passages)
    numbers = {vocabulary()[number] for number in SOURCES}
    begun = zip([IGNORED, *ids], ids, strict=False)
    learned = [now if before in numbers else IGNORED for before, now in begun]
    for each in text.questions:
        before = encode(question_text(each.question))
        answer = [*encode(each.answer), vocabulary()[END]]
        ids += before + answer
        learned += [IGNORED] * len(before) + answer
    return ids, learned


def batch(chance: random.Random, level: str) -> tuple[np.ndarray, np.ndarray]:
    """Return inputs and targets (B, T) of new texts, shorter ones filled with blanks."""
    from llmviz.nn.loss import IGNORED

    rows = ROWS[level]
    texts = [text_of(example(chance, QUESTIONS, level)) for _ in range(rows)]
    longest = max(len(ids) for ids, _ in texts) - 1
    inputs = np.full((rows, longest), vocabulary()[BLANK])
    targets = np.full((rows, longest), IGNORED)
    for row, (ids, learned) in enumerate(texts):
        inputs[row, : len(ids) - 1] = ids[:-1]
        targets[row, : len(ids) - 1] = learned[1:]
    return inputs, targets


@dataclass(frozen=True)
class Progress:
    """How far a training is: steps done, and the mean loss of the last hundred."""

    step: int
    loss: float


def train(model: GPT, seed: int, most: int = MOST, steps: int = STEPS) -> Iterator[Progress]:
    """Train a model; yield after each step.

    It reads texts of NAMES until its loss on them is below LEARNED, `most` steps at most; then it
    makes so many `steps` with the others.
    """
    chance, losses, done = random.Random(seed), list[float](), 0

    def loss_on(level: str) -> torch.Tensor:
        return small_models.loss_on(model, batch(chance, level))

    first = small_models.descend(
        model, lambda _: loss_on(NAMES), most, rate=RATE, warmup=WARMUP, floor=1, betas=BETAS
    )
    further = small_models.descend(
        model,
        lambda step: loss_on(NAMED if step < NAMED_STEPS else ALL),
        steps,
        rate=RATE,
        warmup=WARMUP,
        betas=BETAS,
    )
    for part in (first, further):
        for loss in part:
            losses, done = [*losses[-99:], loss], done + 1
            yield Progress(done, float(np.mean(losses)))
            if part is first and len(losses) == 100 and np.mean(losses) < LEARNED:
                break
    model.eval()


def tests(case: str, count: int = TESTS) -> list[Trial]:
    """Return the texts of a case, the same ones for each model, and with an order or without."""
    make_one, unknown = CASES[case]
    chance = random.Random(f"passages {'told_alone' if case == UNTOLD else case}")
    return [make_one(_Draw(chance, unknown=unknown)) for _ in range(count)]


def _further(model: GPT, rows: Sequence[Sequence[int]]) -> list[list[int]]:
    """Return texts with the likeliest token behind each."""
    likeliest = logits_behind(model, rows).argmax(-1).tolist()
    return [[*row, token] for row, token in zip(rows, likeliest, strict=True)]


def measure(model: GPT, case: str, count: int = TESTS) -> dict[str, int]:
    """Count a case's answers: `Trial.called`, DECLINED, ELSE, and SOURCED of the right ones."""
    texts = tests(case, count)
    rows = _further(model, [prompt_ids(trial.passages, trial.question) for trial in texts])
    logits = logits_behind(model, rows)  # behind the person that the model has written
    given = [tokens()[int(token)] for token in logits.argmax(-1)]
    found: Counter[str] = Counter()
    declines = split(DECLINES)[0]
    sources = [row[-1] for row in _further(model, _further(model, rows))]
    for trial, word, source, values_of in zip(texts, given, sources, logits, strict=True):
        name = DECLINED if word == declines else trial.called.get(word, ELSE)
        found[name] += 1
        if name == RIGHT and trial.source:
            found[SOURCED] += tokens()[source] == SOURCES[trial.source - 1]
        if case == "none":
            kind = [vocabulary()[value] for value in values(trial.kind)]
            found[FORCED] += kind[int(values_of[kind].argmax())] == vocabulary()[trial.right]
    return dict(found)


def trained(seed: int, folder: Path, most: int = MOST, steps: int = STEPS) -> Measured:
    """Train a model from a seed, write its weights and measure it."""
    import torch
    from tqdm import tqdm

    from llmviz.training.tensors import save_tensors

    torch.set_num_threads(1)
    torch.manual_seed(seed)
    model = new_model()
    training = train(model, seed, most, steps)
    *_, last = tqdm(training, f"seed {seed}", most + steps, mininterval=5)
    save_tensors(_weights_of(folder, seed), dict(model.state_dict()), torch.float16)
    cases = {case: measure(model, case) for case in CASES}
    return Measured(seed, last.loss, last.step, cases)


def best(models: Sequence[Measured]) -> Measured:
    """Return the model with the most right answers where one passage is right, the first of them.

    It is the one that is bundled.
    """
    return max(models, key=lambda model: model.share("right", RIGHT))


def _weights_of(folder: Path, seed: int) -> Path:
    return folder / f"{seed}-{WEIGHTS}"


def make(folder: Path = EXPERIMENT_FOLDER, seeds: Sequence[int] = SEEDS) -> None:
    """Train a model for each seed, beside each other; write what they answer, and the best."""
    from llmviz.training.tensors import load_tensors, save_tensors

    begun = time.perf_counter()
    with ProcessPoolExecutor(len(seeds), get_context("spawn")) as pool:
        models = [*pool.map(trained, seeds, [folder] * len(seeds))]
    save_tensors(folder / WEIGHTS, load_tensors(_weights_of(folder, best(models).seed)))
    for seed in seeds:
        _weights_of(folder, seed).unlink(missing_ok=True)
    found = [asdict(model) for model in models]
    seconds = round(time.perf_counter() - begun, 1)
    content = {"command": COMMAND, "tests": TESTS, "seconds": seconds}
    write_json(folder / FILE, content | {"models": found})


if __name__ == "__main__":
    write_to(make, "Train the models that read passages again.")
