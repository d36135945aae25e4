"""How answers about a story move when the question, or what stands before it, is put otherwise.

`python -m experiments make moved-answers` measures it again, some minutes on one core, and writes
`data/experiments/moved-answers.json`. Reading it needs no torch.

N stories, W ways to ask, K people of a story.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from llmviz.corpus.exercises import holders
from llmviz.corpus.tiny_world import generate
from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.records import Recorded, typed

if TYPE_CHECKING:
    from torch import Tensor

    from llmviz.models.base import LanguageModel
    from llmviz.tokenizers import Tokenizer

FILE = "moved-answers.json"
COMMAND = "python -m experiments make moved-answers"
MODEL = "tiny-world-gpt"
STORIES = 500
SEED = 60_000  # of stories that no bundled model was trained on
PLAIN = "plain"
SENTENCE = "The hens behind the cliff were hiding."  # irrelevant, and as the grammar writes it
OUTSIDE = "It was a rainy day in the big city."  # irrelevant, and as the grammar never writes
FILLERS = 12  # sentences of a long text, besides those with the fact


@dataclass(frozen=True)
class TwoOwners:
    """A story in which two people have a thing each, and the thing that is asked for.

    right: who has it. others: the first names of the other people.
    """

    story: str
    thing: str
    right: str
    others: tuple[str, ...]

    @property
    def wrong(self) -> str:
        """Another person of the story."""
        return self.others[0]


def _question(case: TwoOwners, before: str = "", options: str = "") -> str:
    story = f"{case.story} {before}" if before else case.story
    return f"{story} But who had the {case.thing} now{options}? It was"


WAYS: dict[str, Callable[[TwoOwners], str]] = {
    PLAIN: _question,
    "shorter": lambda case: f"{case.story} Who had the {case.thing} now? It was",
    "turned": lambda case: f"{case.story} But now who had the {case.thing}? It was",
    "closing": lambda case: f"{case.story} And the {case.thing} stayed with",
    "hens": lambda case: _question(case, SENTENCE),
    "outside": lambda case: _question(case, OUTSIDE),
    "named": lambda case: _question(case, f"{case.wrong} nodded happily."),
    "right first": lambda case: _question(case, options=f", {case.right} or {case.wrong}"),
    "wrong first": lambda case: _question(case, options=f", {case.wrong} or {case.right}"),
}
"""By name: the text whose next token is the answer."""


def asked_stories(tokenizer: Tokenizer, count: int = STORIES) -> list[TwoOwners]:
    """Return stories up to a question who has which of two things that two people have.

    The names of a story begin with different tokens, so that the next token tells the answer.
    """
    found: list[TwoOwners] = []
    for document in generate(10_000 + 1_000 * count, SEED):
        if len(found) == count:
            break
        for fact in document.facts:
            before, asks, question = document.text[: fact.start].rpartition(" But who had the ")
            thing = question.partition(" ")[0]
            if fact.kind != "possession" or not asks or question != f"{thing} now? It was ":
                continue
            if len(set(holders(before).values())) == 2:
                story = TwoOwners(before, thing, fact.right, fact.wrong)
                if len(set(first_tokens(tokenizer, story))) == 1 + len(fact.wrong):
                    found.append(story)
                    break
    return found


def first_tokens(tokenizer: Tokenizer, story: TwoOwners) -> list[int]:
    """Return the first token of each person's name, that of the right one first."""
    return [tokenizer.encode(f" {name}")[0] for name in (story.right, *story.others)]


def answers(
    model: LanguageModel, tokenizer: Tokenizer, story: TwoOwners, prompts: Sequence[str]
) -> np.ndarray:
    """Return how probable each person is behind each prompt, of all people of the story (P, K).

    The right one comes first. A prompt that is longer than the context loses its beginning.
    """
    people = first_tokens(tokenizer, story)
    return behind(model, tokenizer, prompts)[:, people].softmax(-1).numpy()


def behind(model: LanguageModel, tokenizer: Tokenizer, prompts: Sequence[str]) -> Tensor:
    """Return the logits of the next token behind each prompt (P, V), in float64.

    A prompt that is longer than the context loses its beginning.
    """
    import torch

    most = model.context_length
    rows = [tokenizer.encode_from_start(prompt)[-most:] for prompt in prompts]
    longest = max(map(len, rows))
    padded = torch.tensor([row + [0] * (longest - len(row)) for row in rows])
    with torch.inference_mode():
        logits = model(padded)[0]  # behind its end a causal model sees nothing of the padding
    return torch.stack([logits[i, len(row) - 1] for i, row in enumerate(rows)]).double()


@dataclass(frozen=True)
class Way:
    """One way to ask N stories: how many answers are right, and how they differ from the plain one.

    broken: right when asked plainly, and wrong here; mended: the other way round. mean: of the
    right person's probability among the story's people.
    """

    stories: int
    right: int
    broken: int
    mended: int
    mean: float

    @property
    def moved(self) -> int:
        """How many answers became right or wrong."""
        return self.broken + self.mended


@dataclass(frozen=True)
class Place:
    """How many of N long texts are answered rightly, with the fact after so many sentences."""

    before: int
    stories: int
    right: int
    mean: float


@dataclass(frozen=True)
class Moved:
    """What was measured: by way to ask, and by place of the fact."""

    ways: dict[str, Way]
    places: list[Place]


@cache
def recorded(folder: Path = EXPERIMENT_FOLDER) -> Moved:
    """Return what was measured of the bundled models.

    Raises ValueError where the file is missing or damaged.
    """
    with Recorded(folder / FILE, COMMAND) as content:
        found = typed(content, Moved)
        if set(found.ways) != set(WAYS):
            raise ValueError("a way is missing")
        return found
