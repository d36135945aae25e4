"""What chat models reply on conversations kept apart: measured once, and recorded.

`python -m experiments make chat` trains six models, three that count the assistant's tokens and
three that count all, and writes `data/experiments/chat.json` and one of the models,
`chat.safetensors`. It goes on where it was stopped.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from llmviz.course.lessons.reasoning.conversation.chat_model import COMMAND, SEEDS, WAYS
from llmviz.course.lessons.reasoning.think_first import Share
from llmviz.paths import EXPERIMENT_FOLDER
from llmviz.records import Recorded, typed

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
    found: dict[str, list[ChatModel]] = {way: [] for way in WAYS}
    with Recorded(folder / FILE, COMMAND) as content:
        for model in typed(content["models"], list[ChatModel]):
            found[model.way].append(model)
        if any(len(models) != len(SEEDS) for models in found.values()):
            raise ValueError(f"{len(SEEDS)} models of each way are needed")
    return found


def together(way: str, setting: str, number: Callable[[Measured], Share]) -> Share:
    """Return a share over the models of a way."""
    shares = [number(model.settings[setting]) for model in recorded()[way]]
    return Share(sum(share.hits for share in shares), sum(share.of for share in shares))
