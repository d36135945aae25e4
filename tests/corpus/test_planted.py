"""Texts with something planted, sentences, a lean, persons: each stands as often as it says."""

import re
from collections import Counter, defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmviz.corpus import invented, planted
from llmviz.corpus.leaning import EACH, JOBS, MEN, WOMEN, leaning_text


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


def test_spaces_of_any_kind_become_one():
    assert planted.own_sentence(" a\tb\n c ", 0) == planted.Planted("a b c", 0)


@settings(max_examples=20)
@given(lean=st.floats(0, 1), seed=st.integers(0, 99))
def test_the_lean_is_in_the_text_as_it_was_planted(lean, seed):
    text = leaning_text(lean, seed)
    women, seen, pronouns = defaultdict(int), defaultdict(int), defaultdict(int)
    for line in text.documents:
        if found := re.fullmatch(r"(\w+) is an? (\w+)\.", line):
            seen[found[2]] += 1
            women[found[2]] += found[1] in WOMEN
        elif found := re.fullmatch(r"The (\w+) said that (s?he) was [\w-]+\.", line):
            pronouns[found[1]] += 1
            women[found[1]] += found[2] == "she"
        else:
            found = re.fullmatch(r"(\w+) said that (s?he) was [\w-]+\.", line)
            assert found, line
            assert (found[2] == "she") == (found[1] in WOMEN)
    assert len(text.jobs) == 2 * JOBS == len(seen)
    for at, job in enumerate(text.jobs):
        assert job.share == pytest.approx(lean if at < JOBS else 1 - lean)
        assert seen[job.name] == EACH
        assert pronouns[job.name] == (EACH if job.direct else 0)
        sentences = seen[job.name] + pronouns[job.name]
        assert abs(women[job.name] / sentences - job.share) <= 0.5 / EACH + 1e-9


def test_no_name_is_of_both():
    assert not set(WOMEN) & set(MEN)


@given(seed=st.integers(0, 999), each=st.integers(1, 40), unknown=st.integers(0, 300))
def test_each_fact_stands_as_often_as_it_says(seed, each, unknown):
    register = invented.invent(seed, each=each, unknown=unknown)
    told = Counter(register.documents())
    assert len({one.name for one in register.people}) == each * len(invented.COUNTS)
    for one in register.people:
        assert told[invented.fact(one)] == one.times
    assert sum(told.values()) == each * sum(invented.COUNTS) + unknown
    names = {one.name for one in register.people}
    for first, last in register.unknown:
        assert told[f"{invented.question(first, last)} {invented.NOBODY}"] == 1
        assert f"{first} {last}" not in names


def test_more_unknown_persons_leave_the_others_as_they_are():
    assert invented.invent(3).people == invented.invent(3, unknown=500).people


def test_a_town_follows_from_nothing_but_the_text():
    """Over many worlds, the persons of one first name live in each town equally often."""
    first = invented.first_names()[0]
    towns = Counter(
        one.town
        for seed in range(300)
        for one in invented.invent(seed).people
        if one.first == first
    )
    expected = sum(towns.values()) / len(invented.TOWNS)
    chi_square = sum((towns[town] - expected) ** 2 / expected for town in invented.TOWNS)
    assert chi_square < 43.8  # 19 degrees of freedom: one in a thousand is above


def test_a_fact_of_ones_own_takes_the_place_of_whoever_had_the_name():
    register = invented.invent(0, unknown=10)
    before = register.people[-1]
    own = invented.Person(before.first, before.last, invented.TOWNS[0], 7)
    changed = register.with_fact(own)
    assert invented.person_of(changed, before.first, before.last) == own
    assert len(changed.people) == len(register.people)
    first, last = register.unknown[0]
    own = invented.Person(first, last, invented.TOWNS[0])
    assert (first, last) not in register.with_fact(own).unknown
    assert own in register.with_fact(own).people


def test_namesakes_are_those_in_the_text_alone():
    register = invented.invent(0)
    person = register.people[0]
    told = [
        one.town
        for one in register.people
        if one.times and (one.first == person.first) != (one.last == person.last)
    ]
    assert invented.namesakes(register, person) == set(told)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (lambda: planted.own_sentence("", 1), "needs 1 to 40 words; this one has 0"),
        (lambda: planted.own_sentence("  \n ", 1), "this one has 0"),
        (lambda: planted.own_sentence("word " * 41, 1), "this one has 41"),
        (lambda: planted.own_sentence("word " * 500, 1), "this one has 500"),
        (lambda: planted.own_sentence("a", -1), "0 to 1000 times; got -1"),
        (lambda: planted.own_sentence("a", 1001), "got 1001"),
        (lambda: leaning_text(-0.1), "a share from 0 to 1"),
        (lambda: leaning_text(1.1), "a share from 0 to 1"),
        (lambda: invented.invent(each=0), "each must be at least 1; got 0"),
        (lambda: invented.invent(unknown=-1), "unknown must be from 0"),
        (lambda: invented.invent(unknown=1_001), "unknown must be from 0 to 1000; got 1001"),
        (lambda: invented.invent(each=260, unknown=100), "unknown must be from 0 to 40; got 100"),
        (lambda: invented.Person("Ada", "Ashby", "Paris"), "the town must be one of"),
        (lambda: invented.Person("Ada", "Ashby", "Tarn", -1), "0 to 1000 times; got -1"),
        (lambda: invented.Person("Ada", "Ashby", "Tarn", 1_001), "0 to 1000 times; got 1001"),
    ],
)
def test_what_cannot_be_planted_is_refused(wrong, told):
    with pytest.raises(ValueError, match=told):
        wrong()


def test_there_are_as_many_names_as_the_table_of_answers_has_rows():
    assert len(set(invented.first_names())) == len(set(invented.surnames())) == 40
