"""The chapter on instructions: answers, the mask, and what is forgotten, against the engine."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from llmviz.course.lessons.finetuning.classifier import chapter as classifier_chapter
from llmviz.course.lessons.finetuning.example_story import QUESTION, STORY
from llmviz.course.lessons.finetuning.instructions import chapter, words
from llmviz.course.lessons.finetuning.instructions.chapter import mask_question, report
from llmviz.course.ui import engine, guess_given
from llmviz.course.ui.prose import quote
from llmviz.finetuning.continuations import Continuation
from llmviz.finetuning.instructions import Instruction, ask
from tests.pages.harness import fine_part, prose_of, sent

pytestmark = pytest.mark.usefixtures("ready")


def labels(app) -> list[str]:
    """What each model writes."""
    said = re.sub(r"<[^>]*>", "", prose_of(app)).replace("\n", " ")
    return [
        re.search(
            begin + r" (?:it )?writes: (.*?)(?=After training|The storyteller|The trained)", said
        )[1]
        for begin in ("The storyteller", "After training on questions")
    ]


def test_the_tuned_model_answers_and_the_mask_and_what_was_forgotten_are_shown():
    app = fine_part("finetuning", "instructions")
    base, tuned = labels(app)
    assert tuned.strip() == "Naomi." and "Naomi" in base != tuned
    assert words.verdicts["right"] in prose_of(app)
    # The mask counts the answer and the end.
    strip = sent(app, "token_strip")["rows"][0]
    counted = np.flatnonzero(strip["values"])
    assert counted.tolist() == list(range(counted[0], len(strip["ids"])))
    tokenizer = engine.tokenizer("tiny-world-gpt")
    assert tokenizer.decode(strip["ids"][counted[:-1]].tolist()) == " Naomi."
    prompt = tokenizer.decode(strip["ids"][1 : counted[0]].tolist())
    assert prompt == f"{STORY}\nQuestion: {QUESTION}\nAnswer:"
    # What was forgotten is measured.
    found = chapter.measured(engine.load("tiny-world-gpt"))
    assert report(found["base"], found[chapter.MIXED]) in prose_of(app)
    assert found[chapter.ALONE].mean() > found["base"].mean()


def test_before_the_guess_the_second_model_and_the_mask_are_not_told(monkeypatch):
    monkeypatch.setattr(guess_given, "COVERS", True)
    app = fine_part("finetuning", "instructions")
    assert labels(app)[1].strip() == words.waits
    assert sent(app, "token_strip")["rows"][0]["values"] is None
    assert words.verdicts["right"] not in prose_of(app)


def test_every_question_of_the_default_story_is_offered_and_known():
    asked = chapter.askable(STORY)
    assert QUESTION in asked and len(asked) == len(ask(STORY))
    for wanted, answer in asked.items():
        assert chapter.known_answer(STORY, wanted) == answer


def test_a_question_without_a_known_answer_says_so_and_takes_one():
    app = fine_part("finetuning", "instructions", question="Who is tall?")
    assert words.verdicts["unknown"] in prose_of(app)
    app = fine_part("finetuning", "instructions", question="Who is tall?", reply="Naomi")
    assert words.verdicts["unknown"] not in prose_of(app)
    tokens = sent(app, "token_strip")["rows"][0]["texts"]
    assert "".join(tokens).replace("·", " ").endswith(f"Naomi.{words.end_token}")


@settings(max_examples=60, deadline=None)
@given(some.integers(0, 12), some.integers(1, 5))
def test_the_question_goes_by_where_the_parts_begin(told, answer):
    task = Instruction("Anna met Samir. " * told, "Who?", "Anna " * answer)
    known = chapter.encoded(engine.load("tiny-world-gpt"), task)
    asked = mask_question(known, task)
    if asked is None:
        assert not told
        return
    begins = [begin for (begin,) in asked.values]
    assert begins == sorted(set(begins)) and begins[asked.right] == known.counts.index(True)
    assert [asked.write(begin) for begin in begins] == asked.answers == [*words.ask_parts]


@given(some.lists(some.floats(0.1, 9), min_size=1, max_size=5), some.data())
def test_the_sentence_follows_the_losses(base, data):
    others = some.lists(some.floats(0.1, 9), min_size=len(base), max_size=len(base))
    mixed = np.array(data.draw(others))
    line = report(np.array(base), mixed)
    assert ("rises by" in line) == (mixed.mean() - np.mean(base) >= chapter.LIKE)
    assert ("falls by" in line) == (np.mean(base) - mixed.mean() >= chapter.LIKE)


def test_what_is_done_ahead_survives_other_weights(bundle):
    """The server calls it for each chapter in turn; the page says what is wrong."""
    chapter.ahead()
    classifier_chapter.ahead()


def written(text: str, ended: bool = True) -> Continuation:
    return Continuation(text, ended, np.zeros(1), 0)


ASKED = Instruction("A story.", "What colour is it?", "Dark red")
VERDICTS = [
    (" Dark red.", True, "right"),
    (" dark red.", True, "right"),
    (" Dark red.\nAnd so on", False, "right"),
    (" Dark red. Dark red.", False, "goes_on"),
    (" Dark", False, "too_long"),
    (" Dark", True, "wrong"),
    (" It is a dark red one.", True, "names"),
    (" Blue.", True, "wrong"),
    ("", True, "wrong"),
    ("", False, "wrong"),
]


@pytest.mark.parametrize(("text", "ended", "told"), VERDICTS)
def test_an_answer_that_does_not_stop_is_called_that(text, ended, told):
    line = chapter.verdict_of(written(text, ended), ASKED)
    assert line == words.verdicts[told].format(answer=quote("Dark red"))


@pytest.mark.parametrize("typed", ["a cat", "a cat.", " a cat. ", "a cat.."])
def test_ones_own_answer_may_have_a_full_stop(typed):
    assert Instruction("s", "q", chapter.typed_answer(typed)).reply == " a cat."
    assert chapter.typed_answer(" . ") == ""


def test_a_question_is_known_in_capitals_too():
    assert chapter.known_answer(STORY, QUESTION.upper()) == "Naomi"
    assert chapter.known_answer(STORY, f" {QUESTION.lower()} ") == "Naomi"
