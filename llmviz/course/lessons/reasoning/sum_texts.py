"""Sums of two numbers as texts, half of them with a wrong answer, and the small GPT that read them.

A text is `47+85=12,13:132;`: the question, then either two steps or nothing, ":", the answer, and
the end. The steps are the sum of the ones and the sum of the tens with what is carried.
`python -m experiments make sums` trains the bundled model again, some minutes on one thread, and
writes `data/experiments/sums.safetensors` and its card, `sums.json`.

B texts, T tokens, V = 15 tokens.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.training import small_models

if TYPE_CHECKING:
    from llmviz.models.gpt import GPT


WEIGHTS, CARD = "sums.safetensors", "sums.json"
COMMAND = "python -m experiments make sums"
TOKENS = "0123456789+=,:;"
PLUS, EQUALS, COMMA, COLON, END = (TOKENS.index(sign) for sign in "+=,:;")
LEAST, MOST = 10, 99  # of each number
QUESTION = 6  # tokens up to "="
LONGEST = 12  # tokens that may be written behind it
CONTEXT = QUESTION + LONGEST
LAYERS, HEADS, WIDTH = 3, 4, 48
BATCH, STEPS, RATE, WARMUP = 128, 1200, 3e-3, 100
HELD_OUT = 400  # sums that no training sees

Sum = tuple[int, int]


@cache
def sums() -> tuple[tuple[Sum, ...], tuple[Sum, ...]]:
    """Return all sums in a random order: those for training, and the held-out ones."""
    every = [(a, b) for a in range(LEAST, MOST + 1) for b in range(LEAST, MOST + 1)]
    order = np.random.default_rng(0).permutation(len(every))
    mixed = tuple(every[at] for at in order)
    return mixed[HELD_OUT:], mixed[:HELD_OUT]


def question_of(numbers: Sum) -> str:
    """Return the question. Raises ValueError for a number that does not have two digits."""
    if not all(LEAST <= number <= MOST for number in numbers):
        raise ValueError(f"each number must be from {LEAST} to {MOST}; got {numbers}")
    return "{}+{}=".format(*numbers)


def encode(text: str) -> list[int]:
    return [TOKENS.index(char) for char in text]


def decode(ids: Sequence[int]) -> str:
    return "".join(TOKENS[token] for token in ids)


def carries(numbers: Sum) -> bool:
    """Return whether the ones of a sum are ten or more."""
    return numbers[0] % 10 + numbers[1] % 10 >= 10


def answer_of(written: str) -> int | None:
    """Return the number between the first ":" and the end; None where the form is another."""
    found = re.fullmatch(r"[^:;]*:(\d+);", written)
    return int(found[1]) if found else None


def is_right(numbers: Sum, written: str) -> bool:
    """Return whether what is written behind the question ends with the right answer.

    The steps are not looked at. An answer that begins with 0 is not right.
    """
    return written.endswith(f":{sum(numbers)};") and answer_of(written) == sum(numbers)


def new_model() -> GPT:
    """Return a model with random weights, as torch's generator stands."""
    return small_models.new_gpt(
        vocab_size=len(TOKENS),
        context_length=CONTEXT,
        n_layer=LAYERS,
        n_head=HEADS,
        n_embd=WIDTH,
    )


@cache
def bundled(folder: Path = EXPERIMENT_FOLDER) -> GPT:
    """Return the bundled model. Raises ValueError where it is missing or damaged."""
    return small_models.read_weights(folder / WEIGHTS, COMMAND, lambda _: new_model())


def sum_of(text: str) -> Sum | None:
    """Return the numbers of a sum as it is typed; None where it is none of two digits each.

    >>> sum_of(" 47 + 85"), sum_of("9+10")
    ((47, 85), None)
    """
    found = re.fullmatch(r"\s*(\d\d)\s*\+\s*(\d\d)\s*=?\s*", text, re.ASCII)
    if not found:
        return None
    numbers = int(found[1]), int(found[2])
    return numbers if min(numbers) >= LEAST else None
