"""What chat models reply on conversations kept apart, recorded; and to one of a learner.

`python -m experiments make chat` trains six models, three that count the assistant's tokens and
three that count all, and writes `data/experiments/chat.json` and one of the models,
`chat.safetensors`. It goes on where it was stopped. T tokens of a prompt.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

from llmviz.course.lessons.reasoning.conversation import chat_model
from llmviz.course.lessons.reasoning.conversation.chat_prompts import OWN, pieces_of, prompt_of
from llmviz.course.lessons.reasoning.think_first import Share
from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.finetuning.conversations import ASSISTANT, Message
from llmviz.records import Recorded, typed
from llmviz.serving.chat_template import TURN_END

FILE = "chat.json"
HELD_SEED, HELD = 10_000, 60  # conversations kept apart
LONGEST = 24  # tokens of a reply
CHANGED, NEVER = "changed", "never"
"""Another system line before the last turn; questions of kinds that no conversation had."""


@dataclass(frozen=True)
class Measured:
    """What a model replied in one setting.

    acts: for what is right (a row) how often the model answered, asked, declined. right, other:
    replies that are right to the letter in the form that is asked for, and in the other form.
    turns: right ones by the number of the user's turn. ended: replies that the model ended itself.
    """

    acts: dict[str, dict[str, int]]
    answers: Share  # right ones, of those that are to answer
    turns: dict[int, Share]
    right: Share
    other: Share
    ended: Share

    def did(self, act: str, *, wanted: bool) -> Share:
        """How often the model did this where it should, or where it should not."""
        rows = [row for want, row in self.acts.items() if (want == act) == wanted]
        return Share(sum(row[act] for row in rows), sum(sum(row.values()) for row in rows))


@dataclass(frozen=True)
class ChatModel:
    """A trained model: its losses on conversations kept apart, and by setting what it replied.

    replies, rest: nats per token of the assistant's tokens, and of all others behind the first.
    """

    way: str
    seed: int
    replies: float
    rest: float
    settings: dict[str, Measured]


@cache
def recorded(folder: Path = EXPERIMENT_FOLDER) -> dict[str, list[ChatModel]]:
    """Return the bundled results, three models of each way. ValueError: missing or damaged."""
    found: dict[str, list[ChatModel]] = {way: [] for way in chat_model.WAYS}
    with Recorded(folder / FILE, chat_model.COMMAND) as content:
        for model in typed(content["models"], list[ChatModel]):
            found[model.way].append(model)
        if any(len(models) != len(chat_model.SEEDS) for models in found.values()):
            raise ValueError(f"{len(chat_model.SEEDS)} models of each way are needed")
    return found


def together(way: str, setting: str, number: Callable[[Measured], Share]) -> Share:
    shares = [number(model.settings[setting]) for model in recorded()[way]]
    return Share(sum(share.hits for share in shares), sum(share.of for share in shares))


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
    own, tokens, message, speaks = chat_model.tokenizer(), list[ChatToken](), -1, False
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

    model, own = chat_model.bundled(), chat_model.tokenizer()
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
