"""Exercises in who has what, for a model that has read stories and only guesses the owner.

In tiny-world who has what is asked once in some three hundred words, and where two people hold two
things a guess is right half of the time: too little to learn from. An exercise names several
things with their owners and asks for them again and again, in wordings that go from bare pairs of
words ("lamp Anna") to the sentences of a story. The skill, to look a thing
up and copy the name beside it, is easy to learn from bare pairs, and then only has to be extended.
"""

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from llmviz.corpus.action_productions import FOUND, GIFTS
from llmviz.corpus.story_productions import ADVERBIALS
from llmviz.corpus.words import article, words

LONGEST = 120  # words of an exercise, about
_MOST = 8  # people, and things

# Wordings from bare to full. An exercise of some level uses that one and the three before it.
_LISTED = ("{thing} {who}", "{thing} was {who}", "{thing} to {who}", "{thing} went to {who}")
_FOUND = (
    "{who} {thing}",
    "{who} found {a_thing}",
    "{who} found {a_thing}.",
    "{who} found {a_size} {colour} {thing}.",
    "{lead}{who} found {a_size} {colour} {thing} {where} the {furniture}.",
)
_GIVEN = (
    "{thing} to {to}",
    "{gave}{thing} to {to}.",
    "{who} {gave}{thing} to {to}.",
    "{who} {gave}{colour} {thing} to {to}.",
    "{lead}{who} {gave}{colour} {thing} to {to}.",
)
_ASKED = (
    "{thing}",
    "{thing} was",
    "The {thing} stayed with",
    "And the {thing} stayed with",
    "But who had the {thing} now? It was",
)
_STORY_QUESTIONS = (("And the {thing} stayed with", " for ever."), (_ASKED[-1], "."))

_FIND = re.compile(r"(?:^| )(\w+) found an? \w+ \w+ (\w+) \w+ the \w+\.$")
_GIFT = re.compile(rf"(?:{'|'.join(GIFTS)})\w+ (\w+) to (\w+)\.$")


class Piece(NamedTuple):
    """A part of an exercise; `answer` where it is the name that a question asks for."""

    text: str
    answer: bool = False


def exercise(chance: random.Random) -> list[Piece]:
    """Return a new exercise: things with their owners, then questions, with gifts in between."""
    draft = _Exercise.begun(chance)
    first = draft.count if draft.kind == "listed" or chance.random() < 0.5 else 2
    pieces = [draft.find() for _ in range(first)]
    while sum(len(piece.text.split()) for piece in pieces) < LONGEST:
        chosen = chance.random()
        if len(draft.holder) < draft.count and chosen < 0.3:
            pieces.append(draft.find())
        elif draft.kind == "given" and chosen < 0.6:
            pieces.append(draft.give())
        else:
            pieces += draft.ask()
    return pieces


@dataclass
class _Exercise:
    """What has been settled so far: who has which thing, and its colour."""

    chance: random.Random
    kind: str  # "listed", "found", or found and "given"
    level: int
    people: list[str]
    things: list[str]
    holder: dict[str, str] = field(default_factory=dict)
    colours: dict[str, str] = field(default_factory=dict)

    @classmethod
    def begun(cls, chance: random.Random) -> "_Exercise":
        kind = chance.choice(("listed", "found", "given", "given"))
        level = chance.randrange(len(_FOUND))
        count = chance.randint(2, _MOST)
        people = chance.sample(words("names"), count)
        return cls(chance, kind, level, people, chance.sample(words("things"), count))

    @property
    def count(self) -> int:
        """How many things there will be, and people."""
        return len(self.things)

    def find(self) -> Piece:
        thing = self.things[len(self.holder)]
        one_each = self.kind == "listed" or self.level == 0
        who = self.people[len(self.holder)] if one_each else self.chance.choice(self.people)
        self.holder[thing] = who
        return self._told(_LISTED if self.kind == "listed" else _FOUND, thing, who)

    def give(self) -> Piece:
        thing = self.chance.choice(list(self.holder))
        before = self.holder[thing]
        self.holder[thing] = self.chance.choice([other for other in self.people if other != before])
        return self._told(_GIVEN, thing, before, self.holder[thing])

    def ask(self) -> list[Piece]:
        thing = self.chance.choice(list(self.holder))
        question = self._wording(_ASKED).format(thing=thing)
        pieces = [Piece(f" {question}"), Piece(f" {self.holder[thing]}", answer=True)]
        return [*pieces, Piece(".")] if "?" in question else pieces

    def _told(self, wordings: tuple[str, ...], thing: str, who: str, to: str = "") -> Piece:
        chance, wording = self.chance, self._wording(wordings)
        lead, size = chance.choice((*ADVERBIALS, "")), chance.choice(words("sizes"))
        colour = self.colours.setdefault(thing, chance.choice(words("colours")))
        slots = {
            "a_thing": f"{article(thing)} {thing}",
            "a_size": f"{article(size)} {size}",
            "where": chance.choice(FOUND),
            "furniture": chance.choice(words("furniture")),
            "gave": chance.choice(GIFTS),
        }
        sentence = wording.format(thing=thing, who=who, to=to, lead=lead, colour=colour, **slots)
        return Piece(f" {sentence}")

    def _wording(self, wordings: tuple[str, ...]) -> str:
        """One of the wordings of this level and the three before it."""
        level = min(self.level, len(wordings) - 1)
        return self.chance.choice(wordings[max(0, level - 3) : level + 1])


def asked_often(story: str, chance: random.Random) -> list[Piece]:
    """Return a story of tiny-world with questions about who has what put in between its sentences.

    Most are asked once two things have been found.
    """
    holder: dict[str, str] = {}
    pieces = []
    for number, sentence in enumerate(sentences(story)):
        pieces.append(Piece(" " * (number > 0) + sentence))
        follow_owner(sentence, holder)
        for thing, who in holder.items():
            if chance.random() < (0.6 if len(holder) > 1 else 0.05):
                question, end = chance.choice(_STORY_QUESTIONS)
                pieces += [Piece(f" {question.format(thing=thing)}")]
                pieces += [Piece(f" {who}", answer=True), Piece(end)]
    return pieces


def holds_two_things(story: str) -> bool:
    """Say whether two things are found in a story of tiny-world."""
    return len(holders(story)) > 1


def holders(story: str) -> dict[str, str]:
    """Return who has each thing at the end of a story of tiny-world, or of its beginning."""
    holder: dict[str, str] = {}
    for sentence in sentences(story):
        follow_owner(sentence, holder)
    return holder


def sentences(story: str) -> list[str]:
    """The sentences of a story; a question stays with its answer."""
    return re.split(r"(?<=\.) ", story)


def follow_owner(sentence: str, holder: dict[str, str]) -> None:
    """Note in `holder` who finds what in a sentence, or is given it."""
    if finding := _FIND.search(sentence):
        holder[finding[2]] = finding[1]
    elif given := _GIFT.search(sentence):
        holder[given[1]] = given[2]


def exercises(count: int, seed: int = 0) -> Iterator[list[Piece]]:
    """Yield `count` exercises; the same ones for the same seed."""
    chance = random.Random(seed)
    for _ in range(count):
        yield exercise(chance)
