"""The graded questions of the lesson on embeddings at their edges: one right answer, or none asked.

Tables are random, with rows that are equal, opposite, at right angles or zero; what is right is
worked out anew from the table, not taken from the question.
"""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as some

from llmviz.course.lessons.embeddings import sources
from llmviz.course.lessons.embeddings.lookup import chapter as lookup
from llmviz.course.lessons.embeddings.maps import chapter
from llmviz.course.lessons.embeddings.maps import words as map_words
from llmviz.course.lessons.embeddings.positions import chapter as shuffle
from llmviz.course.lessons.embeddings.similarity import chapter as alike
from llmviz.course.lessons.embeddings.similarity import neighbours
from llmviz.course.lessons.embeddings.similarity import word_sums as sums
from llmviz.course.lessons.embeddings.word2vec import film
from llmviz.course.lessons.embeddings.word_maps import Judged
from llmviz.course.lessons.transformer.context import chapter as context
from llmviz.course.lessons.transformer.context import words as context_words
from llmviz.course.lessons.transformer.context.model import Move, Place, largest_move, two_paths
from llmviz.course.ui.common import signed
from llmviz.models import GPT, GPTConfig
from llmviz.models.residual import read_stream
from llmviz.similarity import VectorTable, measure_all, pairwise
from llmviz.similarity.trust import neighbour_ids, neighbour_ranks
from llmviz.tokenizers import WordTokenizer
from tests.random_weights import with_random_weights

TABLES = range(40)


def table_of(seed: int) -> VectorTable:
    """A table of some words, at its edges every other time."""
    draw = np.random.default_rng(seed)
    text = " ".join(f"{first}{last}" for first in "abcde" for last in "opqr")
    tokenizer = WordTokenizer.train(text)
    size, width = tokenizer.vocab_size, int(draw.choice([1, 2, 8, 24]))
    matrix = draw.normal(size=(size, width))
    if seed % 4 == 1:  # few directions, so that many are equal, opposite or at right angles
        matrix = draw.integers(-1, 2, size=(size, width))
    if seed % 4 == 2:  # one direction for nearly all
        matrix = np.ones((size, width)) + 0.01 * matrix
    if seed % 4 == 3:
        matrix[draw.integers(0, size, 6)] = 0
    return VectorTable(f"t{seed}", matrix.astype(np.float32), tokenizer)


def rows_of(table: VectorTable) -> list[int]:
    """Rows that have a cosine."""
    return [row for row in range(table.size) if table.matrix[row].any()]


def written(text: str) -> float:
    """The first number with two decimals in a text."""
    return float(re.search(r"−?\d+\.\d\d", text)[0].replace("−", "-"))


def test_the_place_of_the_next_id_is_counted_among_all_rows():
    for seed in TABLES:
        table = table_of(seed)
        for row in rows_of(table)[:5]:
            alike = measure_all(table.exact, table.exact[row])
            beside = row + 1 if row + 1 < table.size else row - 1
            if not np.isfinite(alike[beside]):
                continue
            told = lookup.said_of_ids(table, row, np.arange(table.size), alike, 0)
            nearer = sum(alike[i] > alike[beside] for i in range(table.size) if i != row)
            assert f"Of all {np.isfinite(alike).sum() - 1:,} other tokens" in told
            assert f"is number {nearer + 1:,} by likeness." in told


def test_the_nearest_row_is_the_only_nearest_answer():
    asked = 0
    for seed in TABLES:
        table = table_of(seed)
        for row in rows_of(table):
            alike = measure_all(table.exact, table.exact[row])
            question = lookup.likest_question(table, row, alike)
            if question is None:
                continue
            asked += 1
            offered = [int(re.search(r"id (\d+)", answer)[1]) for answer in question.answers]
            cosines = [signed(alike[i]) for i in offered]
            best = offered[question.right]
            assert alike[best] == np.nanmax(np.delete(alike, row))
            assert cosines.count(cosines[question.right]) == 1
            assert all(
                cosine in reason for cosine, reason in zip(cosines, question.reasons, strict=True)
            )
            assert not any(re.search(r"\b1 lines", reason) for reason in question.reasons)
    assert asked > 100


def test_how_many_are_above_a_half_says_fewer_and_more_where_it_is_so():
    asked, many = 0, 0
    for seed in TABLES:
        table = table_of(seed)
        for row in rows_of(table):
            alike = np.delete(measure_all(table.exact, table.exact[row]), row)
            alike = alike[np.isfinite(alike)]
            question = neighbours.many_question(alike, "w")
            if question is None:
                continue
            asked += 1
            right = sum(value > 0.5 for value in alike.tolist())
            answers = [int(answer.replace(",", "")) for answer in question.answers]
            assert answers.count(right) == 1 and answers[question.right] == right
            many += right > len(alike) // 4
            for answer, reason in zip(answers, question.reasons, strict=True):
                assert f"{right:,}" in reason
                assert ("fewer" in reason) == (answer > right)
                assert ("There are more" in reason) == (answer < right)
    assert asked > 100 and many > 10


@given(some.floats(0, 1), some.floats(0, 1))
def test_what_the_sum_is_worth_has_one_right_answer(right, plain):
    asked = sums.worth_question(sums.Worth("pairs", 870, right, plain))
    if asked is None:
        return
    values = [value for (value,) in asked.values]
    assert values[asked.right] == plain
    assert all(abs(value - plain) >= sums.APART for value in values if value != plain)
    assert ("anyway" in asked.reasons[asked.right]) == (plain > right / 2)


def test_kept_neighbours_are_asked_where_they_are_one_set():
    asked = 0
    for seed in range(30):
        draw = np.random.default_rng(seed)
        n, c, k = 40, int(draw.choice([2, 8, 24])), int(draw.choice([3, 4, 6, 10]))
        vectors = draw.normal(size=(n, c))
        if seed % 3 == 1:
            vectors = draw.integers(0, 3, size=(n, c)).astype(float)
        points = vectors[:, :2] if seed % 2 else draw.normal(size=(n, 2))
        ranks = neighbour_ranks(vectors)
        near, true = neighbour_ids(points, k), neighbour_ids(vectors, k)
        kept = (np.take_along_axis(ranks, near, axis=1) <= k).sum(axis=1)
        judged = Judged(points, near, true, np.ones(n), kept)
        here = type("Ground", (), {"vectors": vectors, "labels": [str(i) for i in range(n)]})()
        for i in range(n):
            question = chapter.kept_question(here, judged, i, "tsne")
            if question is None:
                continue
            asked += 1
            sets = []
            for rows in (vectors, points):
                far = np.linalg.norm(rows - rows[i], axis=1)
                far[i] = np.inf
                order = np.argsort(far)
                assert far[order[k]] > far[order[k - 1]]
                sets.append(set(order[:k].tolist()))
            right = len(sets[0] & sets[1])
            numbers = [int(answer.split()[0]) for answer in question.answers]
            assert numbers.count(right) == 1 and numbers[question.right] == right
            for number, reason in zip(numbers, question.reasons, strict=True):
                assert ("fewer" in reason) == (number > right)
                assert ("more" in reason) == (number < right)
                if "no room" in reason:
                    assert c > 2
    assert asked > 100
    assert "{n}" in map_words.ask_more and "{n}" in map_words.ask_fewer


def test_how_much_another_order_moves_has_one_right_answer():
    for with_ in np.linspace(0, 1, 101):
        question = shuffle.shuffle_question(float(with_), 0.0)
        answers = [
            0 if answer == "nothing" else float(answer.rstrip(" %")) for answer in question.answers
        ]
        right = answers[question.right]
        assert right == pytest.approx(100 * with_, abs=0.5)
        assert answers == sorted(answers) and min(np.diff(answers)) >= 15
        for answer, reason in zip(answers, question.reasons, strict=True):
            assert reason.startswith("It is") == (answer == right)
            assert reason.startswith("More") == (answer < right)


def test_the_film_asks_only_for_words_that_it_follows_and_that_stand_out():
    draw = np.random.default_rng(0)
    text_words = [f"w{i}" for i in range(60)]
    documents, asked = [], 0
    tokenizer = WordTokenizer.train(" ".join(text_words))
    for _ in range(500):
        documents.append([int(i) for i in draw.integers(0, 60, 8)])
    text = type("Text", (), {"tokenizer": tokenizer, "documents": documents})()
    names = [word for word in tokenizer.vocabulary if word.startswith("w")][:50]
    for seed in range(40):
        vectors = np.random.default_rng(seed).normal(size=(2, len(names), 8))
        if seed % 2:
            vectors = np.round(vectors)
            vectors[~vectors.any(axis=2)] = 1
        shown = type("Shown", (), {"words": names, "vectors": vectors})()
        for i in range(len(names)):
            question = film.likest_question(shown, text, i, 2)
            if question is None:
                continue
            asked += 1
            cosines = pairwise(vectors[-1])[i]
            answers = [cosines[names.index(answer)] for answer in question.answers]
            assert int(np.argmax(answers)) == question.right
            assert answers[question.right] == pytest.approx(max(np.delete(cosines, i)))
            assert [signed(a) for a in answers].count(signed(max(answers))) == 1
            near = question.answers[question.right]
            at = [
                (d[max(0, n - 2) : n + 3])
                for d in documents
                for n, token in enumerate(d)
                if tokenizer.vocabulary[token] == names[i]
            ]
            met = sum(tokenizer.vocabulary.index(near) in around for around in at)
            said = "it never stands" if not met else f"at only {met} of {len(at)} "
            assert said in question.reasons[question.right] or (
                met >= film.RARELY * len(at) > 0
                and f"at {met} of {len(at)} " in question.reasons[question.right]
            )
    assert asked > 100


def small_gpt(kind: str, seed: int) -> GPT:
    torch.manual_seed(seed)
    options = {
        "vocab_size": table_of(0).size,
        "context_length": 12,
        "n_layer": 3,
        "n_head": 2,
        "n_embd": 12,
    }
    model = GPT(GPTConfig(**options, positions=kind)).eval().requires_grad_(False)
    return with_random_weights(model, 0.4)


@pytest.mark.parametrize("kind", ["learned", "sinusoidal", "rotary", "none"])
def test_a_place_is_a_step_only_where_its_vector_is_added(kind):
    model, table = small_gpt(kind, 0), table_of(0)
    one, two = (Place(i, at, read_stream(model, i)) for i, at in (((1, 5, 3), 2), ((2, 3, 4), 1)))
    paths = two_paths(model, one, two)
    added = kind in ("learned", "sinusoidal")
    assert ("position" in [step.kind for step in paths.steps]) == added
    assert len(paths.steps) == len(paths.a) == 1 + added + 2 * 3
    text = context.what_happens(table, paths, one, two)
    assert (context_words.say_nothing_added in text) != added


def test_the_end_of_in_context_is_true_of_equal_and_of_other_sentences():
    model = small_gpt("learned", 0)
    one, two = (Place(i, 1, read_stream(model, i)) for i in ((1, 5, 3), (2, 3, 4)))
    assert "nothing came between" in context.end_change(two_paths(model, one, one), 3)
    paths = two_paths(model, one, two)
    told = context.end_change(paths, 3)
    lowest = paths.steps[int(paths.cosines.argmin())]
    stage = context_words.stage_names[lowest.kind].format(layer=lowest.layer)
    low, end = (signed(float(value)) for value in (paths.cosines.min(), paths.cosines[-1]))
    assert (stage in told) == (low != end)
    assert low in told


def test_the_same_place_may_change_the_cosine_of_two_tokens():
    model, table = small_gpt("learned", 0), table_of(0)
    one, two = (Place(i, 1, read_stream(model, i)) for i in ((1, 5, 3), (2, 3, 4)))
    paths = two_paths(model, one, two)
    before, after = (signed(float(value)) for value in paths.cosines[:2])
    assert before != after
    text = context.what_happens(table, paths, one, two)
    assert f"likeness is {after}." in text and "nothing" not in text


def test_a_fall_below_a_hundredth_is_not_denied():
    small = Move(0, 0, 0.504, 0.501, 1.0, ((1, 0.5), (2, 0.5)))
    text = context.what_moved(table_of(0), small)
    assert "No attention step did, by 0.01 or more." in text


def test_furthest_down_is_said_only_where_the_cosine_went_down():
    table, went_down = table_of(0), {True: 0, False: 0}
    asked = 0
    for seed in range(60):
        model = small_gpt(("learned", "rotary", "none")[seed % 3], seed)
        texts = np.random.default_rng(seed).integers(0, table.size, (2, 5))
        if seed % 5 == 0:
            texts[1] = texts[0]  # one text twice: no step parts anything
        one, two = (Place(tuple(ids), 4, read_stream(model, ids)) for ids in texts.tolist())
        paths = two_paths(model, one, two)
        falls = [
            paths.cosines[i - 1] - paths.cosines[i]
            for i, step in enumerate(paths.steps)
            if step.kind == "attention"
        ]
        text = context.what_moved(table, largest_move(paths, one, two))
        down = "sets them furthest apart" in text
        went_down[down] += 1
        if down:
            assert max(falls) > 0
        else:
            assert max(falls) < 0.01 and "by 0.01 or more" in text
        assert (context_words.heads_alike in text) == (seed % 5 == 0)
        question = context.path_question(paths)
        if question is not None:
            asked += 1
            told = context.known_steps(paths)
            assert question.values[question.right] == tuple(paths.cosines[told:])
            for line in question.values[: question.right]:
                gap = np.abs(np.array(line) - paths.cosines[told:]).mean()
                assert gap >= context.APART
    assert min(went_down.values()) > 3 and asked > 20


def test_capitals_are_compared_where_a_table_has_them_all():
    for name in ("tiny-world-word2vec", "words-gpt"):  # with Tokyo and Rome, without London
        assert not alike.sums_of_capitals(sources.table(name))
