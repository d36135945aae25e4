"""Pairs of other kinds than a reward model learned from."""

from __future__ import annotations

import random
from collections.abc import Callable

from llmviz.corpus.words import words
from llmviz.course.lessons.reasoning.preference.preference_texts import (
    NEGATED,
    REWORDED,
    SHUFFLED,
    UNTRUE,
    good_endings,
    judged,
    people_of,
)
from llmviz.finetuning.labeller import clean_pairs
from llmviz.finetuning.labels import GLAD, SORRY
from llmviz.finetuning.preferences import Pair, names_the_place


def _reworded(story: str, chance: random.Random) -> Pair | None:
    person = chance.choice(people_of(story))
    glad, sorry = chance.choice(GLAD), chance.choice(SORRY)
    return Pair(story, f"{person} felt {glad} for ever.", f"{person} felt {sorry} for ever.")


def _negated(story: str, chance: random.Random) -> Pair | None:
    person, food = chance.choice(people_of(story)), chance.choice(words("food"))
    glad, sorry = chance.choice(GLAD), chance.choice(SORRY)
    with_not = [f"In the end {person} was not {mood} and ate {food}." for mood in (sorry, glad)]
    return Pair(story, *with_not)


def _untrue(story: str, chance: random.Random) -> Pair | None:
    for better in good_endings(story, 8, chance.randrange(10**6)):
        if names_the_place(better, story):
            place = better.split("At the ")[1].split(".")[0]
            other = chance.choice([word for word in words("places") if word != place])
            worse = better.replace(f"At the {place}.", f"At the {other}.", 1)
            if not judged(story, worse).grammatical:
                return Pair(story, better, worse)
    return None


def _shuffled(story: str, chance: random.Random) -> Pair | None:
    for better in good_endings(story, 1, chance.randrange(10**6)):
        mixed = better.split()
        chance.shuffle(mixed)
        worse = " ".join(mixed)
        if not judged(story, worse).grammatical:
            return Pair(story, better, worse)
    return None


MAKERS: dict[str, Callable[[str, random.Random], Pair | None]] = {
    REWORDED: _reworded,
    NEGATED: _negated,
    UNTRUE: _untrue,
    SHUFFLED: _shuffled,
}
"""By kind: a story and chance to a pair, or None where the story has none."""


def pairs_of_kind(kind: str, count: int, seed: int = 0) -> list[Pair]:
    """Return `count` pairs of a kind of MAKERS. Raises ValueError for another name."""
    if kind not in MAKERS:
        raise ValueError(f"kind must be one of {', '.join(MAKERS)}; got {kind!r}")
    chance, found = random.Random(f"{kind} {seed}"), list[Pair]()
    for pair in clean_pairs(3 * count, seed):
        if len(found) < count and (new_pair := MAKERS[kind](pair.story, chance)) is not None:
            found.append(new_pair)
    if len(found) < count:
        raise ValueError(f"the stories have {len(found)} pairs of the kind {kind}, not {count}")
    return found
