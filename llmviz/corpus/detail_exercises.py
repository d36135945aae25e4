"""Exercises in what a story says of its things and people: sizes, colours, places.

A model that was only taught to look up the owner of a thing still guesses its size, which stories
seldom ask for. Here all these are asked often, in wordings that go from bare words to the sentences
of a story, as in `llmviz.corpus.exercises`. The barest ones matter most: where a size stands right
beside its thing ("lamp tiny") the bundled model finds it after some hundred steps, and from there
learns to find it behind the colour, too ("tiny red lamp"). Without these two wordings it still
guessed after 1,500 steps.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from llmviz.corpus.action_productions import FOUND, GIFTS
from llmviz.corpus.exercises import (
    Piece,
    exercise,
    follow_owner,
    holds_two_things,
    sentences,
)
from llmviz.corpus.story_productions import ADVERBIALS
from llmviz.corpus.words import article, words

LONGEST = 60  # words of an exercise, about
_SHARES = (1, 6, 2)  # of owners, sizes and colours, places: most of what it does not know
_MOST = 5  # things, and people

# Wordings from bare to full. An exercise of some level uses that one and the one before it.
_FOUND = (
    "{thing} {size}.",
    "{size} {thing}.",
    "{size} {colour} {thing}",
    "found {a_size} {colour} {thing}",
    "{who} found {a_size} {colour} {thing}.",
    "{lead}{who} found {a_size} {colour} {thing} {where} the {furniture}.",
)
_ASKED = {
    "size": ("{} is", "How big {}", "How big the {}", "How big was the {}? It was"),
    "colour": ("What colour {}", "What colour the {}", "What colour was the {}? It was"),
    "place": ("{}", "{} at the", "Where was {}? At the", "And where was {}? At the"),
}
_MEETING = ("They met at the", "They both went to the", "They all went to the", "They were at the")
_MOVED = (
    "{who} {place}",
    "{who} to the {place}",
    "{who} {moved} to the {place}.",
    "{lead}{who} {moved} to the {place}.",
)
_STORY_QUESTIONS = {
    "owner": "But who had the {} now? It was",
    "size": "How big was the {}? It was",
    "colour": "What colour was the {}? It was",
    "place": "And where was {}? At the",
}
_ASK = 0.2  # chance of each question that can be asked after a sentence of a story

_THING = re.compile(r"found an? (\w+) (\w+) (\w+) \w+ the \w+\.$")
_GIFT = re.compile(rf"^(.*(?:{'|'.join(map(str.rstrip, GIFTS))}))( \w+)( \w+ to \w+\.)$")
_MET = re.compile(rf"^(?:{'|'.join(_MEETING)}) (\w+)\.$")
_WENT = re.compile(rf"(?:^| )(\w+) (?:{'|'.join(words('motion'))}) to the (\w+)\.$")


def detail_exercise(chance: random.Random) -> list[Piece]:
    """Return a new exercise: of owners, of sizes and colours, or of places."""
    kinds = (exercise, trait_exercise, place_exercise)
    return chance.choices(kinds, _SHARES)[0](chance)


def trait_exercise(chance: random.Random) -> list[Piece]:
    """Return things with their size and colour, and questions about both."""
    level = chance.randrange(len(_FOUND))
    things = chance.sample(words("things"), chance.randint(2, _MOST))
    known: dict[str, dict[str, str]] = {}
    pieces: list[Piece] = []
    while _length(pieces) < LONGEST:
        if len(known) < 2 or (len(known) < len(things) and chance.random() < 0.3):
            thing, wording = things[len(known)], _wording(_FOUND, level, chance)
            size, colour = chance.choice(words("sizes")), chance.choice(words("colours"))
            known[thing] = {"size": size} | ({"colour": colour} if "{colour}" in wording else {})
            sentence = wording.format(
                thing=thing,
                size=size,
                a_size=f"{article(size)} {size}",
                colour=colour,
                **_scenery(chance),
            )
            pieces.append(Piece(f" {sentence}"))
        else:
            thing = chance.choice(list(known))
            kind = chance.choice(list(known[thing]))
            pieces += _asked(kind, thing, known[thing][kind], level, chance)
    return pieces


def place_exercise(chance: random.Random) -> list[Piece]:
    """Return people who go to places, and questions about where each of them is."""
    level = chance.randrange(len(_MOVED))
    people = chance.sample(words("names"), chance.randint(2, _MOST))
    at: dict[str, str] = {}
    pieces: list[Piece] = []
    if chance.random() < 0.5:  # as a story begins: all at one place
        place = chance.choice(words("places"))
        at = dict.fromkeys(people, place)
        pieces += [Piece(f" {who}.") for who in people]
        pieces.append(Piece(f" {chance.choice(_MEETING)} {place}."))
    while _length(pieces) < LONGEST:
        if len(at) < 2 or chance.random() < 0.3:
            who = people[len(at)] if len(at) < len(people) else chance.choice(people)
            at[who] = chance.choice([word for word in words("places") if word != at.get(who)])
            sentence = _wording(_MOVED, level, chance).format(
                place=at[who],
                moved=chance.choice(words("motion")),
                **{**_scenery(chance), "who": who},
            )
            pieces.append(Piece(f" {sentence}"))
        else:
            who = chance.choice(list(at))
            pieces += _asked("place", who, at[who], level, chance)
    return pieces


def _scenery(chance: random.Random) -> dict[str, str]:
    return {
        "lead": chance.choice((*ADVERBIALS, "")),
        "who": chance.choice(words("names")),
        "where": chance.choice(FOUND),
        "furniture": chance.choice(words("furniture")),
    }


def _asked(kind: str, about: str, answer: str, level: int, chance: random.Random) -> list[Piece]:
    sentence = _wording(_ASKED[kind], level, chance).format(about)
    pieces = [Piece(f" {sentence}"), Piece(f" {answer}", answer=True)]
    return [*pieces, Piece(".")] if "?" in sentence else pieces


def _wording(wordings: Sequence[str], level: int, chance: random.Random) -> str:
    level = min(level, len(wordings) - 1)
    return chance.choice(wordings[max(0, level - 1) : level + 1])


def _length(pieces: Sequence[Piece]) -> int:
    return sum(len(piece.text.split()) for piece in pieces)


def details_asked(story: str, chance: random.Random) -> list[Piece]:
    """Return a story of tiny-world with questions about its people and things put in between.

    Owners, sizes, colours and places are asked, no answer twice. The colour of a thing that is
    given away is an answer, too.
    """
    known, done, pieces, parts = _Known(), set(), [], sentences(story)
    for number, sentence in enumerate(parts):
        space = " " * (number > 0)
        if given := _GIFT.match(sentence):
            head, colour, rest = given.groups()
            pieces += [Piece(space + head), Piece(colour, answer=True), Piece(rest)]
        else:
            pieces.append(Piece(space + sentence))
        if number == len(parts) - 1:  # nothing follows the end of a story
            break
        known.follow(sentence)
        for question in known.questions():
            kind, about, answer = question
            if question not in done and chance.random() < _ASK:
                done.add(question)
                pieces.append(Piece(f" {_STORY_QUESTIONS[kind].format(about)}"))
                pieces += [Piece(f" {answer}", answer=True), Piece(".")]
    return pieces


@dataclass
class _Known:
    """What the sentences of a story have said so far."""

    people: list[str] = field(default_factory=list)
    owner: dict[str, str] = field(default_factory=dict)
    size: dict[str, str] = field(default_factory=dict)
    colour: dict[str, str] = field(default_factory=dict)
    place: dict[str, str] = field(default_factory=dict)

    def follow(self, sentence: str) -> None:
        if not self.place:
            self.people += _newcomers(sentence)
        follow_owner(sentence, self.owner)
        if thing := _THING.search(sentence):
            self.size[thing[3]], self.colour[thing[3]] = thing[1], thing[2]
        elif met := _MET.match(sentence):
            self.place = dict.fromkeys(self.people, met[1])
        elif went := _WENT.search(sentence):
            self.place[went[1]] = went[2]

    def questions(self) -> list[tuple[str, str, str]]:
        """(kind, what it is about, answer) of all that can be asked."""
        return [
            (kind, about, answer)
            for kind in _STORY_QUESTIONS
            for about, answer in getattr(self, kind).items()
        ]


def _newcomers(sentence: str) -> list[str]:
    first, last = words("names"), words("surnames")
    in_order = re.findall(r"\w+", sentence)
    return [a for a, b in pairwise(in_order) if a in first and b in last]


def holds_details(story: str) -> bool:
    """Say whether a story has two things in it, or somebody in it leaves the others."""
    return holds_two_things(story) or any(map(_WENT.search, sentences(story)))
