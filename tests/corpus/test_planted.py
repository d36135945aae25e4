"""The text with planted sentences: each stands as often as it says, the others once or never."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from llmviz.corpus import planted


@pytest.mark.parametrize("seed", [0, 7])
def test_each_sentence_stands_as_often_as_it_says(seed):
    text = planted.field(seed)
    own = planted.Planted("My own words.", 4)
    told = Counter(text.documents(own=own))
    assert all(told[one.text] == one.times for one in (*text.planted, own))
    assert [one.times for one in text.planted] == [
        times for times in planted.TIMES for _ in range(planted.EACH)
    ]
    assert all(told[one] == 1 for one in text.plain)
    assert not any(told[one] for one in (*text.fresh, *text.unread))
    assert len(text.plain) == planted.PLAIN
    assert len(text.fresh) == len(text.unread) == planted.FRESH
    assert {len(one.text.split()) for one in text.planted} == {planted.LENGTH}


def test_without_repeats_each_sentence_stands_once():
    text = planted.field(0)
    never, often = planted.Planted("Never.", 0), planted.Planted("Often.", 9)
    for own, expected in ((never, 0), (often, 1)):
        told = Counter(text.documents(repeats=False, own=own))
        assert told[own.text] == expected
        assert max(told.values()) == 1


def test_words_of_planted_sentences_stand_in_the_plain_ones():
    """So that each of their tokens is read elsewhere, too."""
    text = planted.field(0)
    known = set(re.findall(r"\w+", " ".join(text.plain)))
    used = set(re.findall(r"\w+", " ".join(one.text for one in text.planted)))
    assert used <= known


@pytest.mark.parametrize(
    ("text", "times", "told"),
    [
        ("", 1, "needs 1 to 40 words; this one has 0"),
        ("  \n ", 1, "this one has 0"),
        ("word " * (planted.MOST_WORDS + 1), 1, "this one has 41"),
        ("word " * 500, 1, "this one has 500"),
        ("a", -1, "0 to 1000 times; got -1"),
        ("a", 1001, "got 1001"),
    ],
)
def test_what_cannot_be_planted_is_refused(text, times, told):
    with pytest.raises(ValueError, match=told):
        planted.own_sentence(text, times)


def test_spaces_of_any_kind_become_one():
    assert planted.own_sentence(" a\tb\n c ", 0) == planted.Planted("a b c", 0)
