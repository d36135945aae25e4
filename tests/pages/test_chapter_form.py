"""The form of every chapter: its questions hold back their answers until one is given."""

from __future__ import annotations

import re

import pytest

from llmviz.course.document.marks import unmarked
from llmviz.course.lessons import LESSONS
from llmviz.course.ui.question import Question
from tests.pages.asked import answered

CHAPTERS = [(lesson.key, chapter.key) for lesson in LESSONS for chapter in lesson.chapters]
# A number of a right answer that stands on the page as something else: why it tells nothing.
ELSEWHERE: dict[tuple[str, str, str], str] = {
    ("efficiency", "serving", "10"): "how many blocks were copied in a recorded run",
    ("reasoning", "preference", "69"): "a byte of a token, in hex",
    ("reasoning", "trust", "100"): "how sure the model is of the digits of its call",
    ("efficiency", "memory", "16"): "the end of bfloat16, the name of a format",
    ("next", "diffusion", "100"): "the end of the axis",
    ("real", "travels", "23"): "the name of a row, one for each layer",
    ("real", "examples", "10"): "how many are asked",
    ("tokenization", "compare", "15"): "a tick of the axis of its second question",
}
NUMBER = re.compile(r"\d(?:[\d,]*\d)?(?:\.\d+)?")


def tells(question: Question) -> list[str]:
    """The numbers of two figures or more that only the right one of the answers has."""
    others = " ".join(
        [question.text, *(a for at, a in enumerate(question.answers) if at != question.right)]
    )
    known = set(NUMBER.findall(unmarked(others)))
    numbers = NUMBER.findall(unmarked(question.answers[question.right]))
    return [one for one in numbers if one not in known and sum(map(str.isdigit, one)) > 1]


@pytest.mark.parametrize(("name", "part"), CHAPTERS)
def test_what_a_question_asks_for_is_not_on_the_page_before_an_answer_which_opens_the_end(
    name, part
):
    seen = answered(name, part)
    for question in seen.questions:
        for number in tells(question):
            if (name, part, number) in ELSEWHERE:
                continue
            whole = re.compile(rf"(?<![\d.,]){re.escape(number)}(?![\d]|[.,]\d)")
            found = [text for text in seen.shown if whole.search(text)]
            assert found == [], f"{question.text} {question.answers[question.right]}"
    assert not seen.waits
    assert "<strong>Try:</strong>" in seen.prose
