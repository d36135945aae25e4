"""Exercises in sizes, colours and places: each answer is what the text says."""

from __future__ import annotations

import itertools
import random
import re

import pytest

from llmviz.corpus import PROBES, generate, parse
from llmviz.corpus.detail_exercises import (
    detail_exercise,
    details_asked,
    holds_details,
    place_exercise,
    trait_exercise,
)
from llmviz.corpus.exercises import Piece
from llmviz.corpus.probes import probe_sets
from llmviz.corpus.words import words

SIZES, COLOURS, THINGS = (set(words(kind)) for kind in ("sizes", "colours", "things"))
NAMES, PLACES = set(words("names")), set(words("places"))
MADE = 200


class _Always(random.Random):
    """Asks whenever it can."""

    def random(self) -> float:
        return 0.0


def said(text: str, known: set[str]) -> list[str]:
    return [word for word in re.findall(r"[\w-]+", text) if word in known]


def made_by(make) -> list[list[Piece]]:
    chance = random.Random(5)
    return [make(chance) for _ in range(MADE)]


@pytest.fixture(scope="module")
def stories():
    return [one.text for one in generate(count=1500, seed=21)]


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


def test_the_same_seed_gives_the_same_exercises():
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


def test_what_is_asked_in_a_story_has_the_answer_of_the_grammar(stories):
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
