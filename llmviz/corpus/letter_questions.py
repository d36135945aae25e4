"""Questions about the letters of invented words, and the digits of numbers, with their answers.

Each question can be written in three spellings: every word as one token, as two pieces, or letter
by letter. The answer is the same tokens each time.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import NamedTuple

WHOLE, PIECES, LETTERS = "whole", "pieces", "letters"
SPELLINGS = (WHOLE, PIECES, LETTERS)
COUNT, REVERSE, RHYME, SUM = "count", "reverse", "rhyme", "sum"
TASKS = (COUNT, REVERSE, RHYME, SUM)
ALPHABET, DIGITS = "abcdef", "0123456789"
LENGTH = 6  # letters of a word
ENDING = 2  # letters that words which rhyme share at their end
KNOWN, NEW = 1_000, 300  # words that the training has, and words that it never has
NEW_NUMBERS = 100  # of the thousand
PAIRS = 16_000  # pairs of words, or of numbers, that are asked about in the training
OTHERS = 1_600  # pairs of a test
READ, UNASKED, UNKNOWN = "read", "unasked", "unknown"
TESTS = (READ, UNASKED, UNKNOWN)
"""Questions of the training; others about its words; and questions about words that it has not."""
REVERSED, RHYMES, EQUALS, YES, NO = "reversed", "rhymes?", "=", "yes", "no"
MARKS = (REVERSED, RHYMES, EQUALS, YES, NO)


class Question(NamedTuple):
    """Words or numbers, the token that says what is asked of them, and the tokens of the answer."""

    about: tuple[str, ...]
    asks: str
    answer: tuple[str, ...]


def cut(text: str, way: str) -> list[str]:
    """Return a word in one of SPELLINGS: one part, two halves, or letters; an empty one has none.

    >>> cut("garage", "pieces")
    ['gar', 'age']

    Raises ValueError for an unknown spelling.
    """
    half = (len(text) + 1) // 2
    parts = {WHOLE: [text], PIECES: [text[:half], text[half:]], LETTERS: list(text)}
    if way not in parts:
        raise ValueError(f"the spelling must be one of {', '.join(SPELLINGS)}; got {way!r}")
    return [part for part in parts[way] if part]


def tokens_of(question: Question, way: str) -> list[str]:
    """Return a question as tokens, up to the one behind which its answer begins.

    >>> tokens_of(count_question("abcdef", "b"), "pieces")
    ['abc', 'def', 'b']
    """
    return [*(token for word in question.about for token in cut(word, way)), question.asks]


def count_question(word: str, letter: str) -> Question:
    """How often a letter is in a word."""
    return Question((word,), letter, (str(word.count(letter)),))


def reverse_question(word: str) -> Question:
    """A word from its last letter to its first."""
    return Question((word,), REVERSED, tuple(reversed(word)))


def rhyme_question(word: str, other: str) -> Question:
    """Whether two words have the same end."""
    return Question((word, other), RHYMES, (YES if word[-ENDING:] == other[-ENDING:] else NO,))


def sum_question(number: str, other: str) -> Question:
    """The sum of two numbers of three digits, in four digits, the ones last."""
    return Question((number, other), EQUALS, tuple(f"{int(number) + int(other):04d}"))


@dataclass(frozen=True)
class Quiz:
    """The questions of one task: those of the training, and of each of TESTS; drawn from a seed.

    A task without further questions about its words has no test of that name: reversing.
    Raises ValueError for an unknown task.
    """

    task: str
    seed: int = 0

    def __post_init__(self) -> None:
        if self.task not in TASKS:
            raise ValueError(f"the task must be one of {', '.join(TASKS)}; got {self.task!r}")

    def _draw(self, name: str) -> random.Random:
        return random.Random(f"{self.task} {self.seed} {name}")

    @cached_property
    def words(self) -> tuple[list[str], list[str]]:
        """The words or numbers of the training, and those that it does not have."""
        if self.task == SUM:
            every, new = [f"{number:03d}" for number in range(1_000)], NEW_NUMBERS
            some = self._draw("words").sample(every, len(every))
        else:
            every, new = ["".join(letters) for letters in product(ALPHABET, repeat=LENGTH)], NEW
            some = self._draw("words").sample(every, KNOWN + NEW)
        return some[new:], some[:new]

    @cached_property
    def training(self) -> list[Question]:
        """The questions of the training, each once."""
        known, _ = self.words
        if self.task == COUNT:
            spared = self.spared
            every = product(known, ALPHABET)
            return [
                count_question(word, letter) for word, letter in every if letter != spared[word]
            ]
        if self.task == REVERSE:
            return [reverse_question(word) for word in known]
        return self._pairs[:PAIRS]

    def test(self, name: str) -> list[Question]:
        """The questions of one of TESTS; reversing has none about other things of its words."""
        known, new = self.words
        if name == READ:
            return self.training
        if self.task == COUNT:
            if name == UNASKED:
                return [count_question(word, self.spared[word]) for word in known]
            return [count_question(word, letter) for word, letter in product(new, ALPHABET)]
        if self.task == REVERSE:
            return [reverse_question(word) for word in new] if name == UNKNOWN else []
        if name == UNASKED:
            return self._pairs[PAIRS:]
        return list(self._some_pairs(new, "new", OTHERS))

    @cached_property
    def spared(self) -> dict[str, str]:
        """For each word of the training, the letter that is not asked about there."""
        draw = self._draw("spared")
        return {word: draw.choice(ALPHABET) for word in self.words[0]}

    @cached_property
    def _pairs(self) -> list[Question]:
        return list(self._some_pairs(self.words[0], "pairs", PAIRS + OTHERS))

    def _some_pairs(self, words: list[str], name: str, count: int) -> Iterator[Question]:
        """Yield so many questions about different pairs of words; of rhymes, every second pair."""
        draw, met = self._draw(name), set[frozenset[str]]()
        ask: Callable[[str, str], Question] = sum_question if self.task == SUM else rhyme_question
        ends: dict[str, list[str]] = {}
        for word in words:
            ends.setdefault(word[-ENDING:], []).append(word)
        while len(met) < count:
            first = draw.choice(words)
            rhymes = self.task == RHYME and len(met) % 2 == 0
            second = draw.choice(ends[first[-ENDING:]] if rhymes else words)
            question = ask(first, second)
            wanted = self.task == SUM or (question.answer[0] == YES) == rhymes
            pair = frozenset(question.about)
            if first != second and wanted and pair not in met:
                met.add(pair)
                yield question
