"""Texts from four villages, which use the same words equally often but put them together otherwise.

A text is the name of a village, then SENTENCES short sentences: who, does, what, when, and a full
stop. Who it is about is drawn evenly. Each later word is one of three that the village puts behind
the word before. Each word follows exactly one word with each of the three chances, so in every
village each word of its kind is equally probable: no word tells a village, only its neighbours do.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from functools import cache
from itertools import pairwise

import numpy as np

VILLAGES = ("Hill", "Lake", "Mill", "Wood")
SLOTS = (
    ("Ada", "Ben", "Cleo", "Dan", "Eve", "Finn", "Gus", "Hana"),
    ("buys", "counts", "draws", "finds", "hides", "paints", "sells", "washes"),
    ("apples", "boats", "clocks", "drums", "eggs", "flags", "hats", "lamps"),
    ("alone", "daily", "early", "gladly", "inside", "later", "often", "slowly"),
)
"""Who, does, what and when: the words that a place of a sentence chooses from."""
STOP = "."
WORDS = (*(word for slot in SLOTS for word in slot), STOP, *VILLAGES)
CHANCES = (0.6, 0.3, 0.1)  # of the three words that may follow
SENTENCES = 3
TOKENS = 1 + SENTENCES * (len(SLOTS) + 1)  # words and stops of a text


@cache
def followers(village: str) -> dict[str, tuple[str, ...]]:
    """Return for each word the three that a village may put behind it, the likeliest first.

    Raises ValueError for a village that there is not.
    """
    if village not in VILLAGES:
        raise ValueError(f"village must be one of {', '.join(VILLAGES)}; got {village!r}")
    chance, found = random.Random(f"habits of {village}"), {}
    for slot, following in pairwise(SLOTS):
        order = chance.sample(following, len(following))
        for at, word in enumerate(slot):
            found[word] = tuple(order[(at + n) % len(order)] for n in range(len(CHANCES)))
    return found


def text(village: str, chance: random.Random) -> list[str]:
    """Return the words of a text of a village (TOKENS,), its name first."""
    habits, words = followers(village), [village]
    for _ in range(SENTENCES):
        words.append(chance.choice(SLOTS[0]))
        for _ in SLOTS[1:]:
            words += chance.choices(habits[words[-1]], CHANCES)
        words.append(STOP)
    return words


def texts(count: int, seed: int) -> list[list[str]]:
    """Return texts, each of a village drawn evenly."""
    chance = random.Random(seed)
    return [text(chance.choice(VILLAGES), chance) for _ in range(count)]


def log_probability(words: Sequence[str]) -> float:
    """Return ln p of the words of a text, given the village that it names first; −∞ for no text."""
    if len(words) != TOKENS or words[0] not in VILLAGES:
        return -math.inf
    habits, nats, size = followers(words[0]), 0.0, len(SLOTS) + 1
    for at, (before, word) in enumerate(pairwise(words)):
        place = at % size
        if place == 0:
            chances = dict.fromkeys(SLOTS[0], 1 / len(SLOTS[0]))
        elif place == len(SLOTS):
            chances = {STOP: 1.0}
        else:
            chances = dict(zip(habits[before], CHANCES, strict=True))
        if word not in chances:
            return -math.inf
        nats += math.log(chances[word])
    return nats


def entropy() -> float:
    """Return the entropy of a text behind the name of its village, in nats; equal in all villages.

    Nobody can have a lower loss in expectation. Divided by TOKENS − 1 it is nats per token.
    """
    choice = -math.fsum(p * math.log(p) for p in CHANCES)
    return SENTENCES * (math.log(len(SLOTS[0])) + (len(SLOTS) - 1) * choice)


def nats_without_village() -> float:
    """Return what somebody loses above the grammar who never looks which village it is, per token.

    Each later word is one of those that any village may put behind the word before; the chances
    are the means over the villages.
    """
    habits, choices = [followers(village) for village in VILLAGES], []
    for slot in SLOTS[:-1]:
        for word in slot:
            mean: dict[str, float] = {}
            for habit in habits:
                for after, p in zip(habit[word], CHANCES, strict=True):
                    mean[after] = mean.get(after, 0.0) + p / len(habits)
            choices.append(-math.fsum(p * math.log(p) for p in mean.values()))
    known = -math.fsum(p * math.log(p) for p in CHANCES)
    return (len(SLOTS) - 1) * (float(np.mean(choices)) - known) / (len(SLOTS) + 1)


def ids_of(written: Sequence[Sequence[str]]) -> np.ndarray:
    """Return texts of W words as ids (N, W), their places in WORDS."""
    places = {word: place for place, word in enumerate(WORDS)}
    return np.array([[places[word] for word in words] for words in written], np.int64)
