"""A text of plain sentences with sentences of random words planted in it, some of them often.

A sentence of random words can be told from nothing else: who goes on with it has it by heart.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from functools import cache

from llmviz.corpus.tiny_world import generate

TIMES = (1, 2, 5, 10, 30, 100, 300, 1000)
"""How often a planted sentence stands in the text; EACH of them for each."""
EACH = 3
PLAIN = 2_000  # sentences of stories in the text, each once
FRESH = 400  # such sentences, and as many of random words, that are not in the text
LENGTH = 12  # words of a planted sentence
LONGEST = 14  # words of a sentence of a story
MOST_TIMES = 1_000  # that a learner's sentence may stand in the text
MOST_WORDS = 40  # of a learner's sentence
_STORIES, _SEED = 800, 11  # what the plain sentences are taken from
_SENTENCE = re.compile(r"[^.?!]+[.?!]")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Planted:
    """A sentence, and how often it stands in the text; 0 is never."""

    text: str
    times: int


@dataclass(frozen=True)
class Field:
    """A text: plain sentences, each once, and the planted ones.

    fresh: plain sentences that are not in the text. unread: sentences of random words that are not.
    """

    plain: tuple[str, ...]
    planted: tuple[Planted, ...]
    fresh: tuple[str, ...]
    unread: tuple[str, ...]

    def documents(self, *, repeats: bool = True, own: Planted | None = None) -> list[str]:
        """Return all sentences of the text; repeats: False writes each sentence once.

        own: a sentence of the learner's, as often as it says.
        """
        planted = (*self.planted, own) if own else self.planted
        return [
            *self.plain,
            *(
                sentence.text
                for sentence in planted
                for _ in range(sentence.times if repeats else min(1, sentence.times))
            ),
        ]


@cache
def plain_sentences() -> tuple[str, ...]:
    """Return different sentences of tiny-world, short and without quotes or brackets."""
    found: dict[str, None] = {}
    for story in generate(count=_STORIES, seed=_SEED):
        for sentence in _SENTENCE.findall(story.text.replace("\n", " ")):
            plain = sentence.strip()
            if 5 <= len(plain.split()) <= LONGEST and not re.search(r'["()“”]', plain):
                found[plain] = None
    return tuple(found)


def field(seed: int = 0) -> Field:
    """Return a text; another seed takes other sentences and plants others.

    >>> text = field(seed=0)
    >>> len(text.documents()) == PLAIN + EACH * sum(TIMES)
    True
    """
    chance = random.Random(seed)
    sentences = list(plain_sentences())
    chance.shuffle(sentences)
    plain, fresh = sentences[:PLAIN], sentences[PLAIN : PLAIN + FRESH]
    words = sorted({word for sentence in plain for word in _WORD.findall(sentence)})

    def drawn() -> str:
        return " ".join(chance.choice(words) for _ in range(LENGTH)) + "."

    planted = tuple(Planted(drawn(), times) for times in TIMES for _ in range(EACH))
    return Field(tuple(plain), planted, tuple(fresh), tuple(drawn() for _ in range(FRESH)))


def own_sentence(text: str, times: int) -> Planted:
    """Return a learner's sentence to be planted; spaces of any kind become one space.

    Raises ValueError for no words, more than MOST_WORDS, or a count out of range.
    """
    plain = " ".join(text.split())
    words = len(plain.split())
    if not 1 <= words <= MOST_WORDS:
        raise ValueError(f"a sentence needs 1 to {MOST_WORDS} words; this one has {words}")
    if not 0 <= times <= MOST_TIMES:
        raise ValueError(f"a sentence may stand 0 to {MOST_TIMES} times; got {times}")
    return Planted(plain, times)
