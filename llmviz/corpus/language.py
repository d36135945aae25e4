"""Tavin, an invented language made by rule, and the translation of simple English into it.

How Tavin differs from English:
- order: adverb, subject, place, object, verb ("quietly the old fox in the barn the hens counts");
- adjectives follow their noun and agree with its class: -i with nouns in -a, -u with nouns in -o;
- the article agrees in class and number (ta, to, tan, ton); there is no word for "a";
- nouns take -n in the plural; verbs agree in number in both tenses, also where English does not
  ("saw" is one word, Tavin has one for one and one for many);
- what English puts before the place ("in the barn") Tavin puts after it.
"""

import random
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from llmviz.corpus.words import article, plural

_NAMES = "Ada Bruno Clara Emil Freya Hugo Ida Jonas Lena Milo Nora Otto Petra Runa Sven Tessa"
_CREATURES = """actor baker bear bee cat child cook cow crow doctor dog donkey dragon farmer fisher
    fox frog goat hen horse judge king lion miner monkey mouse nurse owl painter parrot pig pilot
    poet queen robot sailor singer snake teacher tiger turtle wizard wolf writer zebra"""
_OBJECTS = "book cake chair door drum flute hat kite lamp letter map piano ring sword tree"
_PLACES = """boat bridge bus forest garden house market mill orchard river school ship tower train
    village"""
_ADJECTIVES = """angry black blue brave clever cold famous friendly funny gentle green happy hungry
    kind lazy little lucky old proud quick quiet red sad silly small strange strong tall tired white
    wise young"""
_TRANSITIVE = """buys:buy:bought calls:call:called carries:carry:carried catches:catch:caught
    chases:chase:chased counts:count:counted draws:draw:drew finds:find:found
    follows:follow:followed forgets:forget:forgot greets:greet:greeted hears:hear:heard
    helps:help:helped hides:hide:hid knows:know:knew likes:like:liked loses:lose:lost
    loves:love:loved meets:meet:met paints:paint:painted praises:praise:praised
    remembers:remember:remembered sees:see:saw sells:sell:sold thanks:thank:thanked
    watches:watch:watched"""
_INTRANSITIVE = """arrives:arrive:arrived cries:cry:cried dances:dance:danced dreams:dream:dreamt
    falls:fall:fell jumps:jump:jumped laughs:laugh:laughed rests:rest:rested runs:run:ran
    sings:sing:sang sits:sit:sat sleeps:sleep:slept smiles:smile:smiled swims:swim:swam
    waits:wait:waited walks:walk:walked"""
_ADVERBS = "again often quickly quietly rarely slowly sometimes today tonight yesterday"

NAMES, ADJECTIVES, ADVERBS = _NAMES.split(), _ADJECTIVES.split(), _ADVERBS.split()
CREATURES, OBJECTS, PLACES = _CREATURES.split(), _OBJECTS.split(), _PLACES.split()
NOUNS = [*CREATURES, *OBJECTS, *PLACES]
TRANSITIVE, INTRANSITIVE = _TRANSITIVE.split(), _INTRANSITIVE.split()  # one, many, past
PREPOSITIONS = ("behind", "beside", "in", "near", "under")
NUMBERS = ("two", "three", "four")
DETERMINERS = ("the", "a", "an", *NUMBERS)


class Translation(NamedTuple):
    """A sentence, its translation, and which word became which.

    alignment: (index of a source word, index of a target word), sorted by target; every target
    word is in it once. The English "a" and "an" have no counterpart.
    """

    source: str
    target: str
    alignment: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class _Phrase:
    """A noun phrase in the target language: words with the index of their source word."""

    words: list[tuple[str, int]]
    many: bool


@cache
def _lexicon() -> dict[str, str]:
    """Return the stem of every English stem; nouns carry their class in the last letter."""
    chance = random.Random("Tavin")
    taken = {"ta", "to", "tan", "ton"}

    def stem(syllables: int) -> str:
        while True:
            parts = [
                chance.choice("bdfgklmnprstvz") + chance.choice("aeiou") for _ in range(syllables)
            ]
            new = "".join(parts) + chance.choice("klmnrst")
            if new not in taken and not any(new.startswith(old) for old in taken if len(old) > 3):
                taken.add(new)
                return new

    lexicon = {noun: stem(2) + chance.choice("ao") for noun in NOUNS}
    lexicon |= {word: stem(2) for word in ADJECTIVES}
    lexicon |= {forms: stem(1) + stem(1) for forms in (*TRANSITIVE, *INTRANSITIVE)}
    lexicon |= {word: stem(2) + "e" for word in (*ADVERBS, *PREPOSITIONS)}
    lexicon |= {word: stem(1) for word in NUMBERS}
    return lexicon


@cache
def _verb_forms() -> dict[str, tuple[str, str]]:
    """Return, for each English verb form, its dictionary entry and what it is: s, base or past."""
    kinds = ("s", "base", "past")
    return {
        form: (forms, kind)
        for forms in (*TRANSITIVE, *INTRANSITIVE)
        for form, kind in zip(forms.split(":"), kinds, strict=True)
    }


@cache
def _noun_forms() -> dict[str, tuple[str, bool]]:
    singular = {noun: (noun, False) for noun in NOUNS}
    return singular | {many_of(noun): (noun, True) for noun in NOUNS}


def many_of(noun: str) -> str:
    """Return the plural of an English noun."""
    return "children" if noun == "child" else plural(noun)


class _Parser:
    """Reads English words from the left; says which word it cannot place."""

    def __init__(self, source: str) -> None:
        self.words, self.at = source.split(), 0

    def peek(self) -> str:
        return self.words[self.at] if self.at < len(self.words) else ""

    def refuse(self, wanted: str) -> ValueError:
        word = repr(self.peek()) if self.peek() else "the end"
        return ValueError(f"word {self.at + 1}: expected {wanted}, found {word}")

    def noun_phrase(self) -> _Phrase:
        """Read "the old foxes" or a name, and return it in the target's order."""
        if self.peek() in NAMES:
            self.at += 1
            return _Phrase([(self.words[self.at - 1], self.at - 1)], many=False)
        if self.peek() not in DETERMINERS:
            raise self.refuse("a name or one of " + ", ".join(DETERMINERS))
        determiner, where = self.peek(), self.at
        self.at += 1
        adjective = self.at if self.peek() in ADJECTIVES else None
        if determiner in ("a", "an") and self.peek() and article(self.peek()) != determiner:
            raise self.refuse(f"a word that fits {determiner!r}")
        self.at += adjective is not None
        if self.peek() not in _noun_forms():
            raise self.refuse("a noun")
        noun, many = _noun_forms()[self.peek()]
        if (many and determiner in ("a", "an")) or (not many and determiner in NUMBERS):
            raise self.refuse(f"a noun that fits {determiner!r}")
        stem, ending = _lexicon()[noun], "n" if many else ""
        kind = stem[-1]
        words = [] if determiner in ("a", "an") else [(f"t{kind}{ending}", where)]
        if determiner in NUMBERS:
            words = [(_lexicon()[determiner], where)]
        words.append((stem + ending, self.at))
        if adjective is not None:
            agreeing = "i" if kind == "a" else "u"
            words.append((_lexicon()[self.words[adjective]] + agreeing, adjective))
        self.at += 1
        return _Phrase(words, many)

    def verb(self, many: bool) -> tuple[tuple[str, int], bool]:
        """Read the verb; return it agreeing with its subject, and whether it takes an object."""
        if self.peek() not in _verb_forms():
            raise self.refuse("a verb")
        forms, kind = _verb_forms()[self.peek()]
        if kind == ("s" if many else "base"):
            raise self.refuse(f"a verb for {'many' if many else 'one'}")
        stem = _lexicon()[forms] + ("ak" if kind == "past" else "es") + ("in" if many else "")
        self.at += 1
        return (stem, self.at - 1), forms in TRANSITIVE


def translate(source: str) -> Translation:
    """Translate an English sentence of the grammar: [adverb] who does [whom] [where].

    Raises ValueError naming the word that does not fit.
    """
    parser = _Parser(source)
    target: list[tuple[str, int]] = []
    if parser.peek() in ADVERBS:
        target.append((_lexicon()[parser.peek()], parser.at))
        parser.at += 1
    subject = parser.noun_phrase()
    verb, takes_object = parser.verb(subject.many)
    whom = parser.noun_phrase().words if takes_object else []
    place: list[tuple[str, int]] = []
    if parser.peek() in PREPOSITIONS:
        preposition = (_lexicon()[parser.peek()], parser.at)
        parser.at += 1
        place = [*parser.noun_phrase().words, preposition]
    if parser.peek():
        raise parser.refuse("the end")
    target += [*subject.words, *place, *whom, verb]
    alignment = tuple((index, position) for position, (_, index) in enumerate(target))
    return Translation(source, " ".join(word for word, _ in target), alignment)


@cache
def _meanings() -> dict[str, str]:
    lexicon = _lexicon()
    found = {f"t{kind}{ending}": "the" for kind in "ao" for ending in ("", "n")}
    found |= {lexicon[word]: word for word in (*NUMBERS, *ADVERBS, *PREPOSITIONS)}
    found |= {lexicon[word] + ending: word for word in ADJECTIVES for ending in "iu"}
    found |= {
        lexicon[noun] + ("n" if many else ""): form for form, (noun, many) in _noun_forms().items()
    }
    for form, (forms, kind) in _verb_forms().items():
        stem = lexicon[forms] + ("ak" if kind == "past" else "es")
        found |= {stem + many: form for many in {"s": ("",), "base": ("in",)}.get(kind, ("", "in"))}
    return found | {name: name for name in NAMES}


def meaning(word: str) -> str:
    """Return what a word of Tavin is in English; "" for what is no word.

    >>> meaning(translate("the fox counts two hens").target.split()[-1])
    'counts'
    """
    return _meanings().get(word, "")
