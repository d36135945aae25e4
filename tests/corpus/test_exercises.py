"""Exercises in who has what and in details: every answer is what the text says."""

import itertools
import random
import re

import pytest

from llmviz.corpus import PROBES, generate, lookups, parse
from llmviz.corpus.detail_exercises import (
    detail_exercise,
    details_asked,
    holds_details,
    place_exercise,
    trait_exercise,
)
from llmviz.corpus.exercises import Piece, asked_often, exercise, exercises, holds_two_things
from llmviz.corpus.probes import probe_sets
from llmviz.corpus.words import words

NAMES, THINGS = set(words("names")), set(words("things"))


class _Always(random.Random):
    """Asks whenever it can."""

    def random(self) -> float:
        return 0.0


def said(text: str, known: set[str]) -> list[str]:
    return [word for word in re.findall(r"[\w-]+", text) if word in known]


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
            things, names = said(piece.text, THINGS), said(piece.text, NAMES)
            if piece.answer:
                (asked,) = said(pieces[at - 1].text, THINGS)
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
    counts = [len({thing for piece in one for thing in said(piece.text, THINGS)}) for one in made]
    assert min(counts) >= 2 and max(counts) == 8 and sum(counts) / len(counts) > 4
    assert len({name for one in made for piece in one for name in said(piece.text, NAMES)}) > 190


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


SIZES, COLOURS = (set(words(kind)) for kind in ("sizes", "colours"))
PLACES = set(words("places"))
MADE = 200


def made_by(make) -> list[list[Piece]]:
    chance = random.Random(5)
    return [make(chance) for _ in range(MADE)]


def test_a_size_or_colour_is_that_which_was_told_with_the_thing():
    asked = {"size": 0, "colour": 0}
    for pieces in made_by(trait_exercise):
        known: dict[str, dict[str, str]] = {}
        for at, piece in enumerate(pieces):
            if piece.answer:
                (thing,) = said(pieces[at - 1].text, THINGS)
                kind = "colour" if "What colour" in pieces[at - 1].text else "size"
                assert piece.text == f" {known[thing][kind]}"
                asked[kind] += 1
            elif " How " not in piece.text and (sizes := said(piece.text, SIZES)):
                (thing,), colours = said(piece.text, THINGS), said(piece.text, COLOURS)
                known[thing] = {"size": sizes[-1]} | dict(zip(["colour"], colours, strict=False))
    assert min(asked.values()) > MADE


def test_a_place_is_where_somebody_was_last_told_to_go():
    asked = moved = 0
    for pieces in made_by(place_exercise):
        at: dict[str, str] = {}
        for number, piece in enumerate(pieces):
            names, places = said(piece.text, NAMES), said(piece.text, PLACES)
            if piece.answer:
                (who,) = said(pieces[number - 1].text, NAMES)
                assert piece.text == f" {at[who]}"
                asked += 1
            elif piece.text.startswith(" They "):
                at = dict.fromkeys(said("".join(one.text for one in pieces[:number]), NAMES))
                at = dict.fromkeys(at, places[0])
            elif names and places:
                assert at.get(names[0]) != places[0]
                moved += names[0] in at
                at[names[0]] = places[0]
    assert asked > 5 * MADE and moved > MADE


def test_they_go_from_bare_words_to_sentences_that_the_stories_have(stories):
    told = "\n".join(stories)
    for make, bare, full in (
        (trait_exercise, r"How big (?!was)\w+ \w+", r"How big was the \w+\? It was \w+\."),
        (trait_exercise, r" found an? \w+ \w+ \w+ found", r"\w+ found an? \w+ \w+ \w+ under the"),
        (place_exercise, r"[A-Z]\w+ at the \w+ [A-Z]", r"And where was \w+\? At the \w+\."),
    ):
        texts = ["".join(piece.text for piece in pieces) for pieces in made_by(make)]
        assert sum(bool(re.search(bare, text)) for text in texts) > 5
        assert sum(bool(re.search(full, text)) for text in texts) > 5
        assert re.search(full, told) and not re.search(bare, told)


def test_the_same_seed_gives_the_same_details():
    assert detail_exercise(random.Random(8)) == detail_exercise(random.Random(8))
    kinds = {"".join(p.text for p in detail_exercise(random.Random(s)))[:40] for s in range(40)}
    assert len(kinds) == 40


def parts_of(pieces: list[Piece]) -> tuple[str, list[tuple[str, str, str]]]:
    """The story without the questions put in, and (text before, question, answer) of each."""
    story, asked, at = "", [], 0
    while at < len(pieces):
        if at + 2 < len(pieces) and pieces[at + 1].answer and pieces[at + 2].text == ".":
            asked.append((story, pieces[at].text, pieces[at + 1].text))
            at += 3
        else:
            story += pieces[at].text
            at += 1
    return story, asked


def test_a_story_is_itself_without_the_questions(stories):
    for story in stories[:300]:
        assert parts_of(details_asked(story, random.Random(1)))[0] == story


def test_details_asked_in_a_story_have_the_answer_of_the_grammar(stories):
    checked = dict.fromkeys(("possession", "attributes", "places"), 0)
    for story in stories:
        _, asked = parts_of(details_asked(story, _Always()))
        for fact in parse(story).facts:
            before = story[: fact.start]
            question = re.search(
                r"((?:But who|How big|What colour|And where) [^?]*\?) (?:It was|At the) $", before
            )
            if fact.kind not in checked or question is None:
                continue
            answers = [
                answer
                for told, put, answer in asked
                if put.strip().startswith(question[1]) and len(told) < fact.start
            ]
            assert f" {fact.right}" in answers  # none is asked twice, and some come back
            if fact.kind == "attributes":  # what a thing keeps
                assert set(answers) == {f" {fact.right}"}
            checked[fact.kind] += 1
    assert min(checked.values()) > 100


def test_the_colour_of_what_is_given_away_is_an_answer(stories):
    answers = 0
    for story in stories:
        pieces = details_asked(story, random.Random(2))
        gifts = [fact for fact in parse(story).facts if fact.kind == "attributes"]
        gifts = [fact for fact in gifts if story[: fact.start].endswith(" the ")]
        marked = [a.text for a, b in itertools.pairwise(pieces) if a.answer and " to " in b.text]
        assert marked == [f" {fact.right}" for fact in gifts]
        answers += len(marked)
    assert answers > 300


def test_no_probe_stands_in_an_exercise():
    """Stories for exercises and for probes come from different seeds, and none is in both."""
    told = [one.text for one in generate(count=3000, seed=0)]
    chance = random.Random(1)
    texts = ["".join(p.text for p in details_asked(one, chance)) for one in told]
    texts += ["".join(p.text for p in detail_exercise(chance)) for _ in range(300)]
    every = "\0".join(told + texts)  # one search in all of them
    for seed in (0, 17):
        for asked in probe_sets(PROBES, 40, seed).values():
            assert not any(probe.prompt in every for probe in asked)


def test_stories_that_are_fit_for_questions(stories):
    for story in stories:
        two = len(set(re.findall(r"found an? \w+ \w+ (\w+)", story))) == 2
        moved = any(re.search(rf" {verb} to the ", story) for verb in words("motion"))
        assert holds_details(story) == (two or moved)
