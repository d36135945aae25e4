"""Short texts in which each person has facts of their own, questions about them, and the answers.

Passages stand first, then questions. Each sentence begins with the number of its passage. What a
passage says is drawn anew for each text, so an answer can come from nothing but the passages:

    [1] Ada lives in Lorn. [1] She is a baker. [2] Abel likes bread. Question: Where does Ada live?
    Answer: Ada Lorn [1]
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import regex

from llmviz.corpus.invented import TOWNS
from llmviz.corpus.words import article, words

MOST_PASSAGES = 3
ENDS = (".", "!", "?", "…", "。", "！", "？", "।", "؟")
STAND_INS = tuple(f"<{number}>" for number in range(1, 21))
"""Tokens for words that are in no list: each stands for one word of a text."""
_PLAIN = r"[\w\p{M}]+|[^\s\w]"
DECLINES = "No passage says it"
_PEOPLE, _VALUES = 12, 12  # names of girls, and of boys; values of a kind

KINDS: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    "home": ("Where does {who} live?", ("lives in {it}.", "has a house in {it}."), TOWNS),
    "job": ("What is the work of {who}?", ("is {an} {it}.", "works as {an} {it}."), ()),
    "pet": ("Which animal does {who} keep?", ("keeps {an} {it}.", "owns {an} {it}."), ()),
    "food": ("What does {who} like?", ("likes {it}.", "is fond of {it}."), ()),
}
"""By kind of fact: its question, how a passage says it behind the person, and its values."""
_ASIDES = {
    "home": ("It often rains in {it}.", "The market in {it} is old."),
    "job": ("Every {it} wakes up early.",),
    "pet": ("The {it} sleeps all day.",),
    "food": ("The {it} is fresh.",),
}
"""Sentences that are about nobody, by what they name."""


@cache
def names() -> dict[str, str]:
    """Return the names that the texts know, each with its pronoun."""
    girls, boys = words("girls")[:_PEOPLE], words("boys")[:_PEOPLE]
    return dict.fromkeys(girls, "She") | dict.fromkeys(boys, "He")


@cache
def values(kind: str) -> tuple[str, ...]:
    """Return what a fact of a kind can say: towns, jobs, animals, food."""
    lists = {"job": "jobs", "pet": "animals", "food": "food"}
    return (TOWNS if kind == "home" else words(lists[kind]))[:_VALUES]


@cache
def _places() -> dict[object, int]:
    listed = [((kind, value), at) for kind in KINDS for at, value in enumerate(values(kind))]
    return {name: at for at, name in enumerate(names())} | dict(listed)


def held_out(name: str, kind: str, value: str) -> bool:
    """Whether no text that is trained on says this of this person: one pair in five.

    Of what is in no list this says nothing.
    """
    places = _places()
    return (places.get(name, 0) + places.get((kind, value), 0)) % 5 == 0


def all_words() -> list[str]:
    """Return every word and sign of these texts but stand-ins, in a fixed order."""
    fixed = [DECLINES, "Question: Answer:", "She He a an"]
    for kind, (question, said, _) in KINDS.items():
        fixed += [question, *said, *_ASIDES[kind]]
    plain = [text.replace("{who}", "").replace("{it}", "").replace("{an}", "") for text in fixed]
    found = [word for text in plain for word in split(text)]
    found += [*names(), *(value for kind in KINDS for value in values(kind))]
    return list(dict.fromkeys(found))


def split(text: str) -> list[str]:
    """Cut a text into words, signs, numbers of passages and stand-ins.

    >>> split("[1] Ada's home: <3>.")
    ['[1]', 'Ada', "'", 's', 'home', ':', '<3>', '.']
    """
    return regex.findall(rf"\[\d\]|<\d+>|{_PLAIN}", text)


def split_plain(text: str) -> list[str]:
    """Cut a text into words and signs: no number of a passage and no stand-in is made of it.

    >>> split_plain("[1] <3>")
    ['[', '1', ']', '<', '3', '>']
    """
    return regex.findall(_PLAIN, text)


@dataclass(frozen=True)
class Fact:
    """What a passage says of a person; passage: its number, from 1."""

    who: str
    kind: str
    value: str
    passage: int


@dataclass(frozen=True)
class PassageQuestion:
    """A question about a person, and the fact that answers it, if a passage says it."""

    who: str
    kind: str
    fact: Fact | None

    @property
    def question(self) -> str:
        """The question as it is written."""
        return question(self.who, self.kind)

    @property
    def answer(self) -> str:
        """The person, then what a passage says with its number, or that none says it."""
        said = f"{self.fact.value} [{self.fact.passage}]" if self.fact else DECLINES
        return f"{self.who} {said}"


def question(who: str, kind: str) -> str:
    """Return the question for a fact of a kind about somebody."""
    return KINDS[kind][0].format(who=who)


def sentence(subject: str, kind: str, value: str, way: int = 0) -> str:
    """Return a sentence that says a fact, in one of two ways."""
    an = "a" if value.startswith("<") else article(value)
    return f"{subject} {KINDS[kind][1][way].format(it=value, an=an)}"


@dataclass(frozen=True)
class Example:
    """Passages, and questions about them."""

    passages: tuple[str, ...]
    questions: tuple[PassageQuestion, ...]


NAMES, NAMED, ALL = ("names", "named", "all")
"""How hard a text is: six people and one kind of fact; or three people, and each sentence names its
person; or all that a text can be. In the first two there are three passages, and in the first an
answer to each question."""


def example(chance: random.Random, questions: int = 4, level: str = ALL) -> Example:
    """Return a new text of up to three passages, and up to so many questions, none of them twice.

    Often several people have a fact of one kind, so that neither the person nor the kind alone
    gives the answer. In half of the texts some names and values are stand-ins. No pair that is
    held out comes.
    """
    free = chance.sample(STAND_INS, len(STAND_INS)) if chance.random() < 0.5 else []

    def drawn(word: str) -> str:
        return free.pop() if free and chance.random() < 0.5 else word

    hard, few = level == ALL, level == NAMES
    people = [(drawn(who), names()[who]) for who in chance.sample(list(names()), 6 if few else 4)]
    around = people[: chance.randint(1, 3)]
    told_of = chance.sample(list(KINDS), 1 if few else chance.randint(1, len(KINDS)))
    facts: dict[tuple[str, str], Fact] = {}
    passages = []
    count = chance.choices((0, 1, 2, 3), (1, 3, 6, 10))[0] if hard else MOST_PASSAGES
    for number in range(1, 1 + count):
        orphan = hard and chance.random() < 0.1  # the passage begins behind the name
        sentences: list[str] = []
        for who, pronoun in (
            [chance.choice(around)] if hard else people[number - 1 :: MOST_PASSAGES]
        ):
            left = [kind for kind in told_of if (who, kind) not in facts]
            for kind in chance.sample(left, min(chance.choice((1, 1, 2, 2, 3)), len(left))):
                while held_out(who, kind, value := chance.choice(values(kind))):
                    pass
                value = drawn(value)
                named = not orphan and (not hard or not sentences or chance.random() < 0.3)
                subject = who if named else pronoun
                sentences.append(sentence(subject, kind, value, chance.randrange(2)))
                if not orphan:
                    facts[who, kind] = Fact(who, kind, value, number)
        if (hard and chance.random() < 0.25) or not sentences:
            kind = chance.choice(list(KINDS))
            aside = chance.choice(_ASIDES[kind]).format(it=chance.choice(values(kind)))
            sentences.insert(chance.randint(0, len(sentences)), aside)
        passages.append(" ".join(sentences))
    said = chance.sample([*facts], len(facts))
    unsaid = [(who, kind) for who, _ in people for kind in KINDS if (who, kind) not in facts]
    chance.shuffle(unsaid)
    # Most of what no passage says is of a kind that the text tells of somebody else.
    kinds = {kind for _, kind in facts}
    unsaid.sort(key=lambda pair: pair[1] in kinds and chance.random() < 0.8)
    share = {NAMES: 1, NAMED: 0.9, ALL: 0.65}[level]
    most = len(said) if few else 1 + len(said) * 3 // 2
    asked = []
    for _ in range(min(questions, most)):
        who, kind = said.pop() if said and chance.random() < share else unsaid.pop()
        asked.append(PassageQuestion(who, kind, facts.get((who, kind))))
    return Example(tuple(passages), tuple(asked))


def numbered(words: Sequence[str], number: int) -> list[str]:
    """Return a passage's words and signs with its number at the beginning of each sentence.

    >>> numbered(["Go", ".", "Now", "?", "!"], 2)
    ['[2]', 'Go', '.', '[2]', 'Now', '?', '!']
    """
    found: list[str] = []
    for word in words:
        if not found or (found[-1] in ENDS and word not in ENDS):
            found.append(f"[{number}]")
        found.append(word)
    return found
