"""Pairs of endings that are grammatical and true, and a labeller whose mistakes are known.

The rule is `happier` of `preferences`: glad people are better than none, and none better than sorry
ones. The labeller follows it, but not always.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from llmviz.corpus import generate, is_story
from llmviz.finetuning.preferences import TRIES, Pair, draw_ending, happier

_SEED_OFFSET = 6_000_011  # so that the stories are those of no other data
MOST_STORIES = 20  # stories drawn for a pair: some have no two endings that differ


def whole(story: str, ending: str) -> str:
    """Return a story with its ending."""
    return f"{story} {ending}".strip()


def stories(count: int, seed: int = 0) -> list[str]:
    """Return stories without their last sentence, each of which a drawn ending can close."""
    return [pair.story for pair in clean_pairs(count, seed)]


def clean_pairs(count: int, seed: int = 0) -> list[Pair]:
    """Return `count` pairs, the happier ending first; the grammar could have written all of them.

    Raises ValueError for a negative count.
    """
    if count < 0:
        raise ValueError(f"the number of pairs cannot be negative; got {count}")
    chance, found = random.Random(f"labeller {seed}"), list[Pair]()
    texts = generate(count=MOST_STORIES * count + 100, seed=seed + _SEED_OFFSET)
    while len(found) < count:
        story = next(texts).text.rsplit(". ", 1)[0] + "."
        for _ in range(TRIES):
            first, second = (draw_ending(story, chance) for _ in range(2))
            apart = happier(first, story) - happier(second, story)
            if apart and is_story(whole(story, first)) and is_story(whole(story, second)):
                found.append(Pair(story, *((first, second) if apart > 0 else (second, first))))
                break
    return found


@dataclass(frozen=True)
class Labeller:
    """Who says which of two endings is better, and with what mistakes.

    by_length: the share of pairs of which the longer ending is preferred, whatever it says; pairs
    of equal length go by the rule. wrong: the share of labels that are then turned round.

    Raises ValueError for a share that is not from 0 to 1.
    """

    by_length: float = 0.0
    wrong: float = 0.0

    def __post_init__(self) -> None:
        for share in (self.by_length, self.wrong):
            if not 0 <= share <= 1:
                raise ValueError(f"a share must be from 0 to 1; got {share}")

    def labels(self, pairs: Sequence[Pair], seed: int = 0) -> list[bool]:
        """Return for each pair whether its better ending was preferred."""
        chance, found = random.Random(f"labels {seed}"), []
        for pair in pairs:
            by_length, wrong = chance.random() < self.by_length, chance.random() < self.wrong
            longer = words_of(pair.better) - words_of(pair.worse)
            found.append((longer >= 0 if by_length else True) != wrong)
        return found


def words_of(text: str) -> int:
    """Return how many words a text has."""
    return len(text.split())
