"""Models and letters: what they are trained on, other tokens for the same letters, a probe."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from experiments.letters import asked_in, guess_share, right_answers
from experiments.token_letters import asked_words, probe_letters, token_counts, whole_words
from llmviz.corpus import generate
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
from llmviz.corpus.words import CATEGORIES, words
from llmviz.course.lessons.errors import token_letters
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
from llmviz.pretrained import load_bundled


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


@pytest.mark.slow
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


@pytest.fixture(scope="module")
def story_model():
    return load_bundled(token_letters.MODEL)[:2]


@pytest.mark.parametrize("word", ["garage", "a", "Bucharest", "old house", "नमस्ते", "🚀"])
def test_each_spelling_is_the_same_text(story_model, word):
    tokenizer = story_model[1]
    for way in SPELLINGS:
        ids = token_letters.spelled(tokenizer, word, way)
        assert b"".join(map(tokenizer.token_bytes, ids)).decode() == f" {word}"
    assert token_letters.spelled(tokenizer, word, WHOLE) == tokenizer.encode(f" {word}")
    for wrong in (("", WHOLE), (word, "backwards")):
        with pytest.raises(ValueError, match="a word and one of"):
            token_letters.spelled(tokenizer, *wrong)


def test_the_answer_has_the_probability_of_its_tokens_one_by_one(story_model):
    model, tokenizer = story_model
    for way in (WHOLE, PIECES):
        found = token_letters.recall(model, tokenizer, "Bucharest", way)
        ids = [
            *tokenizer.start,
            *tokenizer.encode(token_letters.BEFORE),
            *token_letters.spelled(tokenizer, "Bucharest", way),
        ]
        ids += tokenizer.encode(token_letters.AFTER)
        chance = 1.0
        for number, token in enumerate(tokenizer.encode(" Bucharest")):
            with torch.inference_mode():
                logits = model(torch.tensor([ids]))[0][0, -1].double()
            if number == 0:
                assert found.guess == int(logits.argmax())
            chance *= float(logits.softmax(-1)[token])
            ids.append(token)
        assert found.probability == pytest.approx(chance, rel=1e-3)
    with pytest.raises(ValueError, match="too long"):
        token_letters.recall(model, tokenizer, "x" * 400, WHOLE)


def test_the_recorded_counts_are_those_of_the_stories(story_model):
    known, tokenizer = token_letters.recorded(), story_model[1]
    assert len(known.counts) == tokenizer.vocab_size
    assert known.counts[tokenizer.end] == token_letters.COUNTED
    texts = [story.text for story in generate(40, seed=20_000)]
    counts = token_counts(tokenizer, texts)
    assert counts.sum() == sum(len(tokenizer.encode(text)) + 1 for text in texts)
    assert (counts <= np.array(known.counts)).all(), "they are the first of those stories"


def test_most_tokens_that_never_came_are_parts_of_longer_ones(story_model):
    known, tokenizer = token_letters.recorded(), story_model[1]
    never = [token for token, count in enumerate(known.counts) if not count]
    parts = {part for pair in tokenizer.merges for part in pair}
    assert sum(token in parts for token in never) > len(never) / 2


def test_no_word_of_the_grammar_has_a_token_that_never_came(story_model):
    counts = token_letters.recorded().counts
    for category in CATEGORIES:
        for word in words(category):
            assert all(counts[token] for token in story_model[1].encode(f" {word}")), word


def test_rows_of_tokens_that_never_came_are_long_and_alike(story_model):
    """What the chapter says of them, and its reason: the head is the same table."""
    model = story_model[0]
    assert model.config.tied_head
    table, counts = model.token.weight.detach().numpy(), np.array(token_letters.recorded().counts)
    norms = np.linalg.norm(table, axis=1)
    never = counts == 0
    assert norms[never].mean() > 1.5 * norms[~never].mean()
    alike = np.corrcoef(table[never][:50])
    assert alike.min() > 0.9
    token = int(np.flatnonzero(never)[-1])
    row = token_letters.row_of(table, token)
    cosines = [
        float(table[other] @ table[token] / (norms[other] * norms[token]))
        for other, _ in row.nearest
    ]
    assert [cosine for _, cosine in row.nearest] == pytest.approx(cosines, abs=1e-5)
    assert token not in [other for other, _ in row.nearest]


def test_tokens_that_never_came_are_found_by_their_rows(story_model):
    counts = np.array(token_letters.recorded().counts)
    never = {token for token, count in enumerate(counts) if count == 0}
    table = story_model[0].token.weight.detach().numpy()
    norms = np.linalg.norm(table, axis=1)
    directions = table / norms[:, None]
    mean = directions[np.argsort(-norms)[:10]].mean(0)  # of the longest rows
    for telling in (norms, directions @ mean):
        found = set(np.argsort(-telling)[: len(never)].tolist())
        assert len(never & found) > 0.9 * len(never)


def test_a_token_that_is_met_changes_what_follows_and_not_what_is_asked(story_model):
    model, tokenizer = story_model
    place = tokenizer.encode(" abbey")
    assert len(place) == 1
    met = token_letters.meet(model, tokenizer, place[0])
    assert met.with_it == pytest.approx(met.without), "the known place is the first of the list"
    assert sum(p for _, p in met.best) <= 1 + 1e-9
    assert [p for _, p in met.best] == sorted((p for _, p in met.best), reverse=True)


def test_a_probe_finds_a_letter_that_is_there_and_none_that_is_not():
    chance = np.random.default_rng(0)
    letters = "abc"
    texts = {i: letters[i % 3] + "xyz"[i // 3 % 3] for i in range(300)}
    table = chance.normal(size=(300, 8))
    table[:, 0] += [4 * letters.index(text[0]) for text in texts.values()]
    assert probe_letters(table, texts, "first").accuracy > 0.85
    found = probe_letters(table, texts, "last")
    assert found.accuracy < 0.5 and found.guess == pytest.approx(1 / 3, abs=0.02)
    with pytest.raises(ValueError, match="kind must be"):
        probe_letters(table, texts, "colour")


def test_probes_ask_about_words_that_were_read(story_model):
    counts = np.array(token_letters.recorded().counts)
    texts = whole_words(story_model[1], counts)
    assert all(counts[token] and text.isalpha() and text.islower() for token, text in texts.items())
    behind, elsewhere = (asked_words(texts, kind) for kind in list(token_letters.PROBES)[:2])
    assert not behind.keys() & elsewhere.keys()
    assert behind.keys() | elsewhere.keys() == texts.keys()
    for probe in token_letters.recorded().probes.values():
        assert probe.error >= 0 and math.isfinite(probe.accuracy) and 0 < probe.guess < 1
