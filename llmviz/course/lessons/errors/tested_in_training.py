"""A test whose questions stand in the training text, beside another test of the same kind.

`python -m experiments make tested` trains the bundled models again, two minutes on one
core, and writes `data/experiments/tested.json`. Reading it needs no torch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from llmviz.corpus.invented import Person, Register, fact, invent
from llmviz.course.lessons.errors.read_facts import (
    CONTEXT,
    PASSES,
    Answers,
    all_words,
    answers_of,
    ask_all,
)
from llmviz.paths import EXPERIMENT_FOLDER
from llmviz.records import Recorded, write_to
from llmviz.training.files import write_json

FILE = "tested.json"
COMMAND = "python -m experiments make tested"
SEEDS = (0, 1, 2)
COPIES = (0, 1, 3, 10)  # how often the questions of the test stand in the text, besides
EACH = 80  # persons for each count: half for either test
HARD = (1, 2, 5)  # the tests ask for facts that the text says so often


@dataclass(frozen=True)
class Score:
    """Shares of right answers of one model: in the test that it may have read, and in the other."""

    copies: int
    read: float
    other: float
    questions: int  # of each test


def two_tests(register: Register) -> tuple[list[Person], list[Person]]:
    """Return two tests of the same kind: as many persons of each count in HARD, none in both."""
    groups = [[person for person in register.people if person.times == times] for times in HARD]
    first = [person for group in groups for person in group[: len(group) // 2]]
    second = [person for group in groups for person in group[len(group) // 2 :]]
    return first, second


def documents(register: Register, test: Sequence[Person], copies: int) -> list[str]:
    """Return the text of a world, with the questions and answers of a test in it, so often."""
    return register.documents() + [fact(person) for person in test for _ in range(copies)]


def train_one(seed: int, copies: int) -> Score:
    """Train one model on a text and give it both tests."""
    from llmviz.course.lessons.errors.small_reader import read_text

    register = invent(seed, each=EACH)
    test, other = two_tests(register)
    text = documents(register, test, copies)
    *_, reader = read_text(text, words=all_words(), passes=PASSES, seed=seed, context=CONTEXT)
    answers = Answers(ask_all(reader.model, reader.tokenizer))
    right = {answer.person.name: answer.is_right for answer in answers_of(register, answers)}
    read, unread = (
        sum(right[person.name] for person in part) / len(part) for part in (test, other)
    )
    return Score(copies, read, unread, len(test))


@cache
def bundled(folder: Path = EXPERIMENT_FOLDER) -> dict[int, tuple[Score, ...]]:
    """Return the scores by number of copies, one for each of SEEDS.

    Raises ValueError where they are not in this copy.
    """
    with Recorded(folder / FILE, COMMAND) as content:
        scores = content["scores"]
        return {copies: tuple(Score(**score) for score in scores[str(copies)]) for copies in COPIES}


def make(folder: Path = EXPERIMENT_FOLDER) -> None:
    """Train all bundled models and write their scores."""
    scores = {str(copies): [vars(train_one(seed, copies)) for seed in SEEDS] for copies in COPIES}
    write_json(folder / FILE, {"command": COMMAND, "seeds": SEEDS, "scores": scores})


if __name__ == "__main__":
    write_to(make, "Train the models that read their test again.")
