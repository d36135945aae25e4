"""Models that answer questions about letters: what they are trained on, and what was recorded."""

from __future__ import annotations

import math

import pytest
import torch

from experiments.letters import asked_in, guess_share, right_answers
from llmviz.corpus.letter_questions import (
    ALPHABET,
    COUNT,
    LENGTH,
    LETTERS,
    PIECES,
    READ,
    REVERSE,
    SPELLINGS,
    SUM,
    TASKS,
    TESTS,
    UNASKED,
    UNKNOWN,
    WHOLE,
    Quiz,
    count_question,
    tokens_of,
)
from llmviz.course.lessons.errors.letters.model import (
    SEEDS,
    LetterData,
    Score,
    asked_before,
    counted,
    counting,
    recorded,
    train_one,
)
from llmviz.nn.loss import IGNORED


@pytest.mark.parametrize("way", SPELLINGS)
@pytest.mark.parametrize("task", [COUNT, SUM])
def test_each_question_is_trained_once_a_pass_and_only_its_answer_counts(task, way):
    data = LetterData(Quiz(task), way)
    tokens = {place: token for token, place in data.places.items()}
    met = []
    for step in range(1, len(data.rows) // 250 + 1):
        ids, targets = data.batch(step, 250)
        scored = targets != IGNORED
        assert (scored.sum(1) == data.answer).all() and scored[:, -data.answer :].all()
        assert data.count((ids, targets)) == int(scored.sum())
        met += [tuple(row) for row in torch.cat([ids, targets[:, -1:]], 1).tolist()]
    assert sorted(met) == sorted(map(tuple, data.rows.tolist()))
    question = Quiz(task).training[5]
    row = [tokens[int(place)] for place in data.rows[5]]
    assert row == [*tokens_of(question, way), *question.answer]


def test_letters_are_enough_for_words_that_were_never_read():
    """A short training, against always giving the most frequent answer."""
    quiz = Quiz(COUNT, 7)
    model, data = train_one(quiz, LETTERS, steps=350)
    questions = asked_in(quiz, UNKNOWN)[:600]
    right = right_answers(model, data.places, questions, LETTERS)
    assert right.mean() > 0.8 > 1.5 * guess_share(quiz, questions)
    one_by_one = []
    for question in questions[:40]:
        ids = torch.tensor([[data.places[token] for token in tokens_of(question, LETTERS)]])
        with torch.inference_mode():
            best = int(model(ids)[0][0, -1].argmax())
        one_by_one.append(best == data.places[question.answer[0]])
    assert one_by_one == right[:40].tolist()


@pytest.mark.parametrize("way", SPELLINGS)
def test_the_bundled_models_are_right_as_often_as_recorded(way):
    model, places = counting(way)
    quiz = Quiz(COUNT, SEEDS[0])
    for test, score in recorded().scores[COUNT][way].items():
        questions = asked_in(quiz, test)
        assert score.asked == len(questions)
        found = right_answers(model, places, questions, way).mean()
        assert found == pytest.approx(score.right[0], abs=2 / len(questions))
        assert guess_share(quiz, questions) == pytest.approx(score.guess[0])
    assert sum(one.numel() for one in model.parameters()) == recorded().parameters[COUNT][way]


def test_what_was_recorded_has_every_test_with_three_seeds():
    known = recorded()
    for task in TASKS:
        for way in SPELLINGS:
            tests = known.scores[task][way]
            assert [*tests] == [one for one in TESTS if (task, one) != (REVERSE, UNASKED)]
            for score in tests.values():
                assert len(score.right) == len(score.guess) == len(SEEDS)
                assert all(0 <= one <= 1 for one in (*score.right, *score.guess))


def test_a_score_is_compared_by_all_of_its_models():
    one, other = Score(10, (0.6, 0.7, 0.8), (0, 0, 0)), Score(10, (0.5, 0.55, 0.6), (0, 0, 0))
    assert not one.above(other) and not other.above(one)
    assert one.above(Score(10, (0.5, 0.55, 0.59), (0, 0, 0)))
    assert one.mean == pytest.approx(0.7)
    assert one.error == pytest.approx(0.1 / math.sqrt(3))


def test_a_live_answer_is_the_models_own_and_bad_input_is_said():
    known, new = Quiz(COUNT, SEEDS[0]).words
    for word, way in ((known[0], WHOLE), (new[0], WHOLE), ("abcdef", LETTERS), ("fedcba", PIECES)):
        model, places = counting(way)
        ids = [places[token] for token in tokens_of(count_question(word, "b"), way)]
        with torch.inference_mode():
            p = model(torch.tensor([ids]))[0][0, -1].double().softmax(-1).numpy()
        found = counted(way, word, "b")
        assert found == pytest.approx([p[places[str(n)]] for n in range(LENGTH + 1)])
        assert found.sum() <= 1 + 1e-9
    strange = next(
        word for word in ("abcabc", "fffaaa", "abcdef", "ffffff") if word not in {*known, *new}
    )
    for word, letter, said in (
        ("", "a", "the word must be 6 letters"),
        ("abcde", "a", "the word must be 6 letters"),
        ("abcdeg", "a", "the word must be 6 letters"),
        ("abcdef", "g", "the letter must be one of"),
        ("abcdef", "", "the letter must be one of"),
        (strange, "a", "is no token of this model"),
    ):
        with pytest.raises(ValueError, match=said):
            counted(WHOLE, word, letter)
    assert asked_before(strange, "a") is None
    assert asked_before(new[0], "a") == UNKNOWN
    kinds = [asked_before(known[0], letter) for letter in ALPHABET]
    assert sorted(kinds) == sorted([READ] * 5 + [UNASKED])
