"""Which head of the story model an answer depends on: right as stories ask, and wrong otherwise.

Two kinds of cases: a place that the story has in other tokens, and a question that is put
otherwise. In each, what every head gives at the last token is taken from the pass in which the
answer is right, one head at a time. `python -m experiments make answering-heads` measures them
again, some minutes on one core, and writes `data/experiments/answering-heads.json`. Reading it
needs no
torch.

H heads, L layers, K possible answers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.records import Recorded, typed

if TYPE_CHECKING:
    pass

FILE = "answering-heads.json"
COMMAND = "python -m experiments make answering-heads"
SPELLED, WORDED = "spelled", "worded"


@dataclass(frozen=True)
class Look:
    """The token that a head gives the highest weight, at the last token of a prompt."""

    token: str
    weight: float


@dataclass(frozen=True)
class HeadCase:
    """A question that the model answers rightly as stories ask it, and wrongly here.

    kind: SPELLED, of all tokens, or WORDED, of the people of the story. way: the spelling, or the
    way to ask. about: the place or the thing. said: the answer, and confidence its probability.
    plain, here: the right answer's probability in both passes. layer, head: the one, both from 0,
    whose output at the last token of the right pass, put into this one, makes the right answer most
    probable; moved: how probable. looks: where it looks in both passes. tokens: of the place in
    both passes, of SPELLED. endings: of both prompts.
    """

    kind: str
    way: str
    about: str
    right: str
    said: str
    confidence: float
    plain: float
    here: float
    layer: int
    head: int
    moved: float
    looks: tuple[Look, Look]
    tokens: tuple[tuple[str, ...], tuple[str, ...]]
    endings: tuple[str, str]


@cache
def recorded(folder: Path = EXPERIMENT_FOLDER) -> tuple[HeadCase, ...]:
    """Return all cases. Raises ValueError where the file is missing or damaged."""

    with Recorded(folder / FILE, COMMAND) as content:
        return typed(content["cases"], tuple[HeadCase, ...])
