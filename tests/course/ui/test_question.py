"""Where the right answer of a question stands."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from streamlit.testing.v1 import AppTest

from llmviz.course.document import Sentence
from llmviz.course.ui.question import Question, share_question


def asked(number: int, right: int, *, scale: bool = False) -> Question:
    answers = [f"{(number + 1) * factor} times" for factor in (1, 2, 3, 4)]
    return Question(f"Which of {number}?", answers, right, ["why"] * 4, scale=scale)


@pytest.mark.parametrize("right", range(4))
def test_the_place_of_the_right_answer_does_not_follow_from_the_place_in_the_code(right):
    questions = [asked(number, right) for number in range(2_000)]
    places = Counter(one.order.index(one.right) for one in questions)
    assert all(sorted(one.order) == [0, 1, 2, 3] for one in questions)
    # Each place has 500 of 2,000; five standard deviations of the binomial are 97.
    assert all(abs(places[place] - 500) < 97 for place in range(4)), places


def test_the_steps_of_a_scale_keep_their_order():
    assert all(asked(number, 0, scale=True).order == [0, 1, 2, 3] for number in range(99))


@given(some.floats(0, 1))
def test_a_share_is_asked_with_one_right_answer_and_two_that_are_not_near(right):
    question = share_question("How much?", right, ("it is", "less", "more"), "{:.3f}".format)
    shares = [float(answer) for answer in question.answers]
    assert len(shares) == 3 and shares == sorted(shares) and min(np.diff(shares)) > 0.149
    assert question.answers[question.right] == f"{right:.3f}"
    for share, reason in zip(shares, question.reasons, strict=True):
        own = share == shares[question.right]
        assert reason == ("it is" if own else "less" if share > right else "more")


@given(some.dictionaries(some.integers(0, 9_999), some.text(), min_size=1, max_size=6), some.data())
def test_each_count_is_offered_with_its_reason_as_it_is(reasons, data):
    right = data.draw(some.sampled_from(sorted(reasons)))
    question = Question.among("How many?", reasons, right)
    offered = [int(answer.replace(",", "")) for answer in question.answers]
    assert offered == list(reasons) and offered[question.right] == right
    assert [reasons[count] for count in offered] == list(question.reasons)


def test_only_what_is_still_a_sentence_has_its_slots_filled():
    ask, why = Sentence("{n} of {word}?"), Sentence("It is {n}.")
    typed = {"{n}": why, "b": "{word} was typed"}  # a learner's braces are no slots
    question = Question.among(ask, typed, "b", str.upper, n=2, word="{n}")
    assert (question.text, question.answers) == ("2 of {n}?", ["{N}", "B"])
    assert question.reasons == ["It is 2.", "{word} was typed"] and question.right == 1
    rated = Question.rated(ask, [why, "more"], 1, why, n=3, word="x")
    assert (rated.answers, rated.reasons) == (["It is 3.", "more"], ["It is 3."] * 2)
    assert rated.scale and rated.right == 1
    with pytest.raises(ValueError, match="different answers"):
        Question.among("How many?", {1.1: "a", 1.2: "b"}, 1.1, lambda one: f"{one:.0f}")


def test_a_question_stands_alike_for_all_visitors_and_in_all_processes():
    # `printf 'Q\\0a' | b2sum -l 64` begins with e402, of b with 7cab, of c with 1207.
    assert Question("Q", ["a", "b", "c"], 0, ["x"] * 3).order == [2, 1, 0]


def test_an_answer_is_graded_by_its_words_wherever_it_stands():
    def page() -> None:
        from llmviz.course.ui.question import Question, predict

        for number in range(6):
            answers = [f"{number} and {other}" for other in range(4)]
            predict(Question(f"Number {number}?", answers, 2, ["why"] * 4), f"ask{number}")

    app = AppTest.from_function(page).run()
    places = []
    for number, radio in enumerate(app.radio):
        places.append(radio.options.index(f"{number} and 2"))
        radio.set_value(2)
    app.run()
    assert len(app.success) == 6 and not app.error
    assert len(set(places)) > 1
