"""One conversation of a learner, token by token, and what the bundled chat model makes of it.

T tokens of a prompt.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from llmviz.course.lessons.reasoning.conversation.chat_model import bundled, tokenizer
from llmviz.course.lessons.reasoning.conversation.chat_prompts import OWN, pieces_of, prompt_of
from llmviz.course.lessons.reasoning.conversation.chat_record import LONGEST
from llmviz.finetuning.conversations import ASSISTANT, Message
from llmviz.serving.chat_template import TURN_END


@dataclass(frozen=True)
class ChatToken:
    """A token of the one text.

    message: the place of the turn that it belongs to; of what stands before all, −1. counts:
    whether the loss counts it where the conversation is trained on.
    """

    id: int
    text: bytes
    special: bool
    message: int
    counts: bool


def tokens_of(messages: Sequence[Message], shape: str = OWN) -> list[ChatToken]:
    """Return a conversation token by token, with the token behind which the model replies.

    Raises ValueError where a text cannot be written as UTF-8.
    """
    own, tokens, message, speaks = tokenizer(), list[ChatToken](), -1, False
    for piece in pieces_of(messages, shape):
        opens = piece.id is not None and piece.text != TURN_END and piece.id != own.end
        message += opens
        for token in own.encode(piece.text) if piece.id is None else [piece.id]:
            counts = speaks and not opens
            tokens.append(
                ChatToken(token, own.token_bytes(token), piece.id is not None, message, counts)
            )
        if piece.id is not None:
            speaks = piece.text == f"<|{ASSISTANT}|>"
    return tokens


def notes_of(messages: Sequence[Message]) -> list[str]:
    """Return by name what a conversation has that no conversation of the training had."""
    roles = [message.role for message in messages]
    found = []
    if "user" not in roles:
        found.append("no_user")
    if any(a == b for a, b in pairwise(roles)):
        found.append("twice")
    if roles and roles[-1] != "user":
        found.append("not_user_last")
    return found


def unknown_characters(text: str) -> list[str]:
    """Return the characters of a text that no text of tiny-world has, each once.

    Its texts are in ASCII. The tokenizer cuts another character into its bytes.
    """
    return list(dict.fromkeys(character for character in text if not character.isascii()))


@dataclass(frozen=True)
class Written:
    """A reply: its tokens (id, bytes, probability), its text, and whether the model ended it."""

    tokens: tuple[tuple[int, bytes, float], ...]
    text: str
    ended: bool


def reply(messages: Sequence[Message], shape: str = OWN) -> Written:
    """Let the bundled model reply at temperature 0, up to LONGEST tokens or to the context's end.

    Raises ValueError where the conversation fills the context, or the model is missing.
    """
    from llmviz.sampling import generate

    model, own = bundled(), tokenizer()
    prompt = prompt_of(messages, shape)
    room = model.context_length - len(prompt) + 1  # the last token that is written is not read
    if room < 1:
        raise ValueError(
            f"the conversation has {len(prompt):,} tokens, and this model reads "
            f"{model.context_length:,} at most; shorten a turn or take one out"
        )
    end = own.special_tokens[TURN_END]
    drawn = list(
        generate(model, prompt, min(LONGEST, room), 0.0, stop_id=(end, own.end), alternatives=0)
    )
    text = own.decode([token.id for token in drawn if token.id not in (end, own.end)]).strip()
    return Written(
        tuple((token.id, own.token_bytes(token.id), token.probability) for token in drawn),
        text,
        drawn[-1].id == end,
    )
