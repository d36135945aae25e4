"""Small models that learn to answer questions about letters, each in one of three spellings.

`python -m experiments make letters` trains them again, some minutes on one core, and writes
`data/experiments/letters.json`: how often each is right; and `letters.safetensors`: the models that
count letters, with the first seed, in float16. Reading the former needs no torch.

N questions, T tokens of a question with its answer, A tokens of its answer.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from llmviz.corpus.letter_questions import (
    ALPHABET,
    COUNT,
    DIGITS,
    LENGTH,
    MARKS,
    READ,
    SPELLINGS,
    TASKS,
    UNASKED,
    UNKNOWN,
    Question,
    Quiz,
    count_question,
    cut,
    tokens_of,
)
from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.records import Recorded, typed
from llmviz.training.config import QUICK, TrainConfig

if TYPE_CHECKING:
    from torch import Tensor

    from llmviz.models.base import LanguageModel

FILE, WEIGHTS = "letters.json", "letters.safetensors"
COMMAND = "python -m experiments make letters"
SEEDS = (0, 1, 2)
SIZES = {"n_layer": 2, "n_head": 2, "n_embd": 32, "dropout": 0.0}
STEPS = 2_000
TRAINING = TrainConfig(steps=STEPS, batch_size=64, warmup_steps=100, log_every=STEPS, **QUICK)


@dataclass(frozen=True)
class Score:
    """How often models were right in one of TESTS: a share for each of SEEDS.

    asked: questions of the test. guess: right answers of somebody who always gives the answer that
    is the most frequent one in the training.
    """

    asked: int
    right: tuple[float, ...]
    guess: tuple[float, ...]

    @property
    def mean(self) -> float:
        """The mean share."""
        return float(np.mean(self.right))

    @property
    def error(self) -> float:
        """The standard error of the mean over the seeds."""
        return float(np.std(self.right, ddof=1) / math.sqrt(len(self.right)))

    def above(self, other: Score) -> bool:
        """Whether each of these models is right more often than each of the others."""
        return min(self.right) > max(other.right)


@dataclass(frozen=True)
class LetterScores:
    """Scores by task, spelling and test; and how many parameters the models have."""

    scores: dict[str, dict[str, dict[str, Score]]]
    parameters: dict[str, dict[str, int]]


def vocabulary(quiz: Quiz, way: str) -> list[str]:
    """Return the tokens of a quiz in one spelling: letters, digits, marks, and those of its words.

    Words that the training never has are among them.
    """
    known, new = quiz.words
    parts = {token for word in (*known, *new) for token in cut(word, way)}
    return sorted(parts | set(ALPHABET) | set(DIGITS) | set(MARKS))


def rows_of(questions: list[Question], places: dict[str, int], way: str) -> np.ndarray:
    """Return questions with their answers as ids (N, T); places: the id of each token."""
    rows = [[*tokens_of(question, way), *question.answer] for question in questions]
    return np.array([[places[token] for token in row] for row in rows], np.int64)


class LetterData:
    """Batches for `train`: the questions in an order of their own each time, answers as targets."""

    def __init__(self, quiz: Quiz, way: str):
        tokens = vocabulary(quiz, way)
        self.places = {token: place for place, token in enumerate(tokens)}
        self.rows = rows_of(quiz.training, self.places, way)
        self.answer = len(quiz.training[0].answer)
        self.seed = quiz.seed
        self.vocab_size = len(tokens)
        self.context_length = self.rows.shape[1] - 1

    def batch(self, step: int, rows: int) -> tuple[Tensor, Tensor]:
        """Ids and targets of update `step`, int64 (rows, T - 1) both."""
        import torch

        from llmviz.nn.loss import IGNORED

        passes, place = divmod(step - 1, len(self.rows) // rows)
        order = np.random.default_rng((self.seed, passes)).permutation(len(self.rows))
        ids = torch.from_numpy(self.rows[order[place * rows : (place + 1) * rows]])
        targets = ids[:, 1:].clone()
        targets[:, : -self.answer] = IGNORED
        return ids[:, :-1], targets

    def validation_batches(self, rows: int, count: int) -> Iterator[tuple[Tensor, Tensor]]:
        """Questions of the training: the tests are asked apart from it."""
        for step in range(1, count + 1):
            yield self.batch(step, rows)

    def count(self, batch: tuple[Tensor, ...]) -> int:
        """All tokens of the answers."""
        return len(batch[-1]) * self.answer


def train_one(quiz: Quiz, way: str, steps: int = STEPS) -> tuple[LanguageModel, LetterData]:
    """Train a model on a quiz in one spelling; its weights are rounded to float16 at the end."""
    import torch

    from llmviz.training.loop import train

    data = LetterData(quiz, way)
    plan = TrainConfig.from_dict(
        TRAINING.to_dict() | {"steps": steps, "log_every": steps, "seed": quiz.seed}
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(quiz.seed)
        model = new_model(data.vocab_size, data.context_length)
    for _ in train(model, data, plan):
        pass
    return model.half().float().eval(), data


def new_model(vocab_size: int, context_length: int) -> LanguageModel:
    """Return a model before its training.

    A GPT begins with matrices of deviation 0.02, which is small for one of so few numbers: it then
    needs many more steps. Here it is one over the square root of the width.
    """
    import torch

    from llmviz.models import build

    options = {"vocab_size": vocab_size, "context_length": context_length, **SIZES}
    model = build("gpt", options)
    with torch.no_grad():
        for weight in model.parameters():
            if weight.ndim == 2:
                weight.mul_(1 / (0.02 * math.sqrt(SIZES["n_embd"])))
    return model


@cache
def recorded(folder: Path = EXPERIMENT_FOLDER) -> LetterScores:
    """Return how often the bundled models were right.

    Raises ValueError where the file is missing or damaged.
    """
    with Recorded(folder / FILE, COMMAND) as content:
        found = typed(content, LetterScores)
        if any(set(found.scores[task]) != set(SPELLINGS) for task in TASKS):
            raise ValueError("a spelling is missing")
        return found


@cache
def counting(way: str, folder: Path = EXPERIMENT_FOLDER) -> tuple[LanguageModel, dict[str, int]]:
    """Return the bundled model that counts letters in one spelling, and the id of each token.

    Raises ValueError where it is not in this copy.
    """
    from llmviz.training.small_models import read_weights

    data = LetterData(_counting_quiz(), way)
    fresh = new_model(data.vocab_size, data.context_length)
    model = read_weights(folder / WEIGHTS, COMMAND, lambda _: fresh, f"{way}.")
    return model.requires_grad_(False), data.places


def counted(way: str, word: str, letter: str, folder: Path = EXPERIMENT_FOLDER) -> np.ndarray:
    """Return how probable each count, from 0 to LENGTH, is for a letter of a word (LENGTH + 1,).

    Raises ValueError for a word that is not LENGTH letters of ALPHABET, another letter, and for a
    word that is no token, where words are whole.
    """
    import torch

    if len(word) != LENGTH or set(word) - set(ALPHABET):
        raise ValueError(f"the word must be {LENGTH} letters from {ALPHABET}; got {word!r}")
    if len(letter) != 1 or letter not in ALPHABET:
        raise ValueError(f"the letter must be one of {ALPHABET}; got {letter!r}")
    model, places = counting(way, folder)
    tokens = tokens_of(count_question(word, letter), way)
    if lacking := [token for token in tokens if token not in places]:
        raise ValueError(f"{lacking[0]!r} is no token of this model")
    with torch.inference_mode():
        logits = model(torch.tensor([[places[token] for token in tokens]]))[0][0, -1].double()
    chances = logits.softmax(-1).numpy()
    return chances[[places[digit] for digit in DIGITS[: LENGTH + 1]]]


@cache
def _counting_quiz() -> Quiz:
    return Quiz(COUNT, SEEDS[0])


def asked_before(word: str, letter: str) -> str | None:
    """Return which of TESTS a question to the models of `counted` belongs to; None: none of them.

    A word that belongs to none is no token where words are whole.
    """
    quiz = _counting_quiz()
    known, new = quiz.words
    if word in new:
        return UNKNOWN
    if word not in known:
        return None
    return UNASKED if quiz.spared[word] == letter else READ
