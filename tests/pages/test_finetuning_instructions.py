"""The chapter on instructions: answers, the mask, and what is forgotten, against the engine."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from llmviz.course.lessons.finetuning.classifier import chapter as classifier_chapter
from llmviz.course.lessons.finetuning.example_story import QUESTION, STORY
from llmviz.course.lessons.finetuning.instructions import chapter, forgetting, side_by_side, words
from llmviz.course.lessons.finetuning.instructions.forgetting import Losses, report
from llmviz.course.lessons.finetuning.instructions.mask import count_question
from llmviz.course.lessons.finetuning.instructions.model import Example
from llmviz.course.ui import engine
from llmviz.course.ui.prose import quote
from llmviz.finetuning.continuations import Continuation
from llmviz.finetuning.instructions import Instruction, ask
from tests.pages.harness import ODD_TEXTS, boxes, fine, open_part, prose_of, sent

pytestmark = pytest.mark.usefixtures("ready")


def test_the_tuned_model_answers_and_the_base_goes_on():
    app = open_part("finetuning", "instructions")
    fine(app)
    base, tuned = (block.value for block in app.code[:2])
    assert tuned.strip() == "Naomi." and base.strip() != tuned.strip()
    assert words.right in prose_of(app)


def test_the_mask_counts_the_answer_and_the_end():
    app = open_part("finetuning", "instructions")
    strip = sent(app, "token_strip")["rows"][0]
    counted = np.flatnonzero(strip["values"])
    assert counted.tolist() == list(range(counted[0], len(strip["ids"])))
    tokenizer = engine.tokenizer("tiny-world-gpt")
    assert tokenizer.decode(strip["ids"][counted[:-1]].tolist()) == " Naomi."
    prompt = tokenizer.decode(strip["ids"][1 : counted[0]].tolist())
    assert prompt == f"{STORY}\nQuestion: {QUESTION}\nAnswer:"


def test_every_question_of_the_default_story_is_offered_and_known():
    asked = chapter.askable(STORY)
    assert QUESTION in asked and len(asked) == len(ask(STORY))
    for question, answer in asked.items():
        assert chapter.known_answer(STORY, question) == answer


def test_another_story_brings_its_question():
    app = open_part("finetuning", "instructions")
    (button,) = (one for one in app.button if one.label == words.another)
    button.click().run()
    fine(app)
    told = chapter.offered()[0]
    assert app.session_state["finetuning.story"] == told.story != STORY
    assert told.question in app.session_state["finetuning.question"]


def test_a_question_without_a_known_answer_says_so_and_takes_one():
    app = open_part("finetuning", "instructions", question="Who is tall?")
    fine(app)
    assert "is not known here" in boxes(app) and words.unknown in prose_of(app)
    app = open_part("finetuning", "instructions", question="Who is tall?", reply="Naomi")
    fine(app)
    assert "is not known here" not in boxes(app)
    tokens = sent(app, "token_strip")["rows"][0]["texts"]
    assert "".join(tokens).replace("·", " ").endswith(f"Naomi.{words.end_token}")


@pytest.mark.parametrize("text", ODD_TEXTS)
@pytest.mark.parametrize("key", ["story", "question"])
def test_odd_texts(key, text):
    app = open_part("finetuning", "instructions")
    app.session_state[f"finetuning.{key}"] = ODD_TEXTS[text]
    app.run()
    fine(app)
    if key == "question" and not ODD_TEXTS[text].strip():
        assert "There is no question" in boxes(app)
    if text == "long":
        assert "to be trained on; they have" in boxes(app)


def test_what_was_forgotten_is_measured():
    found = forgetting.measured(engine.load("tiny-world-gpt"))
    app = open_part("finetuning", "instructions")
    assert f"{found.base.mean():.3f} to {found.mixed.mean():.3f}" in prose_of(app)
    assert found.alone is not None and found.alone.mean() > found.base.mean()


def test_other_weights_are_refused_in_one_line(bundle):
    app = open_part("finetuning", "instructions")
    fine(app)
    assert "for other weights" in boxes(app) or "another base" in boxes(app)


@settings(max_examples=60, deadline=None)
@given(some.integers(1, 60), some.integers(1, 20))
def test_the_question_about_the_mask_has_one_right_answer(prompt, answer):
    counts = (False,) * prompt + (True,) * answer
    question = count_question(Example(tuple(range(len(counts))), counts))
    if question is not None:
        assert question.answers[question.right] == str(answer)
        assert len(set(question.answers)) == 4


@given(some.lists(some.floats(0.1, 9), min_size=1, max_size=5), some.data())
def test_the_sentence_follows_the_losses(base, data):
    others = some.lists(some.floats(0.1, 9), min_size=len(base), max_size=len(base))
    mixed = np.array(data.draw(others))
    line = report(Losses(np.array(base), mixed, None))
    assert (" more" in line) == (mixed.mean() - np.mean(base) >= forgetting.LIKE)
    assert (" less" in line) == (np.mean(base) - mixed.mean() >= forgetting.LIKE)


def test_what_is_done_ahead_survives_other_weights(bundle):
    """The server calls it for each chapter in turn; the page says what is wrong."""
    chapter.ahead()
    classifier_chapter.ahead()


def written(text: str, ended: bool = True) -> Continuation:
    return Continuation(text, ended, np.zeros(1), 0)


ASKED = Instruction("A story.", "What colour is it?", "Dark red")
VERDICTS = [
    (" Dark red.", True, words.right),
    (" dark red.", True, words.right),
    (" Dark red.\nAnd so on", False, words.right),
    (" Dark red. Dark red.", False, words.goes_on),
    (" Dark", False, words.too_long),
    (" Dark", True, words.wrong),
    (" Blue.", True, words.wrong),
    ("", True, words.wrong),
    ("", False, words.wrong),
]


@pytest.mark.parametrize(("text", "ended", "told"), VERDICTS)
def test_an_answer_that_does_not_stop_is_called_that(text, ended, told):
    line = side_by_side.verdict(written(text, ended), ASKED)
    assert line == told.format(answer=quote("Dark red"))


@pytest.mark.parametrize("typed", ["a cat", "a cat.", " a cat. ", "a cat.."])
def test_ones_own_answer_may_have_a_full_stop(typed):
    assert Instruction("s", "q", chapter.typed_answer(typed)).reply == " a cat."
    assert chapter.typed_answer(" . ") == ""


def test_a_question_is_known_in_capitals_too():
    told = chapter.offered()[0]
    assert chapter.known_answer(told.story, told.question.upper()) == told.answer
    assert chapter.known_answer(told.story, f" {told.question.lower()} ") == told.answer
