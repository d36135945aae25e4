"""A conversation as the chat model reads it: by its own template, a wrong one, or typed tokens.

T tokens of a prompt.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from llmviz.course.lessons.reasoning.conversation.chat_model import template, tokenizer
from llmviz.finetuning.conversations import ASSISTANT, USER, Message, Role
from llmviz.serving.chat_template import TURN_END, TURNS, Conversation, Piece

OWN = "own"
NO_ENDS, SWAPPED, LINES_ONLY = "no_ends", "swapped", "lines"
ALL_USER, NO_ROLES = "all_user", "no_roles"
"""All speakers have the token of the user, or none has a token; so before the reply, too."""
WRONG = (NO_ENDS, SWAPPED, LINES_ONLY)
"""Wrong templates: without ends of turns; user and assistant exchanged; names and lines alone."""
AS_TEXT, AS_TOKENS, AS_WORDS = "as_text", "as_tokens", "as_words"
TYPED = (AS_TEXT, AS_TOKENS, AS_WORDS)
"""A user types a system line, with the template's tokens (read as text, or as the tokens), or the
words alone."""
_EXCHANGED: dict[Role, Role] = {USER: ASSISTANT, ASSISTANT: USER}

_NAMES = (f"<|{USER}|>", f"<|{ASSISTANT}|>")


@cache
def template_of(shape: str) -> Conversation:
    """Return a template; those of typed lines are the model's own."""
    if shape == NO_ENDS:
        return Conversation(tokenizer(), TURNS.replace(TURN_END, ""), ours=True)
    return Conversation(tokenizer(), None) if shape == LINES_ONLY else template()


def pieces_of(messages: Sequence[Message], shape: str = OWN) -> list[Piece]:
    """Return a rendered conversation, cut at its special tokens, up to where the model replies.

    Raises ValueError as `Conversation.pieces`.
    """
    if shape == SWAPPED:
        messages = [replace(turn, role=_EXCHANGED.get(turn.role, turn.role)) for turn in messages]
    pieces = template_of(shape).pieces([turn.plain for turn in messages])
    if shape == LINES_ONLY:
        own = tokenizer()
        return [Piece(own.decode([token]), token) for token in own.start] + pieces
    if shape == ALL_USER:
        spoken = tokenizer().special_tokens[_NAMES[0]]
        return [
            Piece(_NAMES[0], spoken) if piece.id and piece.text in _NAMES else piece
            for piece in pieces
        ]
    if shape == NO_ROLES:
        return [piece for piece in pieces if piece.id is None or piece.text not in _NAMES]
    if shape == AS_TOKENS:
        text = "".join(piece.text for piece in pieces)
        return [Piece(part, special) for part, special in tokenizer().split_special(text, "all")]
    return pieces


def prompt_of(messages: Sequence[Message], shape: str = OWN) -> tuple[int, ...]:
    """Return the tokens of a conversation, up to where the model replies (T,). Raises as above."""
    ids: list[int] = []
    for piece in pieces_of(messages, shape):
        ids += tokenizer().encode(piece.text) if piece.id is None else [piece.id]
    return tuple(ids)
