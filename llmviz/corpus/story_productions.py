"""The order of a tiny-world story: the opening, what can come next, the closing.

Everything is written to a `Writer`; see there for the rule that all keep: a choice shows at once.
"""

from functools import cache
from typing import Any

from llmviz.corpus.action_productions import action
from llmviz.corpus.scene_productions import QUESTIONS, SCENES
from llmviz.corpus.story import (
    Person,
    Story,
    Thing,
    a_thing,
    full_name,
    one_of,
    phrases,
    pronoun,
    slot,
)
from llmviz.corpus.words import words
from llmviz.corpus.writer import Fact, Options, Writer

Lead = tuple[Any, ...]  # what to do, then with whom or what, which depends on it
MIN_EVENTS, _MAX_EVENTS = 4, 8


def _newcomer(story: Story, after: str) -> Person:
    """Introduce somebody by first name and surname, both new to the story."""
    w = story.writer
    known = [person.first for person in story.people]
    first = w.choose(slot("names"), without=known)
    last = w.choose(slot("surnames", after=after), without=[person.last for person in story.people])
    person = Person(first, last, female=first in _girls())
    story.people.append(person)
    return person


@cache
def _girls() -> frozenset[str]:
    return frozenset(words("girls"))


_OPENINGS = (
    *("Once there was ", "Long ago, in ", "This is the story of ", "Beyond the "),
    *("One ", "It was "),
)
_SECOND = ("The best friend ", "Next door lived ", "Across the ", "Every day ")


def _opening(story: Story) -> None:
    w = story.writer
    lead = w.choose(phrases(*_OPENINGS))
    if lead == "Once there was ":
        a_thing(w, "qualities", "jobs", after=" called ")
        hero = _newcomer(story, after=". ")
    elif lead == "One ":
        w.choose(slot("seasons", after=" morning, "))
        hero = _newcomer(story, after=" the ")
        w.choose(slot("jobs", after=" woke up "))
        w.choose(slot("feelings", after=". "))
    elif lead == "It was ":
        story.day = w.choose(slot("days", after=", and "))
        hero = _newcomer(story, after=" the ")
        w.choose(slot("jobs", after=" felt "))
        w.choose(slot("feelings", after=". "))
    else:
        if lead == "Long ago, in ":
            a_thing(w, "qualities", "settlements", after=", lived ")
        elif lead == "Beyond the ":
            w.choose(slot("features", after=" lived "))
        hero = _newcomer(story, after=", ")
        a_thing(w, "qualities", "jobs", after=". ")
    _second_person(story, hero)


def _second_person(story: Story, hero: Person) -> None:
    w = story.writer
    lead = w.choose(phrases(*_SECOND))
    if lead == "The best friend ":
        pronoun(w, "he/she", female=hero.female, after=" had was ")
    elif lead == "Across the ":
        w.choose(slot("features", after=" lived "))
    elif lead == "Every day ":
        pronoun(w, "he/she", female=hero.female, after=" had ")
        w.choose(slot("food", after=" with "))
    _newcomer(story, after=", ")
    a_thing(w, "qualities", "jobs", after=". ")
    third = "With them came "
    meetings = (third, "They met at the ", "They both went to the ", "They were at the ")
    lead = w.choose(phrases(*meetings))
    if lead == third:
        _newcomer(story, after=" the ")
        w.choose(slot("jobs", after=". "))
        w.choose(phrases("They met at the ", "They all went to the ", "They were at the "))
    place = w.choose(slot("places", after=". "))
    for person in story.people:
        person.place = place


ADVERBIALS = (
    *("Then ", "Soon ", "Later ", "After a while ", "At noon ", "By and by "),
    *("A little later ", "After lunch "),
)
_CLOSINGS = ("That was the story of ", "In the end ", "And so ", "Nobody ever forgot ")


def _next_options(story: Story) -> Options[Lead]:
    """Return how the next sentence can begin, as a choice of (what to do, with whom or what)."""
    leads: list[tuple[Lead, str, float]] = []
    if story.event < _MAX_EVENTS:
        share = 7 / len(ADVERBIALS)
        leads += [(("deed", None), lead, share) for lead in ADVERBIALS]
        share = 7 / len(story.people)
        for person in story.people:
            leads.append((("deed", person), f"{person.first} ", share * (3 if person.thing else 1)))
        leads.append((("speech",), '"', 2))
        if "group" not in story.done:
            leads.append((("group",), "The ", 4))
        if "couple" not in story.done:
            leads.append((("couple",), "Along came ", 4))
        if story.day and story.last != "next day":
            leads.append((("next day",), "Next day it was ", 5))
        if story.subject is not None:
            leads += _pronoun_leads(story.subject, story.writer)
    leads += _question_leads(story)
    if story.event >= MIN_EVENTS:
        weight = 0.5 + 1.5 * (story.event - MIN_EVENTS)
        leads += [(("close", lead, None), lead, weight) for lead in _CLOSINGS]
        for thing in story.things:
            value = ("close", "keeper", thing)
            leads.append((value, f"And the {thing.noun} stayed with ", 2 * weight))
    values, surfaces, weights = zip(*leads, strict=True)
    return Options(values, surfaces, weights)


def _pronoun_leads(subject: Person, writer: Writer) -> list[tuple[Lead, str, float]]:
    right, wrong = ("She ", "He ") if subject.female else ("He ", "She ")
    value = ("pronoun", right.strip(), wrong.strip())
    if "pronouns" in writer.switched_off:
        return [(value, right, 2), (value, wrong, 2)]
    return [(value, right, 4)]


def _question_leads(story: Story) -> list[tuple[Lead, str, float]]:
    """Return the questions that can be asked: never about what was told a moment ago."""
    about: list[tuple[str, Person | Thing, str, float]] = []
    about += [("where", who, who.first, 2.5) for who in story.people if who.event < story.event - 1]
    for thing in story.things:
        if thing.event < story.event - 1:
            about.append(("who", thing, thing.noun, 10 if thing.given else 3))
            about += [("colour", thing, thing.noun, 1.5), ("size", thing, thing.noun, 1.5)]
    leads = []
    for kind, whom, named, weight in about:
        begins = QUESTIONS[kind][0].format(named)
        if begins not in story.done:
            leads.append((("question", kind, whom, begins), begins, weight))
    return leads


def tell(writer: Writer, story: Story | None = None) -> None:
    """Write one story from beginning to end; `story`: a new one, for who wants to look at it."""
    story = story or Story(writer)
    _opening(story)
    while True:
        what, *which = writer.choose(_next_options(story))
        if what == "close":
            return _closing(story, *which)
        if what == "question":
            kind, about, begins = which
            story.done.add(begins)
            story.subject = None
            QUESTIONS[kind][1](story, about)
            continue
        story.event, story.last = story.event + 1, what
        if what == "deed":
            person = which[0] or one_of(story, story.people, " ")
            action(story, person, named=True)
        elif what == "pronoun":
            if "pronouns" not in writer.switched_off:
                right, wrong = which
                start = writer.position - len(right) - 1
                writer.facts.append(Fact("pronouns", start, right, (wrong,)))
            assert story.subject is not None  # whom the pronoun means
            action(story, story.subject, named=False)
        else:
            story.done.add(what)
            SCENES[what](story)


def _closing(story: Story, lead: str, thing: Thing | None) -> None:
    """Write the last sentence; the story ends with its full stop."""
    w = story.writer
    if thing is not None:
        wrong = tuple(other.first for other in story.others(thing.holder))
        w.rule("possession", thing.holder.first, wrong, after=" for ever.")
        return
    first = one_of(story, story.people, " ")
    if lead == "That was the story of ":
        full_name(story, first, after=" and ")
        second = one_of(story, story.others(first), " ")
        full_name(story, second, after=".")
    elif lead == "In the end ":
        full_name(story, first, after=" was ")
        w.choose(slot("feelings", after=" and ate "))
        w.choose(slot("food", after="."))
    elif lead == "And so ":
        full_name(story, first, after=" became ")
        a_thing(w, "qualities", "jobs", after=".")
    else:
        full_name(story, first, after=".")
