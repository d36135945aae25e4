"""Exercises among the batches of a text."""

import dataclasses
import random
from itertools import groupby

import pytest
import torch

from llmviz.corpus import generate
from llmviz.corpus.detail_exercises import holds_details
from llmviz.corpus.exercises import asked_often, holds_two_things
from llmviz.corpus.exercises import exercise as owner_exercise
from llmviz.corpus.words import words
from llmviz.models import build
from llmviz.tokenizers import train_tokenizer
from llmviz.training.config import BOTH, DETAILS, OWNERS, Plan, TrainConfig
from llmviz.training.data import IGNORED, TrainData
from llmviz.training.exercise_data import ExerciseData
from llmviz.training.forks import fork_plan
from llmviz.training.loop import train
from llmviz.training.plan import prepare

CONTEXT = 96


@pytest.fixture(scope="module")
def documents():
    return [one.text for one in generate(count=300, seed=5)]


@pytest.fixture(scope="module")
def practice(documents):
    tokenizer = train_tokenizer("word", documents)
    text = TrainData.from_documents(documents[20:], documents[:20], tokenizer, CONTEXT, seed=7)
    return ExerciseData.of(text, documents[20:], tokenizer, 0.5)


def is_exercise(targets):
    return bool((targets != IGNORED).sum() < 0.6 * targets.numel())


def test_a_batch_depends_on_the_seed_and_the_step_alone(practice):
    for step in (1, 2, 9, 4):
        for one, other in zip(practice.batch(step, 6), practice.batch(step, 6), strict=True):
            assert torch.equal(one, other)
    other = dataclasses.replace(
        practice, text=dataclasses.replace(practice.text, seed=8, _cache={})
    )
    for step in range(1, 9):
        one, another = practice.batch(step, 6)[0], other.batch(step, 6)[0]
        assert one.shape != another.shape or not torch.equal(one, another)


def test_the_share_of_the_steps_is_exercises_and_the_others_are_the_text(practice):
    kinds = [is_exercise(practice.batch(step, 4)[1]) for step in range(1, 201)]
    assert 75 <= sum(kinds) <= 125  # 100 expected; seven in two hundred is one deviation
    for step, exercise in enumerate(kinds, start=1):
        if not exercise:
            assert torch.equal(practice.batch(step, 4)[1], practice.text.batch(step, 4)[1])


def test_only_names_that_answer_a_question_are_scored(practice):
    names = {practice.tokenizer.encode(f" {name}")[0] for name in words("names")}
    seen = 0
    for step in range(1, 60):
        inputs, targets = practice.batch(step, 4)
        if not is_exercise(targets):
            continue
        assert inputs.shape == targets.shape and inputs.shape[1] <= CONTEXT
        scored = targets[targets != IGNORED]
        assert set(scored.tolist()) <= names
        where = (targets[:, :-1] != IGNORED).nonzero().T
        assert torch.equal(inputs[where[0], where[1] + 1], targets[where[0], where[1]])
        assert practice.count((inputs, targets)) == len(scored)
        seen += len(scored)
    assert seen > 100


@pytest.mark.parametrize(("asked", "fits"), [(DETAILS, holds_details), (BOTH, holds_two_things)])
def test_details_are_asked_of_stories_that_hold_them(practice, documents, asked, fits):
    details = ExerciseData.of(practice.text, documents[20:], practice.tokenizer, 0.5, asked)
    assert details.stories == [one for one in documents[20:] if fits(one)]
    kinds = ("names", "sizes", "colours", "places")
    known = {
        practice.tokenizer.encode(f" {word}")[0]: kind for kind in kinds for word in words(kind)
    }
    seen = dict.fromkeys(kinds, 0)
    for step in range(1, 60):
        inputs, targets = details.batch(step, 4)
        assert all(map(torch.equal, (inputs, targets), details.batch(step, 4)))
        if is_exercise(targets):
            for token in targets[targets != IGNORED].tolist():
                seen[known[token]] += 1
        else:
            assert torch.equal(inputs, practice.text.batch(step, 4)[0])
    assert min(seen.values()) > 10


def test_owners_are_practised_as_ever(practice):
    """A recipe's second part was made with owners alone: its exercises stay what they were."""
    own = ExerciseData.of(practice.text, practice.stories, practice.tokenizer, 0.5)
    assert own == practice and own.practice == OWNERS
    for step in range(1, 40):
        chance = random.Random(f"{practice.text.seed} {step}")
        if chance.random() >= 0.5:
            continue
        answers = 0
        while not answers:  # in so short a context a batch may hold none
            if chance.random() < 0.55:
                made = [asked_often(chance.choice(own.stories), chance) for _ in range(3)]
            else:
                made = [owner_exercise(chance) for _ in range(3)]
            expected = own._tensors(made)
            answers = own.count(expected)
        assert all(map(torch.equal, own.batch(step, 3), expected))


def test_validation_and_sizes_are_those_of_the_text(practice):
    ours, text = practice.validation_batches(4, 3), practice.text.validation_batches(4, 3)
    for one, other in zip(ours, text, strict=True):
        assert all(map(torch.equal, one, other))
    assert (practice.vocab_size, practice.context_length, practice.windows) == (
        practice.text.vocab_size,
        CONTEXT,
        practice.text.windows,
    )


def test_exercises_need_stories_with_two_things(practice):
    with pytest.raises(ValueError, match="two things"):
        ExerciseData.of(practice.text, ["Anna found a lamp."], practice.tokenizer, 0.5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"exercises": 1.0}, "exercises must be at least 0 and below 1; got 1.0"),
        ({"exercises": -0.1}, "exercises must be"),
        ({"exercises": 0.5, "corpus": "names"}, "the corpus is tiny-world; got corpus=names"),
        ({"practice": "chess"}, "practice must be one of owners, details, both; got 'chess'"),
    ],
)
def test_a_plan_with_exercises_that_cannot_work_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        Plan(**options)


def test_word_vectors_have_no_exercises():
    plan = Plan(
        model="word2vec",
        model_options={"n_embd": 4},
        tokenizer="word",
        characters=50_000,
        exercises=0.5,
    )
    with pytest.raises(ValueError, match="no next word is predicted; got model=word2vec"):
        prepare(plan)


def test_a_fork_can_begin_to_practise():
    plan = Plan(train=TrainConfig(steps=20))
    changed = fork_plan(plan, 20, {"steps": 30, "exercises": 0.4})
    assert (changed.exercises, changed.train.steps) == (0.4, 30)
    assert changed.practice == OWNERS
    assert fork_plan(plan, 20, {"steps": 30, "practice": DETAILS}).practice == DETAILS
    with pytest.raises(ValueError, match="exercises must be"):
        fork_plan(plan, 20, {"steps": 30, "exercises": 2.0})


def test_letters_of_a_name_are_all_scored(documents):
    tokenizer = train_tokenizer("char", documents)
    text = TrainData.from_documents(documents[20:], documents[:20], tokenizer, 600)
    practice = ExerciseData.of(text, documents[20:], tokenizer, 0.9)
    batches = (practice.batch(step, 4)[1] for step in range(1, 20))
    targets = next(one for one in batches if is_exercise(one))
    found = 0
    for row in targets.tolist():
        groups = [list(ids) for scored, ids in groupby(row, lambda id: id != IGNORED) if scored]
        names = [tokenizer.decode(ids).strip() for ids in groups][:-1]  # the last may be cut
        assert set(names) <= set(words("names"))
        found += len(names)
    assert found > 3


@pytest.mark.parametrize(("context", "rows"), [(12, 1), (40, 1), (64, 4)])
def test_each_batch_has_something_to_score_however_short_the_context(documents, context, rows):
    tokenizer = train_tokenizer("word", documents)
    text = TrainData.from_documents(documents[20:], documents[:20], tokenizer, context)
    practice = ExerciseData.of(text, documents[20:], tokenizer, 0.9)
    assert all(practice.count(practice.batch(step, rows)) for step in range(1, 80))


def test_a_part_of_a_batch_without_answers_changes_nothing(documents):
    tokenizer = train_tokenizer("word", documents)
    text = TrainData.from_documents(documents[20:], documents[:20], tokenizer, 40)
    practice = ExerciseData.of(text, documents[20:], tokenizer, 0.9)
    batches = [practice.batch(step, 4)[1] for step in range(1, 21)]
    assert any(not (row != IGNORED).any() for batch in batches for row in batch)
    config = TrainConfig(steps=20, batch_size=4, device="cpu", dtype="float32", threads=1)
    runs = []
    for parts in (1, 4):
        torch.manual_seed(0)
        options = {"n_layer": 1, "n_head": 2, "n_embd": 16, "context_length": 40}
        model = build("gpt", {"vocab_size": tokenizer.vocab_size, **options})
        split = dataclasses.replace(config, accumulate=parts)
        runs.append([record.train_loss for record in train(model, practice, split)])
    assert runs[0] == pytest.approx(runs[1], rel=1e-4)
