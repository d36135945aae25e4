"""Texts of four villages: their probabilities and their entropy, against counting them all."""

from __future__ import annotations

import math
import random
from collections import Counter

import numpy as np
import pytest

from llmviz.corpus import villages
from llmviz.corpus.villages import CHANCES, SENTENCES, SLOTS, STOP, TOKENS, VILLAGES, followers


def sentences(village):
    """Every sentence of a village with its probability."""
    found = {(who,): 1 / len(SLOTS[0]) for who in SLOTS[0]}
    for _ in SLOTS[1:]:
        found = {
            (*begun, after): p * chance
            for begun, p in found.items()
            for after, chance in zip(followers(village)[begun[-1]], CHANCES, strict=True)
        }
    return {(*words, STOP): p for words, p in found.items()}


@pytest.mark.parametrize("village", VILLAGES)
def test_the_entropy_is_that_of_all_sentences(village):
    every = sentences(village)
    assert len(every) == len(SLOTS[0]) * len(CHANCES) ** (len(SLOTS) - 1)
    assert math.fsum(every.values()) == pytest.approx(1)
    counted = -math.fsum(p * math.log(p) for p in every.values())
    assert SENTENCES * counted == pytest.approx(villages.entropy())
    words = list(max(every, key=every.__getitem__))
    whole = [village, *(words * SENTENCES)]
    assert len(whole) == TOKENS
    assert villages.log_probability(whole) == pytest.approx(
        SENTENCES * math.log(max(every.values()))
    )


def test_drawn_texts_have_that_entropy_and_each_its_own_probability():
    written = villages.texts(4000, 5)
    nats = -np.array([villages.log_probability(words) for words in written])
    assert abs(nats.mean() - villages.entropy()) < 4 * nats.std() / math.sqrt(len(nats))
    counted = Counter(words[0] for words in written)
    assert {*counted} == {*VILLAGES} and min(counted.values()) > 850


@pytest.mark.parametrize("village", VILLAGES)
def test_no_word_tells_its_village(village):
    share = Counter()
    for words, p in sentences(village).items():
        for word in words[:-1]:
            share[word] += p
    assert share == pytest.approx({word: 1 / 8 for slot in SLOTS for word in slot})


def test_villages_put_different_words_behind_the_same_one():
    habits = [followers(village) for village in VILLAGES]
    for habit in habits:
        assert all(len({*after}) == len(CHANCES) for after in habit.values())
    first = [[habit[word][0] for word in habits[0]] for habit in habits]
    for one in range(len(first)):
        for other in range(one):
            same = sum(a == b for a, b in zip(first[one], first[other], strict=True))
            assert same < len(first[0]) / 2


def test_what_a_village_cannot_write_has_no_probability():
    (words,) = villages.texts(1, 0)
    assert villages.log_probability(words) > -math.inf
    assert villages.log_probability(words[:-1]) == -math.inf
    assert villages.log_probability(["Rome", *words[1:]]) == -math.inf
    for at in range(1, TOKENS):
        assert villages.log_probability([*words[:at], "Hill", *words[at + 1 :]]) == -math.inf
    other = villages.text("Lake", random.Random(0))
    assert villages.log_probability(["Hill", *other[1:]]) < villages.log_probability(other)
    with pytest.raises(ValueError, match="village must be one of Hill, Lake, Mill, Wood; got 'x'"):
        followers("x")
