"""What is settled in a tiny-world story so far, and the small phrases that all of it is made of."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

from llmviz.corpus.words import article, words
from llmviz.corpus.writer import Options, Writer


@dataclass(slots=True)
class Person:
    """Somebody in the story, where they are and what they carry."""

    first: str
    last: str
    female: bool
    place: str = ""
    event: int = -1  # when they came there
    thing: "Thing | None" = None


@dataclass(slots=True)
class Thing:
    """A thing that was found, and who has it."""

    noun: str
    colour: str
    size: str
    holder: Person
    event: int  # when it was last seen to change hands
    given: bool = False


@dataclass(slots=True)
class Story:
    """What has been settled so far."""

    writer: Writer
    people: list[Person] = field(default_factory=list)
    things: list[Thing] = field(default_factory=list)
    day: str = ""
    event: int = 0  # how many there have been
    last: str = ""  # what kind the last one was
    subject: Person | None = None  # whom "she" or "he" would mean
    done: set[str] = field(default_factory=set)  # what is told or asked only once

    def others(self, person: Person) -> list[Person]:
        return [other for other in self.people if other is not person]


@cache
def slot(
    category: str, after: str = " ", followed_by: tuple[str, ...] = ("",), *, articled: bool = False
) -> Options[str]:
    """Return a uniform choice among the words of a category, written with what comes after."""
    values = words(category)
    lead = [f"{article(word)} " if articled else "" for word in values]
    surfaces = [a + word + after for a, word in zip(lead, values, strict=True)]
    return Options(values, surfaces, followed_by=followed_by, category=category)


@cache
def phrases(*surfaces: str) -> Options[str]:
    """Return a uniform choice among phrases."""
    return Options(surfaces, surfaces)


@cache
def others_of(category: str, word: str, *, articled: bool = False) -> tuple[str, ...]:
    """Return the words of a category other than `word`."""
    kept = [other for other in words(category) if other != word]
    return tuple(f"{article(other)} {other}" if articled else other for other in kept)


def a_thing(
    w: Writer, adjectives: str, nouns: str, after: str = "", followed_by: tuple[str, ...] = ("",)
) -> str:
    """Write "a shiny lamp" and return the noun."""
    w.choose(slot(adjectives, articled=True))
    return w.choose(slot(nouns, after, followed_by=followed_by))


def pronoun(w: Writer, forms: str, after: str = " ", before: str = "", *, female: bool) -> None:
    """Write the one of "he/she", "his/her" that agrees."""
    man, woman = forms.split("/")
    right, wrong = (woman, man) if female else (man, woman)
    w.rule("pronouns", right, (wrong,), before=before, after=after)


def one_of(story: Story, options: Sequence[Person], after: str) -> Person:
    """Choose one of several people by first name; with one of them nothing is left to choose."""
    if len(options) == 1:
        story.writer.say(options[0].first + after)
        return options[0]
    return story.writer.choose(Options(options, [person.first + after for person in options]))


def full_name(story: Story, person: Person, after: str) -> None:
    """Write the surname that belongs to a first name."""
    wrong = tuple(other.last for other in story.others(person))
    story.writer.rule("names", person.last, wrong, after=after)
