"""Chains of sums as texts, answered at once or with calls to a calculator, and a GPT for them.

A text is the question, `37 add 85 times 12 =`, then either the answer, or calls before it:
`⟨call⟩37+85⟨result⟩122⟨call⟩122*12⟨result⟩1464⟨answer⟩1464⟨end⟩`. A chain is computed from left to
right. What stands behind ⟨result⟩ is written by the calculator; no loss is taken there.

B texts, T tokens, V tokens of the vocabulary.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from llmviz.course.lessons.reasoning import small_gpt
from llmviz.course.lessons.reasoning.tools.calculator import BROKEN, ZERO, calculate, fed_back

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
SECOND = 99  # most that is multiplied with or divided by
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


def random_number(rng: np.random.Generator, digits: int) -> int:
    """Return a random number of so many digits; 0 has one."""
    low = 10 ** (digits - 1) if digits > 1 else 0
    return int(rng.integers(low, 10**digits))


def random_question(
    rng: np.random.Generator, digits: int = 0, steps: int = 0, words: Sequence[str] = tuple(SIGNS)
) -> Question:
    """Return a question that has a whole value.

    digits: of the first number and of each that is added or subtracted; each is from 1 to TRAINED
    where it is 0. Factors and divisors go up to SECOND. steps: from 1 to STEPS where it is 0.
    """

    def number() -> int:
        return random_number(rng, digits or int(rng.integers(1, TRAINED + 1)))

    first = number()
    value, found = first, []
    for _ in range(steps or int(rng.integers(1, STEPS + 1))):
        word = words[int(rng.integers(len(words)))]
        divisors = [divisor for divisor in range(2, SECOND + 1) if value % divisor == 0]
        if word == " divided by " and not divisors:
            word = " add "
        if word == " divided by ":
            second = divisors[int(rng.integers(len(divisors)))]
        elif word == " times ":
            second = int(rng.integers(2, SECOND + 1)) if digits != 1 else int(rng.integers(2, 10))
        else:
            second = number()
        found.append((word, second))
        value = calculate(f"{value}{SIGNS[word]}{second}")
    return Question(first, tuple(found))


def fresh(rng: np.random.Generator, *, apart: bool = False, **more: object) -> Question:
    """Return a random question for training, or one that is kept apart."""
    while True:
        found = random_question(rng, **more)  # type: ignore[arg-type]  # as it takes them
        if found.is_apart == apart:
            return found


def lie(rng: np.random.Generator, value: str) -> str:
    """Return another number than a value: its sign turned, or one digit changed."""
    if value.strip("-0") and rng.random() < 0.5:
        return value[1:] if value.startswith("-") else f"-{value}"
    places = [at for at, char in enumerate(value) if char != "-"]
    at = places[int(rng.integers(len(places)))]
    least = 1 if at == places[0] and len(places) > 1 else 0
    others = [str(digit) for digit in range(least, 10) if str(digit) != value[at]]
    changed = value[:at] + others[int(rng.integers(len(others)))] + value[at + 1 :]
    return "0" if changed == "-0" else changed


def text_of(question: Question, way: str, rng: np.random.Generator) -> tuple[list[int], list[bool]]:
    """Return the ids of a whole text, and for each whether it is learned."""
    prompt = encode(question.text)
    ids, learned = list(prompt), [False] * len(prompt)

    def write(more: Sequence[int], *, learn: bool = True) -> None:
        ids.extend(more)
        learned.extend([learn] * len(more))

    answer = str(question.value)
    if way != DIRECT:
        calls = question.calls
        wrong = int(rng.integers(len(calls))) if way == DOUBT and rng.random() < WRONG else -1
        for at, call in enumerate(calls):
            result = fed_back(call)
            if at == wrong:
                refused = rng.random() < 1 / 3
                result = f"error {(ZERO, BROKEN)[rng.integers(2)]}" if refused else lie(rng, result)
                answer = DOUBTED
            write([CALL, *characters(call), RESULT])
            write(characters(result), learn=way == OPEN)
            if at == wrong:
                break
    write([ANSWER, *characters(answer), END])
    return ids, learned


def batch(rng: np.random.Generator, way: str) -> tuple[np.ndarray, np.ndarray]:
    """Return inputs and targets (B, T) of random texts; the same questions for each way of a seed.

    All have equally many steps, so that there is little to fill up. A target is IGNORED where
    nothing is learned: in the question, and in what the tool wrote.
    """
    from llmviz.nn.loss import IGNORED

    own = np.random.default_rng(rng.integers(2**32))  # for wrong results
    steps = int(rng.integers(1, STEPS + 1))
    texts = [text_of(fresh(rng, steps=steps), way, own) for _ in range(BATCH)]
    longest = max(len(ids) for ids, _ in texts)
    inputs = np.full((BATCH, longest - 1), END)
    targets = np.full((BATCH, longest - 1), IGNORED)
    for row, (ids, learned) in enumerate(texts):
        inputs[row, : len(ids) - 1] = ids[:-1]
        targets[row, : len(ids) - 1] = np.where(learned[1:], ids[1:], IGNORED)
    return inputs, targets


def new_model() -> GPT:
    """Return a model with random weights, as torch's generator stands."""
    return small_gpt.new_gpt(
        vocab_size=len(TOKENS),
        context_length=CONTEXT,
        n_layer=LAYERS,
        n_head=HEADS,
        n_embd=WIDTH,
        rotary_base=BASE,
    )


def train(way: str, seed: int, updates: int = UPDATES) -> tuple[GPT, float]:
    """Train a model; return it, rounded to float16, and the mean loss of its last hundred steps."""
    import torch

    torch.manual_seed(seed)
    model, rng = new_model(), np.random.default_rng(seed)
    losses = small_gpt.descend(
        model,
        lambda step: small_gpt.loss_on(model, batch(rng, way)),
        updates,
        rate=RATE,
        warmup=WARMUP,
    )
    last = float(np.mean([*losses][-100:]))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(parameter.half().float())
    return model.eval(), last
