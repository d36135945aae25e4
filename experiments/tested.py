"""A test whose questions stand in the training text, beside another test of the same kind.

Makes what `llmviz.course.lessons.errors.tested_in_training` reads.
"""

from __future__ import annotations

from pathlib import Path

from experiments._command import write_to
from llmviz.corpus.invented import invent
from llmviz.course.lessons.errors.read_facts import (
    CONTEXT,
    PASSES,
    Answers,
    all_words,
    answers_of,
    ask_all,
)
from llmviz.course.lessons.errors.tested_in_training import (
    COMMAND,
    COPIES,
    EACH,
    FILE,
    Score,
    documents,
    two_tests,
)
from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.training.files import write_json

SEEDS = (0, 1, 2)


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


def make(folder: Path = EXPERIMENT_FOLDER) -> None:
    """Train all bundled models and write their scores."""
    scores = {str(copies): [vars(train_one(seed, copies)) for seed in SEEDS] for copies in COPIES}
    write_json(folder / FILE, {"command": COMMAND, "seeds": SEEDS, "scores": scores})


if __name__ == "__main__":
    write_to(make, "Train the models that read their test again.")
