"""Questions about letters: their answers by other means, and tests that the training never asks."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmviz.corpus.letter_questions import (
    ALPHABET,
    COUNT,
    KNOWN,
    LENGTH,
    NEW,
    OTHERS,
    PAIRS,
    READ,
    REVERSE,
    RHYME,
    SPELLINGS,
    SUM,
    TASKS,
    TESTS,
    UNASKED,
    UNKNOWN,
    YES,
    Quiz,
    cut,
    tokens_of,
)


@given(st.text(max_size=12), st.sampled_from(SPELLINGS))
def test_a_spelling_keeps_all_letters(text, way):
    parts = cut(text, way)
    assert "".join(parts) == text and all(parts)
    assert len(parts) == {"whole": min(1, len(text)), "pieces": min(2, len(text))}.get(
        way, len(text)
    )


@pytest.mark.parametrize("seed", [0, 2])
@pytest.mark.parametrize("task", TASKS)
def test_answers_are_right_and_no_test_was_in_the_training(task, seed):
    quiz = Quiz(task, seed)
    known, new = map(set, quiz.words)
    assert not known & new
    asked = {(frozenset(one.about), one.asks) for one in quiz.training}
    for test in TESTS:
        questions = quiz.test(test)
        assert len({(one.about, one.asks) for one in questions}) == len(questions)
        assert bool(questions) == ((task, test) != (REVERSE, UNASKED))
        for one in questions:
            assert set(one.about) <= (new if test == UNKNOWN else known)
            assert ((frozenset(one.about), one.asks) in asked) == (test == READ)
            assert one.answer == _answer(task, one)


def _answer(task, question):
    """The answer by other means than those of the module."""
    first, last = question.about[0], question.about[-1]
    if task == COUNT:
        return (str(Counter(first)[question.asks]),)
    if task == REVERSE:
        return tuple(first[place] for place in range(LENGTH - 1, -1, -1))
    if task == RHYME:
        return ("yes" if first.endswith(last[LENGTH - 2 :]) else "no",)
    carried, digits = 0, []
    for place in (2, 1, 0):
        carried, digit = divmod(int(first[place]) + int(last[place]) + carried, 10)
        digits.append(str(digit))
    return tuple([str(carried), *reversed(digits)])


def test_there_are_as_many_as_the_chapter_says():
    assert [len(part) for part in Quiz(COUNT).words] == [KNOWN, NEW]
    assert len(Quiz(COUNT).training) == KNOWN * (len(ALPHABET) - 1)
    assert len(Quiz(COUNT).test(UNASKED)) == KNOWN
    for task in (RHYME, SUM):
        quiz = Quiz(task)
        assert [len(quiz.test(test)) for test in TESTS] == [PAIRS, OTHERS, OTHERS]
    rhyming = [one.answer == (YES,) for one in Quiz(RHYME).test(UNASKED)]
    assert sum(rhyming) == OTHERS / 2
    lengths = {way: len(tokens_of(Quiz(SUM).training[0], way)) for way in SPELLINGS}
    assert lengths == {"whole": 3, "pieces": 5, "letters": 7}


def test_a_seed_draws_another_quiz_and_an_unknown_name_is_refused():
    assert Quiz(RHYME, 0).training == Quiz(RHYME, 0).training != Quiz(RHYME, 1).training
    with pytest.raises(ValueError, match="the task must be one of"):
        Quiz("spell")
    with pytest.raises(ValueError, match="the spelling must be one of"):
        cut("word", "backwards")
