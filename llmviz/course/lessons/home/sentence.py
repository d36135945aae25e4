"""The learner's text as the model gets it, and as rows of the picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from llmviz.course.components.machine.view import MachineRow, MachineValues
from llmviz.course.components.token_strip.view import visible_text
from llmviz.course.lessons.home.machine import ROWS, Reading
from llmviz.tokenizers import UNKNOWN

if TYPE_CHECKING:
    from llmviz.tokenizers import Tokenizer

LOOKED_AT = 20_000  # characters of the text's end that are read


@dataclass(frozen=True)
class Sentence:
    """The learner's text as the model gets it: the ids of its window, start token included.

    `count` tokens there are in all, `slid` says that the window holds only the last of them,
    `starts` that it begins with the one token that stands in front of every text.
    """

    text: str
    ids: tuple[int, ...]
    count: int
    slid: bool
    unknown: int
    starts: bool


def sentence(text: str, tokenizer: Tokenizer, context: int | None) -> Sentence:
    """Return the text's tokens, cut to what the context holds where that is known.

    Raises ValueError: the text cannot be written as UTF-8.
    """
    looked_at = text[-LOOKED_AT:]
    ids = tokenizer.encode_from_start(looked_at)
    window = ids if context is None else ids[-context:]
    unknown = tokenizer.special_tokens.get(UNKNOWN)
    unread = 0 if unknown is None else ids.count(unknown)
    slid = len(window) < len(ids)
    starts = len(tokenizer.start) == 1 and not slid
    return Sentence(looked_at, tuple(window), len(ids), slid, unread, starts)


def machine_rows(window: Sentence, tokenizer: Tokenizer) -> list[MachineRow]:
    """Return the last tokens as the picture's rows."""
    first = max(0, len(window.ids) - ROWS)
    return [_row(token, first + i, tokenizer) for i, token in enumerate(window.ids[first:])]


def _row(token: int, position: int, tokenizer: Tokenizer) -> MachineRow:
    text, whole = token_text(token, tokenizer)
    start = tokenizer.opens_and_ends(token)
    return MachineRow(text, token, position, whole, start)


def token_text(token: int, tokenizer: Tokenizer) -> tuple[str, bool]:
    """Return a token as text one can see, and whether it is whole characters."""
    return visible_text(tokenizer.token_bytes(token))


def machine_values(reading: Reading, tokenizer: Tokenizer) -> MachineValues:
    """Return what the picture draws of a forward pass."""
    same = {
        name: getattr(reading, name)
        for name in (
            *("vectors", "weights", "earlier", "queries", "keys", "values", "attention", "mlp"),
            *("top_ids", "top_logits", "top_probabilities", "rest"),
        )
    }
    texts = [[token_text(int(i), tokenizer)[0] for i in row] for row in reading.top_ids]
    return MachineValues(**same, top_texts=texts)
