"""What somebody in a tiny-world story does: finds a thing, gives it away, goes somewhere, eats …"""

from functools import cache

from llmviz.corpus.story import (
    Person,
    Story,
    Thing,
    a_thing,
    one_of,
    others_of,
    phrases,
    pronoun,
    slot,
)
from llmviz.corpus.words import CAPITALS, OPPOSITES, SOUNDS, words
from llmviz.corpus.writer import Options

_OPPOSITE = dict(OPPOSITES) | {right: left for left, right in OPPOSITES}
_ACTIONS = {  # relative frequency, how it begins; motion and acts have many verbs
    "eat": (3, "ate "),
    "feel": (2, "felt "),
    "play": (3, "played the "),
    "wear": (4, "put on "),
    "pick": (4, "picked "),
    "animal": (4, "saw "),
    "opposite": (4, "thought the "),
    "build": (2, "built "),
    "country": (4, "dreamed of "),
    "study": (2.5, "studied "),
    "plant": (2.5, "planted "),
    "ride": (3, "rode "),
    "tale": (4, "told "),
    "mend": (3, "mended the "),
}
FOUND = ("under", "behind", "beside", "inside")  # a piece of furniture
GIFTS = ("gave the ", "handed the ", "lent the ", "passed the ", "brought the ", "threw the ")


@cache
def _actions(named: bool, can_find: bool, can_give: bool) -> Options[str]:
    """Return what can be done. What changes who has what, and where, is told with a name."""
    actions = [(kind, begins, weight) for kind, (weight, begins) in _ACTIONS.items()]
    acts = words("acts")
    actions += [("act", f"{verb} ", 5 / len(acts)) for verb in acts]
    if named:
        motion = words("motion")
        actions += [("go", f"{verb} to the ", 7 / len(motion)) for verb in motion]
    if named and can_find:
        actions.append(("find", "found ", 24))
    if named and can_give:
        actions += [("give", begins, 40 / len(GIFTS)) for begins in GIFTS]
    kinds, surfaces, weights = zip(*actions, strict=True)
    return Options(kinds, surfaces, weights)


def action(story: Story, person: Person, *, named: bool) -> None:
    """Write what the person does; the name or pronoun is already written."""
    w = story.writer
    free_hands = any(other.thing is None for other in story.others(person))
    can_find = person.thing is None and len(story.things) < 2
    can_give = person.thing is not None and free_hands
    kind = w.choose(_actions(named, can_find, can_give))
    story.subject = person
    _DEED_WRITERS[kind](story, person)


def _go(story: Story, person: Person) -> None:
    person.place = story.writer.choose(slot("places", after=". "), without=[person.place])
    person.event = story.event


def _find(story: Story, person: Person) -> None:
    w = story.writer
    size = w.choose(slot("sizes", articled=True))
    colour = w.choose(slot("colours"))
    noun = w.choose(slot("things"), without=[thing.noun for thing in story.things])
    w.choose(phrases(*(f"{where} the " for where in FOUND)))
    w.choose(slot("furniture", after=". "))
    person.thing = Thing(noun, colour, size, person, story.event)
    story.things.append(person.thing)


def _give(story: Story, person: Person) -> None:
    w, thing = story.writer, person.thing
    assert thing is not None  # a action of those who have something
    w.rule("attributes", thing.colour, others_of("colours", thing.colour), after=" ")
    w.say(f"{thing.noun} to ")
    receiver = one_of(story, [other for other in story.others(person) if other.thing is None], ". ")
    receiver.thing, person.thing, thing.holder = thing, None, receiver
    thing.event, thing.given = story.event, True


def _act(story: Story, person: Person) -> None:
    story.writer.choose(slot("adverbs", after=". "))


def _eat(story: Story, person: Person) -> None:
    first = story.writer.choose(slot("food", after=" with "))
    story.writer.choose(slot("food", after=". "), without=[first])


def _feel(story: Story, person: Person) -> None:
    story.writer.choose(slot("feelings", after=" at the sight of the "))
    story.writer.choose(slot("skies", after=". "))


def _play(story: Story, person: Person) -> None:
    story.writer.choose(slot("instruments"))
    story.writer.choose(slot("adverbs", after=". "))


def _wear(story: Story, person: Person) -> None:
    w = story.writer
    pronoun(w, "his/her", female=person.female)
    w.choose(slot("materials"))
    w.choose(slot("clothes", after=". "))


def _pick(story: Story, person: Person) -> None:
    w = story.writer
    first = w.choose(_addends(" "))
    fruits = w.choose(slot("fruits", after=" and then "))
    second = w.choose(_addends(" more, so "))
    pronoun(w, "he/she", female=person.female, after=" had ")
    right = words("numbers")[first + second - 2]
    w.rule("sums", right, others_of("numbers", right), after=f" {fruits}. ")


@cache
def _addends(after: str) -> Options[int]:
    numbers = range(2, 10)
    return Options(numbers, [words("numbers")[number - 2] + after for number in numbers])


def _animal(story: Story, person: Person) -> None:
    w = story.writer
    animal = a_thing(w, "qualities", "voiced", after=". The ")
    w.say(f"{animal} ")
    sound = SOUNDS[animal]
    w.rule("sounds", sound, others_of("sounds", sound), after=" ")
    w.choose(slot("adverbs", after=". "))
    story.subject = None


def _opposite(story: Story, person: Person) -> None:
    w = story.writer
    w.choose(slot("household", after=" was "))
    word = w.choose(slot("contraries", after=", but it was "))
    right = _OPPOSITE[word]
    wrong = tuple(other for other in others_of("contraries", right) if other != word)
    w.rule("opposites", right, wrong, after=". ")


def _build(story: Story, person: Person) -> None:
    w = story.writer
    a_thing(w, "materials", "toys", after=" for ")
    one_of(story, story.others(person), ". ")


def _country(story: Story, person: Person) -> None:
    w = story.writer
    country = w.choose(slot("countries", after=". The capital of "))
    capital = CAPITALS[country]
    w.say(f"{country} is ")
    w.rule("capitals", capital, others_of("capitals", capital), after=", and ")
    pronoun(w, "he/she", female=person.female, after=" knew a song about ")
    w.say(f"{capital}. ")


def _study(story: Story, person: Person) -> None:
    w = story.writer
    w.choose(slot("subjects", after=" with "))
    one_of(story, story.others(person), ". ")


def _plant(story: Story, person: Person) -> None:
    w = story.writer
    w.choose(slot("flowers", after=" under the "))
    w.choose(slot("trees", after=" in "))
    w.choose(slot("months", after=". "))


def _ride(story: Story, person: Person) -> None:
    w = story.writer
    a_thing(w, "qualities", "vehicles", after=" past the ")
    w.choose(slot("features", after=". "))


def _tale(story: Story, person: Person) -> None:
    w = story.writer
    one_of(story, story.others(person), " a story (")
    end, no_end = ") at bedtime.", " at bedtime."
    begins = w.choose(phrases("all about ", "the one with ", "not for the "))
    if begins == "not for the ":
        w.choose(slot("feelings", after="", followed_by=(end, no_end)))
    elif begins == "all about ":
        w.choose(slot("animals_plural", after="", followed_by=(end, no_end)))
    else:
        a_thing(w, "qualities", "animals", after=" in ")
        a_thing(w, "materials", "toys", followed_by=(end, no_end))
    w.rule("brackets", end, (no_end,), after=" ")


def _mend(story: Story, person: Person) -> None:
    w = story.writer
    w.choose(slot("household", after=" with "))
    a_thing(w, "qualities", "tools", after=". ")


_DEED_WRITERS = {
    "go": _go,
    "find": _find,
    "give": _give,
    "act": _act,
    "eat": _eat,
    "feel": _feel,
    "play": _play,
    "wear": _wear,
    "pick": _pick,
    "animal": _animal,
    "opposite": _opposite,
    "build": _build,
    "country": _country,
    "study": _study,
    "plant": _plant,
    "ride": _ride,
    "tale": _tale,
    "mend": _mend,
}
