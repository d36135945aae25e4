"""Questions and sentences of the real model's chapters at their edges."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmviz.course.lessons.real.bits import chapter as bits
from llmviz.course.lessons.real.bits.model import BITS, GROUP, ROW, Kept
from llmviz.course.lessons.real.carrier import chapter as carrier
from llmviz.course.lessons.real.carrier.model import Carrier, Looks
from llmviz.course.lessons.real.copies import chapter as copies
from llmviz.course.lessons.real.copies.model import Copies
from llmviz.course.lessons.real.defaults import FRANCE, ITALY
from llmviz.course.lessons.real.examples import chapter as examples
from llmviz.course.lessons.real.examples.model import Answer, Round, read
from llmviz.course.lessons.real.first import PARAMS as FIRST
from llmviz.course.lessons.real.first import chapter as first
from llmviz.course.lessons.real.first import words as first_words
from llmviz.course.lessons.real.heart import chapter as heart
from llmviz.course.lessons.real.heart.model import Heart, Piece
from llmviz.course.lessons.real.reader import Choice
from llmviz.course.lessons.real.travels import chapter as travels
from llmviz.course.lessons.real.travels.model import Travels
from llmviz.course.lessons.real.yesterday.chapter import named

SHARE = st.floats(0, 1, allow_nan=False)


@settings(max_examples=60, deadline=None)
@given(st.lists(SHARE, min_size=3, max_size=40))
def test_the_layer_of_the_jump_is_where_the_column_changes_sides_for_good(column):
    found = Travels(
        Choice(" a", 0.6), Choice(" b", 0.5), ("x|y", "is"), (True, False), (1.0, 0.0),
        tuple(((1.0, 0.0), (0.5, lead)) for lead in column),
    )  # fmt: skip
    layer, question = travels.jump_layer(found), travels.question(found)
    sides = [lead >= 0.5 for lead in column]
    if sides[0] == sides[-1]:
        assert layer is None and question is None
        assert travels.read_of(found)
        return
    assert sides[layer] == sides[0] != sides[-1] == sides[layer + 1]
    assert all(side == sides[-1] for side in sides[layer + 1 :])
    assert question.answers[question.right] == str(layer)
    assert travels.read_of(found)


def test_a_guess_that_is_too_small_for_the_first_word_is_told_so_and_one_too_large_too():
    found = first.source.record("first", FIRST[0].default)
    asked = first.question(found)
    for (share,), reason in zip(asked.values, asked.reasons, strict=True):
        side = "ask_more" if share > found.mean else "ask_less"
        line = getattr(first_words, "ask_right" if share == found.mean else side)
        assert reason == line.format(**first.summary(found))


@settings(max_examples=60, deadline=None)
@given(
    st.floats(0.001, 1), st.lists(st.lists(SHARE, min_size=3, max_size=3), min_size=2, max_size=9)
)
def test_the_heads_that_halve_are_counted_and_each_is_said_by_degree(share, off):
    looks = tuple(tuple(Looks("x", 0.5) for _ in row) for row in off)
    found = Carrier(Choice(" a", share), tuple(map(tuple, off)), looks)
    question = carrier.question(found)
    halved = sum(x < share / 2 for row in off for x in row)
    assert question.answers[question.right] == str(halved)
    assert len(set(question.answers)) == len(question.answers) >= 2
    for head in np.ndindex(len(off), 3):
        assert carrier.caption(found, head)
    assert off[found.strongest()[0]][found.strongest()[1]] == min(map(min, off))


@settings(max_examples=60, deadline=None)
@given(st.lists(SHARE, min_size=12, max_size=12), st.floats(0.01, 1))
def test_the_line_of_bits_is_asked_only_where_something_is_lost(shares, whole):
    cells = [(per, n) for per in (ROW, GROUP) for n in BITS]
    found = (
        Kept("", 32, whole, Choice(" a", whole)),
        *(Kept(*cell, x, Choice(" b", x)) for cell, x in zip(cells, shares, strict=True)),
    )
    question, row = bits.question(found), shares[: len(BITS)]
    if question is None:
        assert min(row[1:]) > row[0] / 2 or len({*row[1:]}) <= len(row)
    else:
        assert list(question.values[question.right]) == row[1:]
    for cell in cells:
        assert bits.caption(found, *cell)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 10), min_size=5, max_size=5))
def test_the_line_of_examples_is_asked_unless_it_is_a_misconception(right):
    found = tuple(
        Round(shown, tuple(Answer("w", "s", n < count) for n in range(10)))
        for shown, count in enumerate(right)
    )
    question = examples.question(found)
    if question is not None:
        assert list(question.values[question.right]) == right[1:]
        assert len({tuple(values) for values in question.values}) == len(question.values)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(0, 20), min_size=3, max_size=31).filter(lambda x: len(x) % 2))
def test_nonsense_is_asked_about_only_where_copying_helps(losses):
    count = (len(losses) + 1) // 2
    found = Copies(("t",) * count, tuple(losses), (("0",),), ((0.0,),))
    question = copies.question(found)
    helps = found.mean(second=True) <= found.mean(second=False) / 2
    assert (question is not None) == helps
    if question is not None:
        assert list(question.values[question.right]) == losses[count - 1 :]


@pytest.mark.parametrize(
    ("wrong", "given"), [([1, 2, 3], 4), ([], 1), ([1], 2), ([3], 4), ([1, 3], 4)]
)
def test_so_many_pieces_have_to_be_given_that_no_later_one_is_wrong(wrong, given):
    pieces = [Piece("a", 0.5, Choice("b" if n in wrong else "a", 0.5)) for n in range(4)]
    found = Heart(tuple([Piece("a", 0.0, Choice("a", 0.0)), *pieces[1:]]))
    assert found.begins() == given
    assert heart.own_line(found)


class _Case(NamedTuple):
    texts: list[str]
    name: str
    places: list[int]


@pytest.mark.parametrize(
    "case",
    [
        _Case(["I", " am", " Bo", "ris", "."], "Boris", [2, 3]),
        _Case(["Boris", " and", " Boris"], "Boris", [0, 2]),
        _Case(["I", " am"], "Boris", []),
        _Case(["aaa"], "a", [0]),
    ],
)
def test_the_pieces_of_a_name_are_found(case):
    assert sorted(named(case.texts, case.name)) == case.places


def test_a_rule_is_read_line_by_line_and_what_is_none_is_named():
    assert read("hot -> cold\n\n up ->down ") == [("hot", "cold"), ("up", "down")]
    for bad in ("hot", "hot ->", "-> cold"):
        with pytest.raises(ValueError, match="->"):
            read(f"a -> b\n{bad}")


def test_the_question_names_paris_of_the_sentence_about_france_alone():
    begun = {"travelsown": FRANCE, "travelsother": ITALY}
    assert travels.titled(begun) == ""
    for name in begun:
        assert travels.titled(begun | {name: "The sky is"}) == travels.words.title_own
