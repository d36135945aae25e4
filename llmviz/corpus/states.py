"""What the grammar knows at each place of a tiny-world story: word classes, rules and states.

A label is on at a character, or off. Three kinds of them: the class of the word that stands there;
the rule that decides the word which comes next; and what is settled at that place, such as that
somebody holds a thing. What a phrase settles counts from the next phrase on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import regex

from llmviz.corpus.roles import RoleWord, roles
from llmviz.corpus.story import Story
from llmviz.corpus.story_productions import MIN_EVENTS, tell
from llmviz.corpus.tiny_world import REGULARITIES
from llmviz.corpus.words import words
from llmviz.corpus.writer import Fact, Reader

_WORDS = {
    "girls": ("girls",),
    "boys": ("boys",),
    "surnames": ("surnames",),
    "jobs": ("jobs",),
    "qualities": ("qualities",),
    "places": ("places",),
    "features": ("features", "features_plural"),
    "things": ("things",),
    "colours": ("colours",),
    "sizes": ("sizes",),
    "furniture": ("furniture",),
    "motion": ("motion",),
    "acts": ("acts",),
    "adverbs": ("adverbs",),
    "feelings": ("feelings",),
    "food": ("food",),
    "animals": ("animals", "voiced", "animals_plural"),
    "materials": ("materials",),
    "numbers": ("numbers",),
    "countries": ("countries",),
    "capitals": ("capitals",),
}
_CLASS_OF = {category: name for name, listed in _WORDS.items() for category in listed}
_BETWEEN = {
    "quotation": regex.compile(r'"([^"]*)"'),
    "bracket": regex.compile(r"\(([^)]*)\)"),
    "question": regex.compile(r'([^.?"]*\?)'),
}
_ANSWERS = ("first holds", "second holds")  # what the person introduced third holds is rarely asked
_SETTLED = ("before events", "may end", "a thing", "two things", "she", "he")

WORD_CLASSES = tuple(_WORDS)
RULES = tuple(REGULARITIES)
STATES = (*_BETWEEN, *_SETTLED, "holder", *_ANSWERS)
LABELS = tuple(
    [f"word {name}" for name in WORD_CLASSES]
    + [f"rule {rule}" for rule in RULES]
    + [f"state {state}" for state in STATES]
)
"""All labels: `word`, `rule` or `state`, and the name."""


def categories_of(name: str) -> tuple[str, ...]:
    """Return the categories of `words` that a word class is made of."""
    return _WORDS[name]


@dataclass(frozen=True)
class Labelled:
    """A story with what is on where.

    spans: (first character, end, label). before: (character, label) of labels that are on at the
    token before the one in which this character stands.
    """

    text: str
    spans: tuple[tuple[int, int, str], ...]
    before: tuple[tuple[int, str], ...]


@dataclass
class _Watcher(Reader):
    """Follows a story and notes what is settled whenever something is written."""

    story: Story | None = None
    seen: list[tuple[int, int, list[str], list[str]]] = field(default_factory=list)
    people: list[str] = field(default_factory=list)

    def say(self, text: str) -> None:
        start, story = self.position, self.story
        assert story is not None  # set before anything is told
        super().say(text)
        self.people = [person.first for person in story.people]
        holding = [person.first for person in story.people if person.thing is not None]
        self.seen.append((start, self.position, _settled(story), holding))


def _settled(story: Story) -> list[str]:
    on = ["before events"] if not story.event else []
    on += ["may end"] if story.event >= MIN_EVENTS else []
    on += ["a thing"] if story.things else []
    on += ["two things"] if len(story.things) > 1 else []
    if story.subject is not None:
        on.append("she" if story.subject.female else "he")
    return on


def label(text: str) -> Labelled:
    """Return a story with its labels.

    Raises NotTinyWorldError for a text that the grammar cannot have written.
    """
    watcher = _Watcher(text=text)
    watcher.story = Story(watcher)
    tell(watcher, watcher.story)
    watcher.finish()
    parts = roles(text)
    spans = [
        (word.start, word.start + len(word.text), f"word {name}") for word, name in _named(parts)
    ]
    for name, pattern in _BETWEEN.items():
        found = pattern.finditer(text)
        spans += [(match.start(), match.end(1), f"state {name}") for match in found]
    for start, end, settled, holding in watcher.seen:
        spans += [(start, end, f"state {name}") for name in settled]
        inside = [word for word in parts if start <= word.start < end and word.text in holding]
        spans += [(word.start, word.start + len(word.text), "state holder") for word in inside]
    before = [(fact.start, f"rule {fact.kind}") for fact in watcher.facts]
    before += _holders(watcher.facts, watcher.people)
    return Labelled(text, tuple(spans), tuple(before))


def _named(parts: Sequence[RoleWord]) -> list[tuple[RoleWord, str]]:
    girls = set(words("girls"))
    named = []
    for word in parts:
        category = word.category
        if category == "names":
            category = "girls" if word.text in girls else "boys"
        if category in _CLASS_OF:
            named.append((word, _CLASS_OF[category]))
    return named


def _holders(facts: Sequence[Fact], people: list[str]) -> list[tuple[int, str]]:
    """Which of the people, in the order in which they came, an answer about a thing will name."""
    possessions = [fact for fact in facts if fact.kind == "possession"]
    places = [(fact.start, people.index(fact.right)) for fact in possessions]
    return [(at, f"state {_ANSWERS[number]}") for at, number in places if number < len(_ANSWERS)]


def token_labels(story: Labelled, ends: Sequence[int]) -> np.ndarray:
    """Return which labels are on at each token (T, len(LABELS)), bool.

    ends: the character behind each token. A token has the labels of its last character.
    """
    last, at = np.asarray(ends) - 1, {name: number for number, name in enumerate(LABELS)}
    on = np.zeros((len(last), len(LABELS)), bool)
    for start, end, name in story.spans:
        on[(start <= last) & (last < end), at[name]] = True
    for start, name in story.before:
        token = int(np.searchsorted(last, start))  # the one in which the character stands
        if 0 < token < len(last):
            on[token - 1, at[name]] = True
    return on
