"""What is true of an ending, and pairs of other kinds than a reward model learned from."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass

from llmviz.corpus.story_productions import tell
from llmviz.corpus.words import words
from llmviz.corpus.writer import NotTinyWorldError, Reader
from llmviz.finetuning.labeller import whole
from llmviz.finetuning.preferences import TRIES, draw_ending, happier

KINDS = REWORDED, NEGATED, UNTRUE, SHUFFLED = "reworded", "negated", "untrue", "shuffled"
"""Kinds of pairs that no reward model learned from; `experiments/_pair_kinds.py` makes them."""


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
