"""Exercises in who has what: every answer is the person that the text says it is."""

from __future__ import annotations

import random
import re

import pytest

from llmviz.corpus import generate, lookups, parse
from llmviz.corpus.exercises import Piece, asked_often, exercise, exercises, holds_two_things
from llmviz.corpus.words import words

NAMES, THINGS = set(words("names")), set(words("things"))


class _Always(random.Random):
    """Asks whenever it can."""

    def random(self) -> float:
        return 0.0


def said(piece: Piece, known: set[str]) -> list[str]:
    return [word for word in re.findall(r"\w+", piece.text) if word in known]


@pytest.fixture(scope="module")
def made():
    return list(exercises(400, seed=3))


@pytest.fixture(scope="module")
def stories():
    return [one.text for one in generate(count=1500, seed=21)]


def test_an_answer_is_the_name_that_was_last_told_with_the_thing(made):
    answers = 0
    for pieces in made:
        holder = {}
        for at, piece in enumerate(pieces):
            things, names = said(piece, THINGS), said(piece, NAMES)
            if piece.answer:
                (asked,) = said(pieces[at - 1], THINGS)
                assert piece.text == f" {holder[asked]}"
                answers += 1
            elif things and names:
                holder[things[0]] = names[-1]
    assert answers > 10 * len(made)


def test_exercises_go_from_bare_words_to_sentences_of_the_stories(made):
    texts = ["".join(piece.text for piece in pieces) for pieces in made]
    full = r"(Then|Soon) \w+ found an? \w+ \w+ \w+ (under|behind|beside|inside) the \w+\."
    gift = r"(Then|Soon) \w+ (gave|handed) the \w+ \w+ to \w+\."
    question = r"But who had the \w+ now\? It was \w+\."
    for wording in (full, gift, question):
        assert sum(bool(re.search(wording, text)) for text in texts) > 5
    assert sum("." not in text for text in texts) > 20  # pairs of words alone
    assert not any(re.search(r"\ba [aeio]\w+|\ban [^aeiouh\W]\w+", text) for text in texts)


def test_people_and_things_vary_and_most_exercises_hold_more_than_a_story(made):
    counts = [len({thing for piece in one for thing in said(piece, THINGS)}) for one in made]
    assert min(counts) >= 2 and max(counts) == 8 and sum(counts) / len(counts) > 4
    assert len({name for one in made for piece in one for name in said(piece, NAMES)}) > 190


def test_the_same_seed_gives_the_same_exercises(made):
    assert list(exercises(5, seed=3)) == made[:5]
    assert list(exercises(5, seed=4)) != made[:5]
    assert exercise(random.Random(8)) == exercise(random.Random(8))


def test_a_story_asked_often_is_the_story_with_questions_in_between(stories):
    for story in stories[:300]:
        pieces = asked_often(story, random.Random(1))
        rest, skip = [], 0
        for at, piece in enumerate(pieces):
            if skip:
                skip -= 1
            elif at + 1 < len(pieces) and pieces[at + 1].answer:
                skip = 2
            else:
                rest.append(piece.text)
        assert "".join(rest) == story


def test_what_is_asked_in_a_story_has_the_answer_of_the_grammar(stories):
    asked = 0
    for story in stories:
        pieces = asked_often(story, _Always())
        for fact in parse(story).facts:
            if fact.kind != "possession":
                continue
            before = story[: fact.start]
            thing = re.findall(r"the (\w+) (?:now\? It was|stayed with) $", before)[0]
            told = len(re.split(r"(?<=\.) ", before)) - 1  # whole sentences before the question
            answer, number = None, -1
            for at, piece in enumerate(pieces):
                question = piece.answer or (at + 1 < len(pieces) and pieces[at + 1].answer)
                if piece.answer and number < told and f"the {thing} " in pieces[at - 1].text:
                    answer = piece.text
                number += not question and not pieces[at - 1].answer
            assert answer == f" {fact.right}"
            asked += 1
    assert asked > 300


def test_stories_that_hold_two_things_are_told_from_the_others(stories):
    for story in stories:
        things = set(re.findall(r"found an? \w+ \w+ (\w+)", story))
        assert holds_two_things(story) == (len(things) == 2)
    assert 0.1 < sum(map(holds_two_things, stories)) / len(stories) < 0.25


def test_questions_that_differ_in_one_word_have_the_answers_of_the_grammar():
    asked = lookups(60)
    assert len({one.prompts for one in asked}) == 60 and lookups(2) == asked[:2]
    for one in asked:
        first, second = one.prompts
        thing, other = one.things
        assert thing != other and one.answers[0] != one.answers[1]
        assert first.removesuffix(" now? It was").removesuffix(" stayed with").endswith(thing)
        head, _, tail = first.rpartition(thing)
        assert second == head + other + tail
        if first.endswith("stayed with"):
            for prompt, answer, wrong in zip(
                one.prompts, one.answers, reversed(one.answers), strict=True
            ):
                assert parse(f"{prompt}{answer} for ever.")
                with pytest.raises(ValueError):
                    parse(f"{prompt}{wrong} for ever.")
    assert sum(one.prompts[0].endswith("stayed with") for one in asked) > 10
    with pytest.raises(ValueError, match="negative"):
        lookups(-1)
