"""A small model that answers a question from the passages before it, and names its source.

`experiments/passages.py` trains the bundled one. B texts, T tokens, V words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from llmviz.corpus.facts_in_passages import (
    DECLINES,
    MOST_PASSAGES,
    STAND_INS,
    all_words,
    numbered,
    split,
    split_plain,
)
from llmviz.sampling.steps import softmax
from llmviz.training import small_models

if TYPE_CHECKING:
    from llmviz.models.gpt import GPT

LAYERS, HEADS, WIDTH, CONTEXT = 2, 4, 64, 176
MOST, STEPS = 9000, 4000  # with texts of NAMES at most, and with the others
RATE, WARMUP, BETAS = 2e-3, 60, (0.9, 0.98)
END, BLANK = "END", "_"
MOST_ANSWER = 7  # tokens of an answer
OTHERS = 5  # second tokens of an answer that are shown
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


def passages_ids(passages: Sequence[str]) -> list[int]:
    """Return the tokens of passages of this grammar, each sentence with its passage's number."""
    known = vocabulary()
    return [
        known[word]
        for number, passage in enumerate(passages, start=1)
        for word in numbered(split(passage), number)
    ]


def question_text(question: str) -> str:
    """Return a question as it stands behind the passages."""
    return f"Question: {question} Answer:"


def new_model() -> GPT:
    """Return a model with random weights, as torch's generator stands."""
    return small_models.new_gpt(
        vocab_size=len(vocabulary()),
        context_length=CONTEXT,
        n_layer=LAYERS,
        n_head=HEADS,
        n_embd=WIDTH,
    )


def logits_behind(model: GPT, rows: Sequence[Sequence[int]]) -> np.ndarray:
    """Return the logits (B, V) of the token behind each text, in float64."""
    import torch

    longest = max(map(len, rows))
    padded = [[*row, *[vocabulary()[BLANK]] * (longest - len(row))] for row in rows]
    with torch.inference_mode():
        logits = model(torch.tensor(padded))[0]  # no token sees the blanks behind its text
    return np.array([logits[at, len(row) - 1].double().numpy() for at, row in enumerate(rows)])


@dataclass(frozen=True)
class Prompt:
    """What the model reads of passages and a question in any words.

    ids: tokens. stand_ins: words that it does not know, each with its token; as many as there are
    stand-ins. lost: how many different words more there are, for which the last one stands.
    """

    ids: tuple[int, ...]
    stand_ins: dict[str, str]
    lost: int

    def word_of(self, token: str) -> str:
        """Return a token as a reader sees it: the word that it stands for, where it does."""
        return next((word for word, mark in self.stand_ins.items() if mark == token), token)


def read(passages: Sequence[str], question: str) -> Prompt:
    """Write passages and a question in the model's tokens; an unknown word gets a stand-in.

    What is typed like a number of a passage, or like a stand-in, is words and signs here.
    Raises ValueError for more than MOST_PASSAGES passages, or more tokens than the model reads.
    """
    if len(passages) > MOST_PASSAGES:
        raise ValueError(f"the model reads at most {MOST_PASSAGES} passages; got {len(passages)}")
    stand_ins: dict[str, str] = {}
    lost: set[str] = set()
    known = vocabulary()

    def number_of(word: str) -> int:
        if word not in known and word not in stand_ins:
            if len(stand_ins) == len(STAND_INS):
                lost.add(word)
                return known[STAND_INS[-1]]
            stand_ins[word] = STAND_INS[len(stand_ins)]
        return known[stand_ins.get(word, word)]

    ids: list[int] = []
    for number, passage in enumerate(passages, start=1):
        source = SOURCES[number - 1]
        for word in numbered(split_plain(passage), number):
            ids.append(known[source] if word == source else number_of(word))
    ids += encode("Question:") + [number_of(word) for word in split_plain(question)]
    ids += encode("Answer:")
    most = CONTEXT - MOST_ANSWER
    if len(ids) > most:
        raise ValueError(f"the model reads at most {most} words and signs; these are {len(ids)}")
    return Prompt(tuple(ids), stand_ins, len(lost))


@dataclass(frozen=True)
class Answer:
    """What the model writes behind a prompt: each token as a word, and its probability.

    It was taught to write the person, then the answer, then the number of the passage. others: the
    likeliest second tokens, with their probabilities.
    """

    words: tuple[str, ...]
    confidence: tuple[float, ...]
    others: tuple[tuple[str, float], ...]

    @property
    def text(self) -> str:
        """The answer as it is read."""
        return " ".join(self.words)

    @property
    def declines(self) -> bool:
        """Whether it says that no passage says it."""
        return " ".join(self.words[1:]) == DECLINES

    @property
    def source(self) -> int | None:
        """The number of the passage that it names as its source, from 1, if it names one."""
        named = self.words[2] if len(self.words) > 2 else None
        return SOURCES.index(named) + 1 if named in SOURCES else None


def answer(model: GPT, prompt: Prompt) -> Answer:
    """Let a model write the likeliest token each time, up to MOST_ANSWER of them."""
    ids, said, sure = list(prompt.ids), [], []
    others: tuple[tuple[str, float], ...] = ()
    for place in range(MOST_ANSWER):
        likely = softmax(logits_behind(model, [ids]))[0]
        if place == 1:
            first = np.argsort(-likely, kind="stable")[:OTHERS]
            others = tuple((prompt.word_of(tokens()[at]), float(likely[at])) for at in first)
        best = int(likely.argmax())
        if tokens()[best] == END:
            break
        ids.append(best)
        said.append(prompt.word_of(tokens()[best]))
        sure.append(float(likely[best]))
    return Answer(tuple(said), tuple(sure), others)
