"""The stories that the chapter asks about, and what the story model answers."""

import numpy as np

from llmviz.course.lessons.errors.moved_answers import (
    MODEL,
    WAYS,
    TwoOwners,
    answers,
    asked_stories,
)
from llmviz.course.ui import engine, kit

EXAMPLES = 20  # stories to choose from; the first of those that were measured


@kit.cached(4)
def stories(version: str) -> list[TwoOwners]:
    """Return the stories; version: of the model's weights."""
    return asked_stories(engine.load(MODEL).tokenizer, EXAMPLES)


def prompts(case: TwoOwners, sentence: str) -> list[str]:
    """Return the text of every way to ask, and that with the learner's sentence before it."""
    own = TwoOwners(f"{case.story} {sentence}".rstrip(), case.thing, case.right, case.others)
    return [*(way(case) for way in WAYS.values()), WAYS["plain"](own)]


def answered(version: str, number: int, sentence: str) -> np.ndarray:
    """Return how probable each person is, the right one first, for each way to ask (W + 1, K)."""
    story = stories(version)[number - 1]
    *ways, own = prompts(story, sentence)
    return np.concatenate(
        [_answers(version, number, tuple(ways)), _answers(version, number, (own,))]
    )


@kit.cached(128)
def _answers(version: str, number: int, texts: tuple[str, ...]) -> np.ndarray:
    bundled = engine.load(MODEL)
    story = stories(version)[number - 1]
    return answers(bundled.model, bundled.tokenizer, story, texts)
