"""A conversation as the text that this model was tuned on: turns between tokens of their own.

The form is ChatML, as the model's own template writes it; a test holds both against each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from llmviz.course.lessons.real.reader import Reads, written

BEGIN, END = "<|im_start|>", "<|im_end|>"
SYSTEM, USER, ASSISTANT = "system", "user", "assistant"
# What the template says first where nobody else does.
USUAL = "You are a helpful AI assistant named SmolLM, trained by Hugging Face"


class Turn(NamedTuple):
    """What one side says."""

    role: str
    text: str


class Sent(NamedTuple):
    """One token of a conversation: whose turn it is in, and whether the template wrote it."""

    id: int
    role: str
    form: bool


def sent(reader: Reads, turns: Sequence[Turn]) -> list[Sent]:
    """Return all that is sent to the model: every turn, and where the model is to go on.

    Raises ValueError: a text cannot be encoded, or the model has no tokens of a chat.
    """
    special, encode = reader.tokenizer.special_tokens, reader.tokenizer.encode
    if not {BEGIN, END} <= set(special):
        raise ValueError(f"this model has no token {BEGIN}, so it was never tuned on chats")
    turns = turns if turns and turns[0].role == SYSTEM else [Turn(SYSTEM, USUAL), *turns]
    tokens = []
    for role, text in turns:
        tokens.append(Sent(special[BEGIN], role, True))
        tokens += [Sent(token, role, True) for token in encode(f"{role}\n")]
        tokens += [Sent(token, role, False) for token in encode(text)]
        tokens.append(Sent(special[END], role, True))
        tokens += [Sent(token, role, True) for token in encode("\n")]
    tokens.append(Sent(special[BEGIN], ASSISTANT, True))
    tokens += [Sent(token, ASSISTANT, True) for token in encode(f"{ASSISTANT}\n")]
    return tokens


def reply(reader: Reads, turns: Sequence[Turn], most: int) -> str:
    """Return what the model answers, the likeliest token each time."""
    ids = [token.id for token in sent(reader, turns)]
    return reader.tokenizer.decode(written(reader, ids, most)).strip()
