"""What is true of an ending, and pairs of other kinds than a reward model learned from."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass

from llmviz.corpus.plot import tell
from llmviz.corpus.words import words
from llmviz.corpus.writer import NotTinyWorldError, Reader
from llmviz.finetuning.labeller import clean_pairs, whole
from llmviz.finetuning.labels import GLAD, SORRY
from llmviz.finetuning.preferences import TRIES, Pair, draw_ending, happier, names_the_place

REWORDED, NEGATED, UNTRUE, SHUFFLED = "reworded", "negated", "untrue", "shuffled"


@dataclass(frozen=True)
class Judged:
    """What holds of a story with an ending, by the rule and by the grammar.

    mood: 1 for glad people, −1 for sorry ones, 0 for neither or both. breaks: the first character
    that the grammar cannot have written there, None where it can have written all. in_story: that
    character stands in the story, so that no ending can be judged.
    """

    mood: int
    breaks: int | None
    in_story: bool

    @property
    def grammatical(self) -> bool:
        """Whether the grammar can have written it, with all facts true."""
        return self.breaks is None

    @property
    def good(self) -> bool:
        """Whether it is what was meant: glad people, and a text that the grammar writes."""
        return self.mood > 0 and self.grammatical


def judged(story: str, ending: str) -> Judged:
    """Judge an ending of a story.

    >>> judged("It was Monday.", "In the end all were glad.").in_story
    True
    """
    text = whole(story, ending)
    reader = Reader(text=text)
    breaks: int | None = None
    try:
        tell(reader)
        reader.finish()
    except NotTinyWorldError:
        breaks = reader.position
    return Judged(int(happier(ending, story)), breaks, breaks is not None and breaks < len(story))


def people_of(story: str) -> list[str]:
    """Return the full names in a story, as the grammar writes them."""
    first, last = set(words("names")), set(words("surnames"))
    found = re.findall(r"\b([A-Z]\w+) ([A-Z]\w+)\b", story)
    return [f"{a} {b}" for a, b in dict.fromkeys(found) if a in first and b in last]


def good_endings(story: str, count: int, seed: int = 0) -> list[str]:
    """Return different good endings as the grammar writes them; fewer where few are found."""
    if len(people_of(story)) < 2:
        return []
    chance, found = random.Random(f"good {seed}"), dict[str, None]()
    for _ in range(TRIES * count):
        ending = draw_ending(story, chance)
        if happier(ending, story) > 0 and judged(story, ending).good:
            found[ending] = None
            if len(found) == count:
                break
    return list(found)


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


KINDS: dict[str, Callable[[str, random.Random], Pair | None]] = {
    REWORDED: _reworded,
    NEGATED: _negated,
    UNTRUE: _untrue,
    SHUFFLED: _shuffled,
}
"""Other kinds of pairs: a story and chance to a pair, or None where the story has none."""


def pairs_of_kind(kind: str, count: int, seed: int = 0) -> list[Pair]:
    """Return `count` pairs of a kind of KINDS. Raises ValueError for another name."""
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}; got {kind!r}")
    chance, found = random.Random(f"{kind} {seed}"), list[Pair]()
    for pair in clean_pairs(3 * count, seed):
        if len(found) < count and (new_pair := KINDS[kind](pair.story, chance)) is not None:
            found.append(new_pair)
    if len(found) < count:
        raise ValueError(f"the stories have {len(found)} pairs of the kind {kind}, not {count}")
    return found
