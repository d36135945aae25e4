"""Chains of sums as texts, answered at once or with calls to a calculator, and a GPT for them.

A text is the question, `37 add 85 times 12 =`, then either the answer, or calls before it:
`⟨call⟩37+85⟨result⟩122⟨call⟩122*12⟨result⟩1464⟨answer⟩1464⟨end⟩`. A chain is computed from left to
right. What stands behind ⟨result⟩ is written by the calculator; no loss is taken there.

B texts, T tokens, V tokens of the vocabulary.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from zlib import crc32

from llmviz.course.lessons.reasoning.tools.calculator import calculate, fed_back
from llmviz.training import small_models

if TYPE_CHECKING:
    from llmviz.models.gpt import GPT

SIGNS = {" add ": "+", " subtract ": "-", " times ": "*", " divided by ": "/"}
MARKS = ("⟨call⟩", "⟨result⟩", "⟨answer⟩", "⟨end⟩", "⟨unknown⟩")
TOKENS = (*"0123456789+-*/=?", *"abcdefghijklmnopqrstuvwxyz .,:;!'()", *SIGNS, *MARKS)
CALL, RESULT, ANSWER, END, UNKNOWN = (TOKENS.index(mark) for mark in MARKS)
IDS = {token: at for at, token in enumerate(TOKENS)}
DOUBTED = "?"  # the answer of a model that was trained to doubt
DIRECT, TOOL, OPEN, DOUBT = "direct", "tool", "open", "doubt"
WAYS = (DIRECT, TOOL, OPEN, DOUBT)
"""Answers at once; calls; calls with a loss on results as well; calls to a tool that is at times
wrong, where the answer is then "?"."""
TRAINED, STEPS = 3, 2  # most digits of a number, and most steps of a chain, that are trained on
MOST_DIGITS, MOST_STEPS = 12, 4  # of a question that is asked
WRONG = 0.4  # share of the texts of DOUBT that have a wrong result
LAYERS, HEADS, WIDTH, CONTEXT = 2, 4, 64, 720
BASE = 30  # of the rotary positions: angles grow fast, so that neighbouring places are told apart
BATCH, UPDATES, RATE, WARMUP = 64, 500, 4e-3, 50
APART = 10  # of so many questions, one is kept apart


@dataclass(frozen=True)
class Question:
    """A number, and steps: each a word of SIGNS and a number."""

    first: int
    steps: tuple[tuple[str, int], ...]

    @property
    def text(self) -> str:
        return f"{self.first}{''.join(f'{word}{number}' for word, number in self.steps)}="

    @property
    def calls(self) -> list[str]:
        """The calls that compute it, as far as there are values; the last has its value."""
        found, value = [], str(self.first)
        for word, number in self.steps:
            found.append(f"{value}{SIGNS[word]}{number}")
            value = fed_back(found[-1])
            if not is_number(value):
                break
        return found

    @property
    def value(self) -> int | None:
        """The value; None where a division has none that is whole."""
        try:
            return calculate(self.calls[-1])
        except ValueError:
            return None

    @property
    def is_apart(self) -> bool:
        """Whether it is kept apart from all trainings."""
        return crc32(self.text.encode()) % APART == 0


def is_number(text: str) -> bool:
    """Return whether a text is a whole number as the calculator writes one."""
    return re.fullmatch(r"-?[1-9][0-9]*|0", text) is not None


_FORM = re.compile(r"\s*([+*/-]|add|plus|subtract|minus|times|divided by|over)?\s*([0-9]+)", re.I)
_WORDS = dict(zip("+-*/", SIGNS, strict=True)) | {
    "add": " add ",
    "plus": " add ",
    "subtract": " subtract ",
    "minus": " subtract ",
    "times": " times ",
    "divided by": " divided by ",
    "over": " divided by ",
}


def question_of(typed: str) -> Question:
    """Return the question of a typed text, with words or signs, read from left to right.

    Raises ValueError where it has another form, or is larger than what can be asked.

    >>> question_of("37 + 85 times 12").text
    '37 add 85 times 12='
    """
    text = typed.replace("×", "*").replace("÷", "/").replace("−", "-").strip().rstrip("=?").strip()
    at, found = 0, []
    while at < len(text):
        match = _FORM.match(text, at)
        if match is None or (match[1] is None) != (at == 0):
            raise ValueError(
                "a question is whole numbers with “add”, “subtract”, “times” or “divided by” "
                "between them, such as 37 add 85 times 12"
            )
        if len(match[2]) > MOST_DIGITS:
            raise ValueError(f"a number has at most {MOST_DIGITS} digits; got {len(match[2])}")
        found.append((_WORDS[match[1].lower()] if match[1] else "", int(match[2])))
        at = match.end()
    if not 1 <= len(found) - 1 <= MOST_STEPS:
        raise ValueError(f"a question has from 1 to {MOST_STEPS} steps; got {len(found[1:])}")
    return Question(found[0][1], tuple(found[1:]))


def encode(text: str) -> list[int]:
    """Return the ids of a text: signs and words of a question are tokens, marks are not read.

    Capital letters are read as small ones, and what is not in the vocabulary as ⟨unknown⟩.
    """
    parts = re.split(f"({'|'.join(SIGNS)})", text)
    ids = []
    for part in parts:
        ids += [IDS[part]] if part in SIGNS else [IDS.get(char, UNKNOWN) for char in part.lower()]
    return ids


def characters(text: str) -> list[int]:
    """Return the ids of a tool's text, character by character: it has no words and no marks."""
    return [IDS.get(char, UNKNOWN) for char in text.lower()]


def new_model() -> GPT:
    """Return a model with random weights, as torch's generator stands."""
    return small_models.new_gpt(
        vocab_size=len(TOKENS),
        context_length=CONTEXT,
        n_layer=LAYERS,
        n_head=HEADS,
        n_embd=WIDTH,
        rotary_base=BASE,
    )
