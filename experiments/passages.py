"""What models make of the passages before a question: right, wrong, none, two that disagree.

Makes what `llmviz.course.lessons.reasoning.retrieval.passage_record` reads.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

from experiments._command import write_to
from llmviz.corpus.facts_in_passages import (
    DECLINES,
    split,
    values,
)
from llmviz.course.lessons.reasoning.retrieval.passage_reader import (
    MOST,
    SOURCES,
    STEPS,
    logits_behind,
    new_model,
    prompt_ids,
    tokens,
    train,
    vocabulary,
)
from llmviz.paths import EXPERIMENT_FOLDER
from llmviz.training.files import write_json

if TYPE_CHECKING:
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
