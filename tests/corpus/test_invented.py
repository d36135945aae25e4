"""Invented persons: each fact stands as often as it says, and a name tells nothing of a town."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmviz.corpus import invented


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
        (lambda: invented.invent(each=0), "each must be at least 1; got 0"),
        (lambda: invented.invent(unknown=-1), "unknown must be from 0"),
        (lambda: invented.invent(unknown=1_001), "unknown must be from 0 to 1000; got 1001"),
        (lambda: invented.invent(each=260, unknown=100), "unknown must be from 0 to 40; got 100"),
        (lambda: invented.Person("Ada", "Ashby", "Paris"), "the town must be one of"),
        (lambda: invented.Person("Ada", "Ashby", "Tarn", -1), "0 to 1000 times; got -1"),
        (lambda: invented.Person("Ada", "Ashby", "Tarn", 1_001), "0 to 1000 times; got 1001"),
    ],
)
def test_what_cannot_be_is_refused(wrong, told):
    with pytest.raises(ValueError, match=told):
        wrong()


def test_there_are_as_many_names_as_the_table_of_answers_has_rows():
    assert len(set(invented.first_names())) == len(set(invented.surnames())) == 40
