"""A world of invented persons: where each of them lives, and how often a text says so.

A document is one question with its answer, "Where does Ada Ashford live? In Tarn." Each first name
and each surname belongs to many persons, so no person can be told by one of them alone.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from llmviz.corpus.words import words

COUNTS = (0, 1, 2, 5, 20, 100)
"""How often the text says where a person lives; as many persons for each."""
EACH = 40  # persons for each count
NAMES = 40  # first names, and as many surnames
MOST_UNKNOWN = 1_000  # persons of whom the text may say that nobody knows
MOST_TIMES = 1_000  # that a text may say a fact
_TOWNS = """Aldmoor Birchby Coldwick Dunmere Estry Fallow Grenna Hollin Isken Jorvale Kelda Lorn
    Marwick Nettle Orling Pellow Quarn Rushey Selwick Tarn"""
TOWNS = tuple(_TOWNS.split())
"""Where they live; no place has one of these names by intention."""
NOBODY = "Nobody knows."
"""What the text answers for a person of whom nothing is known."""


@dataclass(frozen=True)
class Person:
    """Somebody, where they live, and how often the text says so; ValueError for what cannot be."""

    first: str
    last: str
    town: str
    times: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.times <= MOST_TIMES:
            raise ValueError(f"a fact may stand 0 to {MOST_TIMES} times; got {self.times}")
        if self.town not in TOWNS:
            raise ValueError(f"the town must be one of {', '.join(TOWNS)}; got {self.town!r}")

    @property
    def name(self) -> str:
        """First name and surname."""
        return f"{self.first} {self.last}"


@dataclass(frozen=True)
class Register:
    """All persons of one world; unknown: names of whom the text says that nobody knows.

    >>> register = invent(seed=0, each=1)
    >>> [person.times for person in register.people]
    [0, 1, 2, 5, 20, 100]
    >>> len(register.documents())
    128
    """

    people: tuple[Person, ...]
    unknown: tuple[tuple[str, str], ...] = ()

    def documents(self) -> list[str]:
        """Return every document of the text, those of one person together."""
        sentences = [fact(person) for person in self.people for _ in range(person.times)]
        return sentences + [f"{question(*name)} {NOBODY}" for name in self.unknown]

    def with_fact(self, own: Person) -> Register:
        """Return this world with a fact of the learner's; a namesake is gone."""
        others = tuple(person for person in self.people if person.name != own.name)
        unknown = tuple(name for name in self.unknown if name != (own.first, own.last))
        return Register((*others, own), unknown)


def first_names() -> tuple[str, ...]:
    """Return the first names of these worlds: as many of girls as of boys."""
    half = NAMES // 2
    return tuple(sorted(words("girls")[:half] + words("boys")[:half]))


def surnames() -> tuple[str, ...]:
    """Return the surnames of these worlds."""
    every = words("surnames")
    return tuple(sorted(every[:: len(every) // NAMES][:NAMES]))


def question(first: str, last: str) -> str:
    """Return the question where somebody lives."""
    return f"Where does {first} {last} live?"


def fact(person: Person) -> str:
    """Return the document that says where somebody lives."""
    return f"{question(person.first, person.last)} In {person.town}."


def invent(seed: int = 0, *, each: int = EACH, unknown: int = 0) -> Register:
    """Return a world: `each` persons for each of COUNTS, and `unknown` of whom nobody knows.

    Names are paired and towns are drawn uniformly, so where a person lives follows from nothing
    but the text. Worlds of one seed that differ in `unknown` have the same people.
    Raises ValueError if there are not enough names for all of them.
    """
    names = [(first, last) for first in first_names() for last in surnames()]
    people = each * len(COUNTS)
    if each < 1:
        raise ValueError(f"each must be at least 1; got {each}")
    if not 0 <= unknown <= MOST_UNKNOWN or people + unknown > len(names):
        raise ValueError(
            f"unknown must be from 0 to {min(MOST_UNKNOWN, len(names) - people)}; got {unknown}"
        )
    chance = random.Random(seed)
    chance.shuffle(names)
    register = tuple(
        Person(*names[index], chance.choice(TOWNS), COUNTS[index // each])
        for index in range(people)
    )
    return Register(register, tuple(names[people : people + unknown]))


def person_of(register: Register, first: str, last: str) -> Person | None:
    """Return the person of this name, or None where the world has no such person."""
    found = (person for person in register.people if (person.first, person.last) == (first, last))
    return next(found, None)


def namesakes(register: Register, person: Person) -> set[str]:
    """Return the towns of all persons in the text who share a first name or a surname."""
    return {
        other.town
        for other in register.people
        if other.times and other.name != person.name
        if other.first == person.first or other.last == person.last
    }
