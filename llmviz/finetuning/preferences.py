"""Pairs of endings of a story, the better one first by a rule that can be computed.

The base model has read all kinds of endings about as often as they are written here, so before
training it does not mind which of two comes.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass

from llmviz.corpus import generate
from llmviz.corpus.words import article, words
from llmviz.finetuning.labels import GLAD, SORRY

_SEED_OFFSET = 4_000_037  # so that the stories are not those that the models have read
MEETING = re.compile(r"They (?:met at|both went to|all went to|were at) the (\w+)\.")
TRIES = 50  # endings drawn for a pair whose scores differ


@dataclass(frozen=True)
class Pair:
    """A story up to its ending, and two endings of which the first is the better one."""

    story: str
    better: str
    worse: str


def shorter(ending: str, story: str) -> float:
    """The fewer words the better."""
    return -len(ending.split())


def happier(ending: str, story: str) -> float:
    """Glad people are better than none, and none better than sorry ones."""
    words = set(re.findall(r"\w+", ending))
    return bool(words & {*GLAD}) - bool(words & {*SORRY})


def names_the_place(ending: str, story: str) -> float:
    """An ending that says where people met is better than one that does not."""
    meeting = MEETING.search(story)
    return float(meeting is not None and f" {meeting[1]}." in ending)


RULES: dict[str, Callable[[str, str], float]] = {
    "shorter": shorter,
    "happier": happier,
    "place": names_the_place,
}
"""What can be preferred: a score for an ending of a story, the higher the better."""


def draw_ending(story: str, chance: random.Random) -> str:
    """Return an ending as the grammar writes them, for a story without its last sentence.

    Half of them say first where somebody is.
    """
    people = re.findall(r"\b([A-Z]\w+) ([A-Z]\w+)\b", story)
    first, last = set(words("names")), set(words("surnames"))
    people = [f"{a} {b}" for a, b in dict.fromkeys(people) if a in first and b in last]
    person, other = chance.sample(people, 2)
    quality, job = chance.choice(words("qualities")), chance.choice(words("jobs"))
    feeling, food = chance.choice((*GLAD, *SORRY)), chance.choice(words("food"))
    closing = chance.choice(
        (
            f"In the end {person} was {feeling} and ate {food}.",
            f"In the end {person} was {feeling} and ate {food}.",
            f"And so {person} became {article(quality)} {quality} {job}.",
            f"That was the story of {person} and {other}.",
            f"Nobody ever forgot {person}.",
        )
    )
    meeting = MEETING.search(story)
    if meeting is None or chance.random() < 0.5:
        return closing
    return f"And where was {other.split()[0]}? At the {meeting[1]}. {closing}"


def pairs(rule: str, count: int, seed: int = 0) -> list[Pair]:
    """Return `count` pairs of endings to as many stories; the same ones for the same arguments.

    Raises ValueError for an unknown rule or a negative count.
    """
    if rule not in RULES:
        raise ValueError(f"rule must be one of {', '.join(RULES)}; got {rule!r}")
    if count < 0:
        raise ValueError(f"the number of pairs cannot be negative; got {count}")
    score, chance = RULES[rule], random.Random(f"{rule} {seed}")
    pairs: list[Pair] = []
    stories = generate(count=2 * count + 100, seed=seed + _SEED_OFFSET)
    while len(pairs) < count:
        story = next(stories).text.rsplit(". ", 1)[0] + "."
        for _ in range(TRIES):
            first, other = (draw_ending(story, chance) for _ in range(2))
            if score(first, story) != score(other, story):
                better, worse = sorted((first, other), key=lambda e: score(e, story), reverse=True)
                pairs.append(Pair(story, better, worse))
                break
    return pairs
