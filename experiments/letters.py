"""Small models that learn to answer questions about letters, each in one of three spellings.

Makes what `llmviz.course.lessons.errors.letters.model` reads.

N questions, T tokens of a question with its answer, A tokens of its answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments._command import write_to
from llmviz.corpus.letter_questions import (
    COUNT,
    SPELLINGS,
    TASKS,
    TESTS,
    Question,
    Quiz,
)
from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.training.files import write_json

if TYPE_CHECKING:
    from llmviz.models.base import LanguageModel
from llmviz.course.lessons.errors.letters.model import (
    COMMAND,
    FILE,
    SEEDS,
    WEIGHTS,
    Score,
    rows_of,
    train_one,
)

LIMIT = 2_000  # questions of a test, at most


def right_answers(
    model: LanguageModel, places: dict[str, int], questions: list[Question], way: str
) -> np.ndarray:
    """Return for each question whether every token of its answer is the most probable one (N,)."""
    import torch

    ids = torch.from_numpy(rows_of(questions, places, way))
    answer = len(questions[0].answer)
    with torch.inference_mode():
        guesses = model(ids[:, :-1])[0].argmax(-1)
    return (guesses[:, -answer:] == ids[:, -answer:]).all(1).numpy()


def asked_in(quiz: Quiz, test: str) -> list[Question]:
    """Return up to LIMIT questions of a test, drawn from all of them."""
    every = quiz.test(test)
    if len(every) <= LIMIT:
        return every
    chosen = np.random.default_rng((quiz.seed, LIMIT)).permutation(len(every))[:LIMIT]
    return [every[place] for place in chosen]


def guess_share(quiz: Quiz, questions: list[Question]) -> float:
    """Return how many of some questions have the most frequent answer of the training."""
    ((most, _),) = Counter(question.answer for question in quiz.training).most_common(1)
    return sum(question.answer == most for question in questions) / len(questions)


def measure(task: str, way: str, seeds: tuple[int, ...] = SEEDS) -> Iterator[Any]:
    """Train one model for each seed; yield it with its data, and at the end the scores by test."""
    right: dict[str, list[float]] = {}
    guess: dict[str, list[float]] = {}
    counts: dict[str, int] = {}
    for seed in seeds:
        quiz = Quiz(task, seed)
        model, data = train_one(quiz, way)
        for test in TESTS:
            if questions := asked_in(quiz, test):
                found = right_answers(model, data.places, questions, way)
                right.setdefault(test, []).append(float(found.mean()))
                guess.setdefault(test, []).append(guess_share(quiz, questions))
                counts[test] = len(questions)
        yield model
    yield {test: Score(counts[test], tuple(right[test]), tuple(guess[test])) for test in right}


def make(folder: Path = EXPERIMENT_FOLDER) -> None:
    """Train all models; write both files, the first one after each spelling of a task."""
    import torch
    from tqdm import tqdm

    from llmviz.models import count_parameters
    from llmviz.training.tensors import save_tensors

    scores: dict[str, dict[str, Any]] = {task: {} for task in TASKS}
    sizes: dict[str, dict[str, int]] = {task: {} for task in TASKS}
    weights: dict[str, Any] = {}
    for task, way in tqdm([(task, way) for task in TASKS for way in SPELLINGS], unit="spelling"):
        first, *_, found = measure(task, way)
        sizes[task][way] = count_parameters(first)
        scores[task][way] = {test: asdict(score) for test, score in found.items()}
        if task == COUNT:
            weights |= {f"{way}.{name}": value for name, value in first.state_dict().items()}
        write_json(
            folder / FILE,
            {"command": COMMAND, "seeds": SEEDS, "parameters": sizes, "scores": scores},
        )
    save_tensors(folder / WEIGHTS, weights, torch.float16)


if __name__ == "__main__":
    write_to(make, "Train the models that are asked about letters.")
