"""Where the right answer of a question stands."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from streamlit.testing.v1 import AppTest

from llmviz.ui.question import Question, share_question


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


def test_a_question_stands_alike_for_all_visitors_and_in_all_processes():
    # `printf 'Q\\0a' | b2sum -l 64` begins with e402, of b with 7cab, of c with 1207.
    assert Question("Q", ["a", "b", "c"], 0, ["x"] * 3).order == [2, 1, 0]


def test_an_answer_is_graded_by_its_words_wherever_it_stands():
    def page() -> None:
        from llmviz.ui.question import Question, predict

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
