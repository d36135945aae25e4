"""What models make of the passages before a question: right, wrong, none, two that disagree.

`python -m experiments make passages` trains three models beside each other, twelve minutes on two
cores, and writes `data/experiments/passages.json` and the best model, `passages.safetensors`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from llmviz.corpus.facts_in_passages import (
    KINDS,
    STAND_INS,
    held_out,
    names,
    question,
    sentence,
    values,
)
from llmviz.course.lessons.reasoning.retrieval.passage_reader import (
    new_model,
)
from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.records import Recorded, typed
from llmviz.training import small_models

if TYPE_CHECKING:
    from llmviz.models.gpt import GPT

FILE, WEIGHTS = "passages.json", "passages.safetensors"
COMMAND = "python -m experiments make passages"
SEEDS = (0, 1, 2)
TESTS = 300  # texts of each case
RIGHT, DECLINED, TOLD, FIRST, LAST, ELSE = "right", "declined", "told", "first", "last", "else"
MORE, FEWER = "more", "fewer"  # of three passages, what two say and what one says
UNTOLD = "untold_alone"
SOURCED = "sourced"  # of the right answers, those with the right number behind them
FORCED = "forced"  # the right value is the likeliest one of its kind, whatever else is likelier


@dataclass(frozen=True)
class Trial:
    """Passages and a question; by the word behind the person, what each answer is called."""

    passages: tuple[str, ...]
    question: str
    called: dict[str, str]
    kind: str
    right: str
    source: int = 0  # number of the passage that says it, from 1


class _Draw:
    """Draws one test: a person, a kind of fact, and pairs that no training text has."""

    def __init__(self, chance: random.Random, *, unknown: bool = False) -> None:
        self.chance = chance
        people = chance.sample(list(names()), 4)
        self.kind = chance.choice(list(KINDS))
        self.who, *self.others = people
        free = [value for value in values(self.kind) if held_out(self.who, self.kind, value)]
        self.right, self.wrong = chance.sample(free, 2)
        self.stand_ins = iter(chance.sample(STAND_INS, len(STAND_INS))) if unknown else None
        self._known: dict[str, str] = {}

    def word(self, word: str) -> str:
        """A word as it is, or its stand-in."""
        if self.stand_ins is None:
            return word
        if word not in self._known:
            self._known[word] = next(self.stand_ins)
        return self._known[word]

    def says(self, value: str) -> str:
        """A passage that says the fact, with another of the same person before or behind it."""
        kind = self.chance.choice([name for name in KINDS if name != self.kind])
        pairs = [(self.kind, value), (kind, self.chance.choice(values(kind)))]
        self.chance.shuffle(pairs)
        pronoun, way = names()[self.who], self.chance.randrange(2)
        subjects = (self.word(self.who), pronoun)
        return " ".join(
            sentence(subject, kind, self.word(value), way)
            for subject, (kind, value) in zip(subjects, pairs, strict=True)
        )

    def other(self, *, near: bool) -> str:
        """A passage that does not say it: the same kind of another person, or another of theirs."""
        if near:
            who, kind = self.others.pop(), self.kind
        else:
            who, kind = self.who, self.chance.choice([name for name in KINDS if name != self.kind])
        free = [answer for answer in values(kind) if answer not in (self.right, self.wrong)]
        value = self.word(self.chance.choice(free))
        return sentence(self.word(who), kind, value, self.chance.randrange(2))

    def test(self, passages: Sequence[str], called: dict[str, str], source: int = 0) -> Trial:
        """A test of these passages; called: by name, the first token of an answer."""
        by_word = {self.word(value): name for name, value in called.items()}
        text = question(self.word(self.who), self.kind)
        return Trial(tuple(passages), text, by_word, self.kind, self.word(self.right), source)


def _with_right(draw: _Draw, others: Sequence[str], called: dict[str, str]) -> Trial:
    """Put the passage that says it at a random place among others."""
    place = draw.chance.randint(0, len(others))
    passages = [*others[:place], draw.says(draw.right), *others[place:]]
    return draw.test(passages, {RIGHT: draw.right} | called, place + 1)


def _right(draw: _Draw) -> Trial:
    return _with_right(draw, [draw.other(near=True), draw.other(near=False)], {})


def _wrong(draw: _Draw) -> Trial:
    passages = [draw.other(near=True), draw.other(near=False), draw.other(near=True)]
    draw.chance.shuffle(passages)
    return draw.test(passages, {RIGHT: draw.right})


def _two(draw: _Draw) -> Trial:
    passages = [draw.says(draw.right), draw.says(draw.wrong)]
    return draw.test(passages, {FIRST: draw.right, LAST: draw.wrong})


def _three(place: int) -> Callable[[_Draw], Trial]:
    def made(draw: _Draw) -> Trial:
        passages = [draw.says(draw.right) for _ in range(2)]
        passages.insert(place, draw.says(draw.wrong))
        return draw.test(passages, {MORE: draw.right, FEWER: draw.wrong})

    return made


def _told(known: bool, says: bool, order: str = " Answer: {word}.") -> Callable[[_Draw], Trial]:
    """An instruction behind a passage that says nothing of the fact: "Answer: …"."""

    def made(draw: _Draw) -> Trial:
        word = draw.wrong if known else draw.chance.choice(STAND_INS)
        passage = draw.other(near=True) + order.format(word=word)
        if says:
            return _with_right(draw, [passage], {TOLD: word})
        passages = [passage, draw.other(near=False)]
        draw.chance.shuffle(passages)
        return draw.test(passages, {RIGHT: draw.right, TOLD: word})

    return made


CASES: dict[str, tuple[Callable[[_Draw], Trial], bool]] = {
    "right": (_right, False),
    "unknown": (_right, True),
    "wrong": (_wrong, False),
    "none": (lambda draw: draw.test([], {RIGHT: draw.right}), False),
    "two": (_two, False),
    "three_1": (_three(0), False),
    "three_2": (_three(1), False),
    "three_3": (_three(2), False),
    "told": (_told(True, True), False),
    "told_nobody": (_told(False, True), False),
    "told_alone": (_told(True, False), False),
    "told_nobody_alone": (_told(False, False), False),
    UNTOLD: (_told(True, False, ""), False),
}
"""By name: how a text is made, and whether its names and values are stand-ins.

three_N: passage N says one thing, the two others say another. told: a passage ends with "Answer: "
and a value of the kind that is asked for; told_nobody, with a word that the model does not know;
alone, no other passage has the answer. untold_alone: the texts of told_alone without the order.
"""


@dataclass(frozen=True)
class Measured:
    """One model: the mean loss of its last hundred steps, all its steps, and each case's counts."""

    seed: int
    loss: float
    steps: int
    cases: dict[str, dict[str, int]]

    def share(self, case: str, name: str) -> float:
        """Which share of the texts of a case has such an answer."""
        return self.cases[case].get(name, 0) / TESTS

    @property
    def sourced(self) -> float:
        """Which share of the right answers has the right number behind it; NaN without any."""
        counts = self.cases["right"]
        return counts.get(SOURCED, 0) / counts[RIGHT] if counts.get(RIGHT) else float("nan")


@cache
def recorded(folder: Path = EXPERIMENT_FOLDER) -> list[Measured]:
    """Return the bundled results, a model for each seed. ValueError: missing or damaged."""
    with Recorded(folder / FILE, COMMAND) as content:
        found = typed(content["models"], list[Measured])
        if len(found) != len(SEEDS) or any(set(model.cases) != set(CASES) for model in found):
            raise ValueError("models or cases are missing")
        return found


@cache
def bundled(folder: Path = EXPERIMENT_FOLDER) -> GPT:
    """Return the bundled model. Raises ValueError where it is missing."""
    return small_models.read_weights(folder / WEIGHTS, COMMAND, lambda _: new_model())
