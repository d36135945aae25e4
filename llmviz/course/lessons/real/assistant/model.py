"""The same weights asked twice: with a sentence alone, and with a chat's template around it."""

from __future__ import annotations

from collections.abc import Generator
from typing import NamedTuple

from llmviz.course.lessons.real.chat import END, Turn, sent
from llmviz.course.lessons.real.reader import Choice, Reads, best, chances, ids_of, text_of, written

CHOICES = 5
MOST = 40  # tokens that are written
PENALTY = 1.3  # of a token that stands there already


class Part(NamedTuple):
    """A token of what is sent; form: whether the template wrote it."""

    text: str
    role: str
    form: bool


class BothWays(NamedTuple):
    """A sentence alone and as a chat: what may come next, and what is written."""

    alone: tuple[Choice, ...]
    goes_on: str
    parts: tuple[Part, ...]
    chat: tuple[Choice, ...]
    answer: str
    ended: bool


def measure(reader: Reads, sentence: str, question: str) -> Generator[float, None, BothWays]:
    """Let the model go on with a sentence, and answer a question; yields how much is done.

    Raises ValueError: there is nothing to read, or the model was not tuned on chats.
    """
    plain = ids_of(reader, sentence)
    ids_of(reader, question)
    tokens = sent(reader, [Turn("user", question)])
    p = chances(reader, [plain, [token.id for token in tokens]])
    yield 0.2
    goes_on = written(reader, plain, MOST)
    yield 0.6
    answer = written(reader, [token.id for token in tokens], MOST)
    return BothWays(
        tuple(best(reader, p[0], CHOICES)),
        reader.tokenizer.decode(goes_on),
        tuple(Part(text_of(reader, token.id), token.role, token.form) for token in tokens),
        tuple(best(reader, p[1], CHOICES)),
        reader.tokenizer.decode(answer).strip(),
        len(answer) < MOST,
    )


def penalised(reader: Reads, question: str) -> str:
    """Return the answer where each token that stands there already has its logit divided."""
    from llmviz.sampling import generate

    ids = [token.id for token in sent(reader, [Turn("user", question)])]
    made: list[int] = []
    for token in generate(reader.model, ids, MOST, temperature=0.0, repetition_penalty=PENALTY):
        if token.id in (*reader.tokenizer.ends, reader.tokenizer.special_tokens[END]):
            break
        made.append(token.id)
    return reader.tokenizer.decode(made).strip()
