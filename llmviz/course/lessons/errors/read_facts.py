"""Small models that read where invented persons live, some of them often and some never.

`python -m experiments make facts` trains the bundled ones again, about a minute on one core, and
writes `data/experiments/facts.safetensors`: what each model answers to the question where somebody
lives, for every name. Reading it needs no torch. `facts.json` beside it is their card: how many
answers are right and how sure they are, with the range of the three seeds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from llmviz.config import Config, setting
from llmviz.corpus.invented import (
    MOST_UNKNOWN,
    NAMES,
    TOWNS,
    Person,
    Register,
    first_names,
    invent,
    namesakes,
    question,
    surnames,
)
from llmviz.corpus.words import words as words_of
from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.records import require

if TYPE_CHECKING:
    from torch import Tensor

    from llmviz.models.base import LanguageModel
    from llmviz.tokenizers import Tokenizer

FILE, CARD = "facts.safetensors", "facts.json"
COMMAND = "python -m experiments make facts"
SEEDS = (0, 1, 2)
UNKNOWN = (0, 50, 200, 800)
"""Of how many persons the bundled texts say that nobody knows where they live."""
CHOICES = (*TOWNS, "nobody")
"""What can be answered: a town, or that nobody knows."""
NOBODY = len(TOWNS)
PASSES = 4  # how often the bundled models read their text
MOST_PASSES = 12
CONTEXT = 12  # tokens: more than a question with its answer has


@dataclass(frozen=True)
class Reading(Config):
    """What a model reads: a world, how often, and a fact of the learner's, if any."""

    seed: int = setting(0, "which world, first weights and order of reading", "", 0, 9_999)
    unknown: int = setting(0, "persons of whom the text says that nobody knows", "persons", 0, 1000)
    passes: int = setting(PASSES, "how often the text is read", "times", 1, MOST_PASSES)

    def __post_init__(self) -> None:
        self.require_at_least(0, "seed", "unknown")
        self.require_at_least(1, "passes")
        for name, most in (("unknown", MOST_UNKNOWN), ("passes", MOST_PASSES)):
            if getattr(self, name) > most:
                raise ValueError(f"{name} must be at most {most}; got {getattr(self, name)}")


@dataclass(frozen=True, eq=False)
class Answers:
    """What a model answers where each person lives.

    chances: (NAMES, NAMES, len(CHOICES)) by first name, surname and answer; what is left to 1 is
    the probability of any other text.
    """

    chances: np.ndarray

    def of(self, first: str, last: str) -> np.ndarray:
        """The probability of each of CHOICES for one person. KeyError for an unknown name."""
        return self.chances[_places()[0][first], _places()[1][last]]


@dataclass(frozen=True)
class Answer:
    """The most probable answer for one person, and how sure the model is of it."""

    person: Person
    said: str  # one of CHOICES
    confidence: float  # its probability
    right: float  # the probability of the right town
    shared: bool  # the town is that of somebody in the text with the same first name or surname

    @property
    def is_right(self) -> bool:
        """Whether it is the town where the person lives."""
        return self.said == self.person.town

    @property
    def declined(self) -> bool:
        """Whether it says that nobody knows."""
        return self.said == CHOICES[NOBODY]


@dataclass(frozen=True)
class Group:
    """All persons whose fact the text says equally often, in one world."""

    times: int
    right: float  # share of right answers
    declined: float  # share of "nobody knows"
    confidence: float  # mean probability of the answer that is given


@cache
def _places() -> tuple[dict[str, int], dict[str, int]]:
    firsts, lasts = first_names(), surnames()
    return {name: at for at, name in enumerate(firsts)}, {name: at for at, name in enumerate(lasts)}


def answers_of(register: Register, answers: Answers) -> list[Answer]:
    """Return the most probable answer for each person of a world."""
    given = []
    for person in register.people:
        chances = answers.of(person.first, person.last)
        best = int(chances.argmax())
        given.append(
            Answer(
                person,
                CHOICES[best],
                float(chances[best]),
                float(chances[TOWNS.index(person.town)]),
                CHOICES[best] in namesakes(register, person),
            )
        )
    return given


def by_times(given: list[Answer]) -> list[Group]:
    """Return how the answers are, by how often the text says the fact."""
    groups = []
    for times in sorted({answer.person.times for answer in given}):
        those = [answer for answer in given if answer.person.times == times]
        groups.append(
            Group(
                times,
                sum(answer.is_right for answer in those) / len(those),
                sum(answer.declined for answer in those) / len(those),
                sum(answer.confidence for answer in those) / len(those),
            )
        )
    return groups


@dataclass(frozen=True)
class Score:
    """What a test gives: one point for a right answer, minus `cost` for a wrong one, else none."""

    threshold: float
    points: float  # mean of all questions
    answered: float  # share of questions that are answered
    wrong: float  # share of questions that are answered wrongly


def scores(given: list[Answer], cost: float, thresholds: tuple[float, ...]) -> list[Score]:
    """Return what a model gets that answers only where it is surer than a threshold.

    An answer that nobody knows counts as no answer. With probabilities that are right, the best
    threshold is cost / (1 + cost): there a guess gains as much as it loses.
    Reference: Kalai and others 2025, "Why language models hallucinate", section 4.2.
    Raises ValueError for no answers or a cost below 0.
    """
    if not given:
        raise ValueError("a score needs at least one answer")
    if cost < 0:
        raise ValueError(f"the cost of a wrong answer cannot be below 0; got {cost}")
    total = len(given)
    found = []
    for threshold in thresholds:
        tried = [
            answer for answer in given if not answer.declined and answer.confidence > threshold
        ]
        right = sum(answer.is_right for answer in tried)
        wrong = len(tried) - right
        points = (right - cost * wrong) / total
        found.append(Score(threshold, points, len(tried) / total, wrong / total))
    return found


@dataclass(frozen=True)
class Progress:
    """How far a training is, and, after its last step, what the model answers."""

    step: int
    steps: int
    loss: float
    chances: np.ndarray | None = None
    own: np.ndarray | None = None  # the answers for the learner's person at this step


def read_world(reading: Reading, own: Person | None = None) -> Iterator[Progress]:
    """Train a model on a world and yield how far it is, some forty times; the last has the answers.

    own: a fact of the learner's, put into the text as often as it says; each value then has the
    answers for this person.
    """
    from llmviz.course.lessons.errors.small_reader import read_text

    documents = world_of(reading, own).documents()
    for reader in read_text(
        documents, words=all_words(), passes=reading.passes, seed=reading.seed, context=CONTEXT
    ):
        model, tokenizer = reader.model, reader.tokenizer
        watched = ask(model, tokenizer, [(own.first, own.last)])[0] if own else None
        chances = ask_all(model, tokenizer) if reader.done else None
        yield Progress(reader.step, reader.steps, reader.loss, chances, watched)


def world_of(reading: Reading, own: Person | None = None) -> Register:
    register = invent(reading.seed, unknown=reading.unknown)
    return register.with_fact(own) if own else register


def all_words() -> str:
    """Every word that a question or an answer may have, so that all worlds have the same tokens."""
    return " ".join((question("", ""), *first_names(), *surnames(), *TOWNS, "In Nobody knows."))


def ask_all(model: LanguageModel, tokenizer: Any) -> np.ndarray:
    """Return `Answers.chances` of a model: all first names with all surnames."""
    names = [(first, last) for first in first_names() for last in surnames()]
    return ask(model, tokenizer, names).reshape(NAMES, NAMES, len(CHOICES))


def ask(model: LanguageModel, tokenizer: Any, names: list[tuple[str, str]]) -> np.ndarray:
    """Return the probability of each of CHOICES for each name, (names, choices).

    A town is answered by two tokens, "In" and its name; that nobody knows, by "Nobody".
    """
    import torch

    from llmviz.training.data import end_id

    said = tokenizer.encode("In Nobody")
    towns = [tokenizer.encode(town)[0] for town in TOWNS]
    rows = [[end_id(tokenizer), *tokenizer.encode(question(*name)), said[0]] for name in names]
    was_training = model.training
    model.eval()
    with torch.no_grad():
        logits: Tensor = model(torch.tensor(rows))[0][:, -2:].double()
    model.train(was_training)
    first, second = logits.softmax(-1).unbind(1)
    places = first[:, said[0], None] * second[:, towns]
    return torch.cat([places, first[:, said[1], None]], 1).numpy()


@cache
def bundled(unknown: int = 0, seed: int = 0, folder: Path = EXPERIMENT_FOLDER) -> Answers:
    """Return what a bundled model answers. Raises ValueError where it is not in this copy."""
    from llmviz.files.weights import open_weights

    with open_weights(require(folder / FILE, COMMAND), "np") as file:
        return Answers(file.get_tensor(run_name(unknown, seed)).astype(np.float64))


def run_name(unknown: int, seed: int) -> str:
    return f"unknown-{unknown}.seed-{seed}"


STORY_MODEL = "tiny-world-gpt"  # its text names capitals by their countries, never the other way
BEGINNING = (
    "Once there was an odd baker called Nora Copperdale. The best friend she had was Ravi "
    "Nettleton, a kind doctor. They met at the harbour. Nora dreamed of"
)


def capitals_known(model: LanguageModel, tokenizer: Tokenizer) -> tuple[int, int, int]:
    """Return of how many countries a model names the capital, of how many capitals the country.

    And how many pairs there are. An answer is right where its first token is the likeliest one.
    """
    pairs = list(zip(words_of("countries"), words_of("capitals"), strict=True))
    asked = [(f"{a}. The capital of {a} is", b) for a, b in pairs]
    turned = [(f"{b}. {b} is the capital of", a) for a, b in pairs]
    counts = []
    for way in (asked, turned):
        said = likeliest(model, tokenizer, [f"{BEGINNING} {prompt}" for prompt, _ in way])
        wanted = [tokenizer.encode(f" {answer}")[0] for _, answer in way]
        counts.append(sum(a == b for a, b in zip(said, wanted, strict=True)))
    return counts[0], counts[1], len(pairs)


def likeliest(model: LanguageModel, tokenizer: Tokenizer, prompts: list[str]) -> list[int]:
    """Return the likeliest next token after each prompt; a token sees none behind it.

    Of a prompt that is longer than the context the end is read.
    """
    import torch

    most = model.context_length
    every = [list(tokenizer.encode_from_start(prompt))[-most:] for prompt in prompts]
    longest = max(map(len, every))
    ids = torch.tensor([row + [0] * (longest - len(row)) for row in every])
    with torch.inference_mode():
        logits = model(ids)[0]
    return [int(logits[k, len(row) - 1].argmax()) for k, row in enumerate(every)]
