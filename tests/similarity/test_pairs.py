"""Pairs of vectors in their plane, rounded lengths, and analogies scored all at once."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from llmviz import similarity as sim
from llmviz.corpus.probes import RELATIONS, analogies
from llmviz.pretrained import bundled

V1, V2 = [0.2, 0.4, 0.9], [0.1, 0.5, 0.8]
VECTORS = arrays(np.float64, 4, elements=st.floats(-100, 100)).filter(
    lambda v: np.abs(v).max() > 0.1
)


@given(VECTORS, VECTORS)
def test_plane_keeps_lengths_angle_and_distance(a, b):
    x, y = sim.in_plane(a, b)
    assert np.linalg.norm(x) == pytest.approx(np.linalg.norm(a))
    assert np.linalg.norm(y) == pytest.approx(np.linalg.norm(b))
    assert x @ y == pytest.approx(a @ b, abs=1e-6 * np.linalg.norm(a) * np.linalg.norm(b))
    assert x[1] == 0 and y[1] >= 0


def test_measure_of_all_rows_is_that_of_each():
    rows = np.random.default_rng(0).normal(size=(20, 6))
    rows[3] = 0
    for metric, one in (("cosine", sim.cosine), ("euclidean", sim.euclidean), ("dot", sim.dot)):
        values = sim.measure_all(rows, rows[0], metric)
        for i, row in enumerate(rows):
            if i == 3 and metric == "cosine":
                assert math.isnan(values[i])
            else:
                assert values[i] == pytest.approx(one(row, rows[0]), abs=1e-12)
    with pytest.raises(ValueError, match="zero vector"):
        sim.measure_all(rows, rows[3])
    with pytest.raises(ValueError, match="equal length"):
        sim.measure_all(rows, rows[0][:3])


def test_cosines_row_by_row():
    a, b = np.random.default_rng(1).normal(size=(2, 7, 5))
    expected = [sim.cosine(x, y) for x, y in zip(a, b, strict=True)]
    np.testing.assert_allclose(sim.row_cosines(a, b), expected)
    with pytest.raises(ValueError, match="equal shapes"):
        sim.row_cosines(a, b[:3])
    every = sim.pairwise(a, other=b)
    ids = [0, 1, 2, 3, 4, 5, 5]
    other = [[i != j for j in ids] for i in ids]
    assert sim.mean_cosine_of_others(a, ids, b, ids) == pytest.approx(every[other].mean())
    assert math.isnan(sim.mean_cosine_of_others(a[:1], [4], b[:1], [4]))


def test_crowd_is_what_points_one_way():
    chance = np.random.default_rng(2)
    rows = chance.normal(size=(200, 16))
    rows[50:130] = rows[50] + 0.02 * chance.normal(size=(80, 16))
    found = sim.crowd(rows, sim.measure_all(rows, rows[0]))
    assert found.tolist() == list(range(50, 130))


@pytest.mark.parametrize("exclude", [True, False])
def test_scored_analogies_are_the_single_ones(exclude):
    rows = np.random.default_rng(3).normal(size=(40, 6))
    rows[7] = 0  # never the nearest
    asked = [(0, 1, 2, 3), (5, 4, 9, 8), (11, 12, 13, 14), (20, 21, 22, 39)]
    scores = sim.score_analogies(rows, asked, exclude_inputs=exclude)
    for (a, b, c, d), rank, best in zip(asked, scores.ranks, scores.best, strict=True):
        every = sim.analogy(rows, b, a, c, 36, exclude_inputs=exclude)
        assert best == every.ids[0]
        assert every.ids[rank - 1] == d
    assert scores.right == np.mean(scores.ranks == 1)
    plain = sim.score_analogies(rows, asked, exclude_inputs=exclude, step=False)
    for (a, b, c, _), best in zip(asked, plain.best, strict=True):
        assert best == sim.nearest(rows, rows[c], 1, exclude=[a, b, c] if exclude else []).ids[0]
    with pytest.raises(ValueError, match="at least one"):
        sim.score_analogies(rows, [])


@pytest.mark.parametrize("name", ["tiny-world-gpt", "tiny-world-word2vec"])
def test_known_pairs_of_tiny_world_come_out(name):
    if name not in bundled():
        pytest.skip(f"{name} is not in this copy")
    from llmviz.course.lessons.embeddings.sums.model import questions
    from llmviz.interpretability.vector_tables import load_table

    vectors = load_table(name)
    right = {
        relation: sim.score_analogies(vectors.matrix, questions(vectors, relation)).right
        for relation in RELATIONS
        if len(questions(vectors, relation)) > 0.5 * len(analogies(relation))
    }
    assert "pairs" in right and min(right.values()) >= 0.9, right
