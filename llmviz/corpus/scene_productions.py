"""What happens in a tiny-world story besides: speech, passers-by, a new day, questions."""

from collections.abc import Callable
from functools import cache
from typing import Any

from llmviz.corpus.story import (
    Person,
    Story,
    Thing,
    a_thing,
    full_name,
    others_of,
    phrases,
    pronoun,
    slot,
)
from llmviz.corpus.words import LORE, PAIRS, article, words
from llmviz.corpus.writer import Options

_PARTNER = dict(PAIRS) | {woman: man for man, woman in PAIRS}
_MEN = frozenset(man for man, _ in PAIRS)


@cache
def _animals_of_either_number() -> Options[tuple[str, bool]]:
    singular, plural = words("animals"), words("animals_plural")
    values = [(word, False) for word in singular] + [(word, True) for word in plural]
    return Options(values, [f"{word} " for word, _ in values])


@cache
def _features_of_either_number() -> Options[str]:
    values = words("features") + words("features_plural")
    return Options(values, [f"{word} " for word in values])


def _speech(story: Story) -> None:
    w, comma = story.writer, (",",)
    lead = w.choose(
        phrases(
            "I would like some ",
            "We should all visit the ",
            "Never trust ",
            "There goes ",
            "Look at the ",
        )
    )
    if lead == "I would like some ":
        w.choose(slot("food", after=" with my "))
        w.choose(slot("food", after="", followed_by=comma))
    elif lead == "We should all visit the ":
        w.choose(slot("places", after="", followed_by=comma))
    elif lead == "There goes ":
        a_thing(w, "qualities", "animals", followed_by=comma)
    elif lead == "Never trust ":
        w.choose(slot("animals_plural", after="", followed_by=comma))
    else:
        w.choose(slot("skies", after=" over the "))
        w.choose(slot("features", after="", followed_by=comma))
    w.rule("quotes", '," said', (", said",), after=" ")
    speakers = [(person, formal) for person in story.people for formal in (False, True)]
    forms = [person.first + (" " if formal else ". ") for person, formal in speakers]
    speaker, formal = w.choose(Options(speakers, forms))
    story.subject = speaker
    if formal:
        full_name(story, speaker, after=". ")


def _next_day(story: Story) -> None:
    days = words("days")
    right = days[(days.index(story.day) + 1) % len(days)]
    story.writer.rule("days", right, others_of("days", right), after=". ")
    story.day = right


def _group(story: Story) -> None:
    w = story.writer
    _, many = w.choose(_animals_of_either_number())
    w.choose(phrases("near the ", "behind the ", "beside the ", "beyond the "))
    w.choose(_features_of_either_number())
    right, wrong = ("were", "was") if many else ("was", "were")
    w.rule("agreement", right, (wrong,), after=" ")
    w.choose(slot("states", after=". "))
    story.subject = None


def _couple(story: Story) -> None:
    w = story.writer
    first = w.choose(slot("roles", after=" and ", articled=True))
    partner = _PARTNER[first]
    others = others_of("roles", partner, articled=True)
    wrong = tuple(role for role in others if not role.endswith(f" {first}"))
    w.rule("pairs", f"{article(partner)} {partner}", wrong, after=". The ")
    who = w.choose(Options((first, partner), (f"{first} ", f"{partner} ")))
    w.say("was proud of ")
    female = who not in _MEN
    pronoun(w, "his/her", female=female)
    w.choose(_lore(who))
    pronoun(w, "he/she", female=female)
    w.choose(slot("acts"))
    w.choose(slot("adverbs", after=". "))
    story.subject = None


@cache
def _lore(role: str) -> Options:
    return Options(LORE[role], [f"{thing}, and " for thing in LORE[role]])


def _who(story: Story, thing: Thing) -> None:
    w = story.writer
    w.say("It was ")
    wrong = tuple(other.first for other in story.others(thing.holder))
    w.rule("possession", thing.holder.first, wrong, after=". ")


def _where(story: Story, person: Person) -> None:
    w = story.writer
    elsewhere = tuple({other.place: 0 for other in story.people if other.place != person.place})
    wrong = elsewhere or others_of("places", person.place)
    w.say("At the ")
    w.rule("places", person.place, wrong, after=". ")


def _what_colour(story: Story, thing: Thing) -> None:
    w = story.writer
    w.say("It was ")
    w.rule("attributes", thing.colour, others_of("colours", thing.colour), after=". ")


def _how_big(story: Story, thing: Thing) -> None:
    w = story.writer
    w.say("It was ")
    w.rule("attributes", thing.size, others_of("sizes", thing.size), after=". ")


QUESTIONS: dict[str, tuple[str, Callable[[Story, Any], None]]] = {
    "who": ("But who had the {} now? ", _who),
    "colour": ("What colour was the {}? ", _what_colour),
    "size": ("How big was the {}? ", _how_big),
    "where": ("And where was {}? ", _where),
}
"""How each question is asked, and what answers it."""

SCENES = {"speech": _speech, "next day": _next_day, "group": _group, "couple": _couple}
