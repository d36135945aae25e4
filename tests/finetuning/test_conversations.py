"""Conversations by a rule: a second reading of each text finds the same right replies."""

import random
import re
from itertools import pairwise

import pytest

from llmviz.corpus import generate
from llmviz.finetuning import conversations as made
from llmviz.finetuning.conversations import (
    ANSWERS,
    ASKS,
    ASSISTANT,
    DECLINES,
    LINES,
    LONG,
    SHORT,
    SYSTEM,
    USER,
    act_of,
    conversations,
    told_short,
)

TALKS = conversations(150, seed=77)
FOUND = re.compile(r"(\w+) found an? (\w+) (\w+) (\w+) (?:under|behind|beside|inside)")
GAVE = re.compile(r"(?:gave|handed|lent|passed|brought|threw) the \w+ (\w+) to (\w+)\.")


class Reader:
    """Finds the right reply to a question by itself, from the words of a conversation."""

    def __init__(self, story: str) -> None:
        self.things = {thing: (who, size, hue) for who, size, hue, thing in FOUND.findall(story)}
        self.holder = {thing: who for thing, (who, _, _) in self.things.items()}
        self.holder |= {thing: who for thing, who in GAVE.findall(story)}
        self.last, self.open = "", ""

    def value(self, kind: str, thing: str) -> str:
        _, size, hue = self.things[thing]
        return {"who": self.holder[thing], "colour": hue, "size": size}[kind]

    def expected(self, question: str) -> tuple[str, str]:
        """What is to be done, and a word that the reply must hold."""
        if only := re.fullmatch(r"The (\w+)\.", question):
            kind, self.last = self.open, only[1]
            return ANSWERS, self.value(kind, self.last)
        kind = {"Who has": "who", "What colour": "colour", "How big": "size"}.get(
            " ".join(question.split()[:2])
        )
        if kind is None:
            return ANSWERS, ""
        if named := re.search(r"the (\w+)\?$", question):
            if named[1] not in self.things:
                return DECLINES, ""
            self.last = named[1]
            return ANSWERS, self.value(kind, self.last)
        thing = self.last or (next(iter(self.things)) if len(self.things) == 1 else "")
        if thing:
            self.last = thing
            return ANSWERS, self.value(kind, thing)
        self.open = kind
        return (ASKS, "") if self.things else (DECLINES, "")


@pytest.mark.parametrize("talk", TALKS[:150:3] + TALKS[1:150:3])
def test_each_reply_is_what_a_second_reader_expects(talk):
    reader, form = None, LONG
    for before, one in zip((None, *talk), talk, strict=False):
        if one.role == SYSTEM:
            form = {text: name for name, text in LINES.items()}[one.content]
        if one.role != ASSISTANT:
            assert not one.act
            continue
        story, _, question = before.content.rpartition("\n")
        reader = Reader(story) if reader is None else reader
        act, word = reader.expected(question)
        assert (one.act, act_of(one.content), act_of(one.other)) == (act, act, act)
        assert word in one.content
        assert word in one.other
        short, whole = (one.content, one.other) if form == SHORT else (one.other, one.content)
        assert len(whole.split()) >= len(short.split())
        assert whole[0].isupper()
        assert whole[-1] in ".?"
        if act == ASKS:
            assert all(f"the {thing}" in one.content for thing in reader.things)


def test_roles_alternate_and_a_conversation_ends_with_a_reply():
    for talk in TALKS:
        spoken = [one.role for one in talk if one.role != SYSTEM]
        assert spoken == [USER, ASSISTANT] * (len(spoken) // 2)
        assert talk[-1].role == ASSISTANT


def test_every_way_to_reply_comes_in_both_forms():
    replies = [one for talk in TALKS for one in talk if one.role == ASSISTANT]
    for act in made.ACTS:
        assert len({one.content.split()[0] for one in replies if one.act == act}) > 1


def test_the_same_arguments_give_the_same_conversations_and_seeds_share_no_story():
    assert conversations(5, seed=3) == conversations(5, seed=3)

    def stories(seed: int) -> set[str]:
        talks = conversations(100, seed)
        return {next(one.content for one in talk if one.role == USER) for talk in talks}

    assert not stories(0) & stories(10_000)
    assert conversations(0) == []
    with pytest.raises(ValueError, match="a turn"):
        conversations(1, turns=0)
    with pytest.raises(ValueError, match="count"):
        conversations(-1)


def test_a_story_told_short_keeps_the_people_the_things_and_the_gifts():
    for one in generate(count=60, seed=5):
        short = told_short(one.text, random.Random(0))
        assert FOUND.findall(short) == FOUND.findall(one.text)
        assert GAVE.findall(short) == GAVE.findall(one.text)
        places = [one.text.find(line) for line in short.split(". ")]
        assert -1 not in places
        assert places == sorted(places)


def test_a_question_about_it_is_asked_in_stories_where_it_is_clear_and_where_it_is_not():
    acts = {
        one.act
        for talk in TALKS
        for before, one in pairwise(talk)
        if before.content.endswith(("it?", "What colour is it?"))
    }
    assert acts == {ANSWERS, ASKS, DECLINES}
