"""A small model that answers a question from the passages before it, and names its source.

`llmviz.study.passage_record` trains the bundled one. B texts, T tokens, V words.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from llmviz.corpus.facts_in_passages import (
    DECLINES,
    MOST_PASSAGES,
    STAND_INS,
    Example,
    all_words,
    example,
    numbered,
    split,
)

if TYPE_CHECKING:
    from llmviz.models.gpt import GPT

LAYERS, HEADS, WIDTH, CONTEXT = 3, 4, 64, 160
BATCH, STEPS, RATE, WARMUP = 32, 1500, 3e-3, 100
EASY = 0.4  # of the steps: texts of one sentence a passage
END, BLANK = "END", "_"
SOURCES = tuple(f"[{number}]" for number in range(1, MOST_PASSAGES + 1))


@cache
def vocabulary() -> dict[str, int]:
    """Return the number of each token: blank, end, numbers of passages, words, stand-ins."""
    listed = [BLANK, END, *SOURCES, *all_words(), *STAND_INS]
    return {token: number for number, token in enumerate(listed)}


@cache
def tokens() -> tuple[str, ...]:
    """Return all tokens in the order of their numbers."""
    return tuple(vocabulary())


def encode(text: str) -> list[int]:
    """Return the numbers of a text of this grammar. KeyError for a word that is not in it."""
    known = vocabulary()
    return [known[word] for word in split(text)]


def prompt(passages: Sequence[str], question: str) -> str:
    """Return the one text that the model reads before it answers."""
    return " ".join([*numbered(passages), asked(question)])


def asked(question: str) -> str:
    """Return a question as it stands behind the passages."""
    return f"Question: {question} Answer:"


def text_of(one: Example) -> tuple[list[int], list[int]]:
    """Return the tokens of a text and its targets: −1 where nothing is learned."""
    from llmviz.nn.loss import IGNORED

    ids = [number for passage in numbered(one.passages) for number in encode(passage)]
    learned = [IGNORED] * len(ids)
    for question, fact in one.asked:
        before = encode(asked(question))
        answer = [*encode(fact.answer if fact else DECLINES), vocabulary()[END]]
        ids += before + answer
        learned += [IGNORED] * len(before) + answer
    return ids, learned


def batch(chance: random.Random, easy: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return inputs and targets (B, T) of new texts, shorter ones filled with blanks."""
    from llmviz.nn.loss import IGNORED

    texts = [text_of(example(chance, easy=easy)) for _ in range(BATCH)]
    longest = max(len(ids) for ids, _ in texts) - 1
    inputs = np.full((BATCH, longest), vocabulary()[BLANK])
    targets = np.full((BATCH, longest), IGNORED)
    for row, (ids, learned) in enumerate(texts):
        inputs[row, : len(ids) - 1] = ids[:-1]
        targets[row, : len(ids) - 1] = learned[1:]
    return inputs, targets


def new_model() -> GPT:
    """Return a model with random weights, as torch's generator stands."""
    from llmviz.models.gpt import GPT
    from llmviz.models.settings import GPTConfig

    return GPT(
        GPTConfig(
            vocab_size=len(vocabulary()),
            context_length=CONTEXT,
            n_layer=LAYERS,
            n_head=HEADS,
            n_embd=WIDTH,
            positions="rotary",
        )
    )


@dataclass(frozen=True)
class Progress:
    """How far a training is: steps done, and the mean loss of the last hundred."""

    step: int
    loss: float


def train(model: GPT, seed: int, steps: int = STEPS) -> Iterator[Progress]:
    """Train a model; yield after each step. Only the answers are learned."""
    import torch

    chance = random.Random(seed)
    optimizer = torch.optim.AdamW(model.parameters(), RATE, (0.9, 0.98), weight_decay=0.01)

    def rate(step: int) -> float:
        return min(1, (step + 1) / WARMUP) * (0.55 + 0.45 * math.cos(math.pi * step / steps))

    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, rate)
    losses: list[float] = []
    model.train()
    for step in range(steps):
        inputs, targets = map(torch.from_numpy, batch(chance, step < EASY * steps))
        loss = model(inputs, targets)[1]
        assert loss is not None
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        losses = [*losses[-99:], float(loss.detach())]
        yield Progress(step + 1, float(np.mean(losses)))
    model.eval()
