"""Conversations about stories of tiny-world, made by a rule that knows every right reply.

The user's first turn holds a story and a question. A system line says how to answer; it may come
again later and then counts from there. A question is answered, or, by the rule:

- "it" is the thing that the conversation named last. Where it named none, it is the one thing of
  the story; where the story has two, the assistant asks which one.
- What the story does not hold is declined.

Reference: Ouyang et al. 2022, section 3 (demonstrated replies).
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

from llmviz.corpus import generate
from llmviz.corpus.exercises import follow_owner, sentences
from llmviz.corpus.words import words
from llmviz.finetuning.instructions import Instruction, ask

Role = Literal["system", "user", "assistant"]
SYSTEM: Role = "system"
USER: Role = "user"
ASSISTANT: Role = "assistant"
ANSWERS, ASKS, DECLINES = "answers", "asks", "declines"
ACTS = (ANSWERS, ASKS, DECLINES)
SHORT, LONG = "short", "long"
LINES = {SHORT: "Answer in a few words.", LONG: "Answer in a whole sentence."}
"""The system lines. Without one, a reply is a whole sentence."""
ABOUT_THINGS = {"who": "Who has {}?", "colour": "What colour is {}?", "size": "How big is {}?"}
NEVER_ASKED = (
    "How old is {name}?",
    "Where does {name} live?",
    "When did {name} wake up?",
    "What is the name of the dog?",
)
"""Questions that no story answers, of kinds that no training conversation has."""

_SEED_OFFSET = 9_000_011  # so that the stories are not those that anything else has read
_MEETING = re.compile(r"They (?:met at|both went to|all went to|were at) the \w+\.")
_LONG = {
    "who": "{answer} has the {thing}",
    "colour": "The {thing} is {answer}",
    "size": "The {thing} is {answer}",
    "place": "They met {at}",
    "hero": "The story is about {answer}",
    "people": "There are {answer} people",
}
_DECLINED = {SHORT: "not told.", LONG: "The story does not say."}
_ASKED = {SHORT: "Which one, the {} or the {}?", LONG: "Do you mean the {} or the {}?"}
BEGINNINGS = {
    ASKS: ("Which one", "Do you mean"),
    DECLINES: ("not told", "The story does not say"),
}
"""How a reply of each form begins that asks back or declines, and no other reply does."""


@dataclass(frozen=True)
class Message:
    """A turn. Of a reply that the rule made: what it does, and the same reply in the other form."""

    role: Role
    content: str
    act: str = ""
    other: str = ""

    @property
    def plain(self) -> dict[str, str]:
        """The turn as a chat template takes it."""
        return {"role": self.role, "content": self.content}


Talk = tuple[Message, ...]


def act_of(reply: str) -> str:
    """Return what a reply does, by how it begins.

    >>> act_of("Do you mean the mat or the oar?"), act_of("red.")
    ('asks', 'answers')
    """
    begun = reply.strip()
    return next((act for act, ways in BEGINNINGS.items() if begun.startswith(ways)), ANSWERS)


def told_short(story: str, chance: random.Random) -> str:
    """Return a story's sentences that questions are about, and in half of all stories one other.

    Those are: who is introduced, where they meet, what is found, and what is given to whom.
    """
    first, last = set(words("names")), set(words("surnames"))
    kept, spare, known = [], [], set[str]()
    for number, sentence in enumerate(sentences(story)):
        plain = re.findall(r"\w+", sentence)
        people = {f"{a} {b}" for a, b in pairwise(plain) if a in first and b in last}
        holder: dict[str, str] = {}
        follow_owner(sentence, holder)
        if people - known or holder or _MEETING.search(sentence):
            kept.append((number, sentence))
        elif "?" not in sentence:
            spare.append((number, sentence))
        known |= people
    kept += chance.sample(spare, min(chance.randrange(2), len(spare)))
    return " ".join(sentence for _, sentence in sorted(kept))


def _reply(form: str, act: str, both: dict[str, str]) -> Message:
    return Message(ASSISTANT, both[form], act, both[SHORT if form == LONG else LONG])


def reply_to(example: Instruction, form: str, thing: str = "") -> Message:
    """Return the right reply to a question that the story answers."""
    at = example.answer[:1].lower() + example.answer[1:]
    whole = _LONG[example.kind].format(answer=example.answer, thing=thing, at=at)
    return _reply(form, ANSWERS, {SHORT: f"{example.answer}.", LONG: f"{whole}."})


def declined(form: str) -> Message:
    """Return the reply to what the story does not hold."""
    return _reply(form, DECLINES, _DECLINED)


def asked_back(form: str, things: Sequence[str]) -> Message:
    """Return the reply that asks which of two things is meant, in the story's order."""
    return _reply(form, ASKS, {which: text.format(*things) for which, text in _ASKED.items()})


@dataclass
class _Maker:
    """What a conversation has settled so far."""

    story: str
    chance: random.Random
    form: str = LONG
    talk: list[Message] = field(default_factory=list)
    named: str = ""  # the thing that the conversation named last
    refused: bool = False  # the last question was about a thing that is not in the story

    def __post_init__(self) -> None:
        self.known = ask(self.story)
        self.things = [fact.question.split()[-1][:-1] for fact in self.known if fact.kind == "who"]

    def user(self, question: str) -> None:
        first = not any(message.role == USER for message in self.talk)
        self.talk.append(Message(USER, f"{self.story}\n{question}" if first else question))

    def answer(self, kind: str, thing: str) -> Message:
        self.named, ending = thing, f" the {thing}?"
        fits = [fact for fact in self.known if fact.kind == kind and fact.question.endswith(ending)]
        return reply_to(fits[0], self.form, thing)

    def turn(self) -> None:
        """Add a question with its reply; where the reply asks back, what the user says to it."""
        chance, kind = self.chance, self.chance.choice(list(ABOUT_THINGS))
        ways, weights = ("thing", "story", "it", "other"), (3, 2, 4, 2.5)
        what = chance.choices(ways, weights)[0]
        if (what == "thing" and not self.things) or (what == "it" and self.refused):
            what = "story"  # after a thing that is not there, "it" would be that
        self.refused = what == "other"
        if what == "thing":
            thing = chance.choice(self.things)
            self.user(ABOUT_THINGS[kind].format(f"the {thing}"))
            self.talk.append(self.answer(kind, thing))
        elif what == "story":
            fact = chance.choice([fact for fact in self.known if fact.kind not in ABOUT_THINGS])
            self.user(fact.question)
            self.talk.append(reply_to(fact, self.form))
        elif what == "other":
            other = chance.choice([word for word in words("things") if word not in self.things])
            self.user(ABOUT_THINGS[kind].format(f"the {other}"))
            self.talk.append(declined(self.form))
        else:
            self._it(kind)

    def _it(self, kind: str) -> None:
        self.user(ABOUT_THINGS[kind].format("it"))
        if not self.things:
            self.talk.append(declined(self.form))
        elif self.named or len(self.things) == 1:
            self.talk.append(self.answer(kind, self.named or self.things[0]))
        else:
            self.talk.append(asked_back(self.form, self.things))
            thing = self.chance.choice(self.things)
            self.user(f"The {thing}.")
            self.talk.append(self.answer(kind, thing))

    def line(self, form: str) -> None:
        self.form = form
        self.talk.append(Message(SYSTEM, LINES[form]))


def conversations(count: int, seed: int = 0, turns: int = 3, longest: int = 340) -> list[Talk]:
    """Return `count` conversations about as many stories; the same for the same arguments.

    turns: questions of a conversation at most, without those that answer what is asked back.
    longest: characters of a story. Two stories in three that are taken have two things.
    Raises ValueError for a negative count, or no turn.
    """
    if count < 0 or turns < 1:
        raise ValueError(f"a count of at least 0 and a turn are needed; got {count} and {turns}")
    chance, talks = random.Random(seed), list[Talk]()
    stories = generate(count=40 * count + 100, seed=seed + _SEED_OFFSET)
    while len(talks) < count:
        pair, text = len(talks) % 3 > 0, next(stories).text
        if (text.count(" found a") == 2) != pair or len(
            story := told_short(text, chance)
        ) > longest:
            continue
        maker = _Maker(story, chance)
        if chance.random() < 0.85:
            maker.line(chance.choice((SHORT, LONG)))
        for number in range(chance.randint(1, turns)):
            if number and chance.random() < 0.12:
                maker.line(SHORT if maker.form == LONG else LONG)
            maker.turn()
        talks.append(tuple(maker.talk))
    return talks
