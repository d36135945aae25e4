"""Distances, neighbours, pairs in their plane and analogies against NumPy and brute force."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from llmviz import similarity as sim
from llmviz.corpus.probes import RELATIONS, analogies
from llmviz.pretrained import bundled

V1, V2, V3 = [0.2, 0.4, 0.9], [0.1, 0.5, 0.8], [0.7, 0.2, 0.1]


def test_the_three_sentences():
    assert sim.cosine(V1, V2) == pytest.approx(0.9859, abs=5e-5)
    assert sim.cosine(V1, V3) == pytest.approx(0.4198, abs=5e-5)


def test_terms_add_up_to_the_result():
    terms = sim.cosine_terms(V1, V3)
    assert terms.products.sum() == pytest.approx(terms.dot)
    assert terms.norm_a**2 == pytest.approx(np.square(V1).sum())
    assert terms.cosine == pytest.approx(terms.dot / (terms.norm_a * terms.norm_b))
    distance = sim.euclidean_terms(V1, V3)
    np.testing.assert_allclose(distance.differences, np.subtract(V1, V3))
    assert distance.distance == pytest.approx(np.linalg.norm(np.subtract(V1, V3)))
    assert sim.dot(V1, V3) == pytest.approx(np.dot(V1, V3))


@given(arrays(np.float64, 5, elements=st.floats(-1e3, 1e3)).filter(lambda v: np.abs(v).max() > 0.1))
def test_cosine_with_itself_and_its_opposite(v):
    assert sim.cosine(v, v) == pytest.approx(1)
    assert sim.cosine(v, -3 * v) == pytest.approx(-1)
    assert sim.euclidean(v, v) == 0


@pytest.mark.parametrize("scale", [1e-100, 1e-3, 1e100])
def test_cosine_does_not_depend_on_length(scale):
    scaled = sim.cosine(np.multiply(V1, scale), np.multiply(V2, scale))
    assert scaled == pytest.approx(sim.cosine(V1, V2))


@pytest.mark.parametrize("metric", sim.METRICS)
def test_pairwise_equals_pairs(metric):
    rows = np.random.default_rng(0).normal(size=(7, 4))
    table = sim.pairwise(rows, metric)
    one = getattr(sim, metric)
    for i in range(7):
        for j in range(7):
            assert table[i, j] == pytest.approx(one(rows[i], rows[j]), abs=1e-6)
    np.testing.assert_allclose(sim.pairwise(rows, metric, rows[:3]), table[:, :3], atol=1e-6)


@pytest.mark.parametrize("metric", sim.METRICS)
def test_nearest_equals_brute_force(metric):
    rng = np.random.default_rng(1)
    rows, vector = rng.normal(size=(300, 8)), rng.normal(size=8)
    measured = np.array([getattr(sim, metric)(row, vector) for row in rows])
    order = np.argsort(measured if metric == "euclidean" else -measured, kind="stable")
    found = sim.nearest(rows, vector, 12, metric)
    assert found.ids.tolist() == order[:12].tolist()
    np.testing.assert_allclose(found.values, measured[order[:12]])
    measured_once = sim.best(sim.measure_all(rows, vector, metric), 12, metric)
    assert np.array_equal(measured_once.ids, found.ids)
    assert np.array_equal(measured_once.values, found.values)
    without = sim.nearest(rows, vector, 12, metric, exclude=order[:3].tolist())
    assert without.ids.tolist() == order[3:15].tolist()


def test_equal_values_go_by_lowest_row():
    rows = np.array([[1.0, 0], [0, 1], [2, 0], [3, 0]])
    assert sim.nearest(rows, [1, 0], 2).ids.tolist() == [0, 2]
    assert sim.nearest(rows, [1, 0], 4).ids.tolist() == [0, 2, 3, 1]


def test_zero_rows_are_passed_over_and_counted():
    found = sim.nearest([[0.0, 0], [1, 0], [0, 1]], [1, 1], 2)
    assert sorted(found.ids) == [1, 2]
    assert found.undefined == 1


def test_analogy_on_vectors_made_of_two_meanings():
    rng = np.random.default_rng(2)
    male, female = rng.normal(size=(2, 30))
    roles = rng.normal(size=(6, 30))
    rows = np.concatenate([roles + male, roles + female])
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    for role in range(5):
        found = sim.analogy(rows, role, 5, 11, k=3)  # role_m - other_m + other_f
        assert found.ids[0] == role + 6
        assert not {role, 5, 11} & set(found.ids)
    everything = sim.analogy(rows, 0, 5, 11, k=12, exclude_inputs=False)
    target = rows[0] - rows[5] + rows[11]
    cosines = [sim.cosine(row, target) for row in rows]
    assert everything.ids.tolist() == np.argsort(-np.array(cosines)).tolist()


def test_the_nearest_spellings_share_most_letters():
    assert sim.nearest_spellings("kitchin", ["king", "kitchen", "garden"])[0] == "kitchen"
    assert sim.nearest_spellings("zzzz", ["king", "kitchen"]) == []


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sim.cosine([0, 0], [1, 2]), "zero vector"),
        (lambda: sim.cosine([1, 2], [0, 0]), "zero vector"),
        (lambda: sim.cosine([1, 2], [1, 2, 3]), "equal length; got 2 and 3"),
        (lambda: sim.euclidean([1], [1, 2]), "equal length"),
        (lambda: sim.dot([1, np.nan], [1, 2]), "finite"),
        (lambda: sim.dot([], []), "list of numbers"),
        (lambda: sim.nearest(np.eye(3), [1, 0], 1), "equal length"),
        (lambda: sim.nearest(np.eye(3), [1, 0, 0], 4), "from 1 to the 3 rows"),
        (lambda: sim.nearest(np.eye(3), [1, 0, 0], 3, exclude=[0]), "from 1 to the 2 rows"),
        (lambda: sim.nearest([[0.0, 0], [1, 0], [0, 1]], [1, 1], 3), "from 1 to the 2 rows"),
        (lambda: sim.nearest(np.eye(3), [1, 0, 0], 0), "got 0"),
        (lambda: sim.nearest(np.eye(3), [0, 0, 0], 1), "zero vector"),
        (lambda: sim.nearest(np.eye(3), [1, 0, 0], 1, "manhattan"), "metric must be one of"),
        (lambda: sim.measure_all(np.eye(3), [0, 0, 0]), "zero vector"),
        (lambda: sim.measure_all(np.eye(3), [1, 0]), "equal length"),
        (lambda: sim.pairwise([[1, 0], [0, 0]]), "row 1"),
        (lambda: sim.analogy(np.eye(4), 0, 1, 9), "from 0 to 3"),
        (lambda: sim.analogy(np.zeros((4, 2)), 0, 1, 2), "zero vector"),
        (lambda: sim.nearest([[1, np.inf]], [1, 0], 1), "row 0"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_without_k_all_rows_with_a_value_come_the_best_first():
    rows = np.random.default_rng(5).normal(size=(40, 6))
    rows[7] = 0
    every = sim.analogy(rows, 0, 1, 2, None)
    assert sorted(every.ids) == [i for i in range(40) if i not in (0, 1, 2, 7)]
    assert every.undefined == 1 and (np.diff(every.values) <= 0).all()
    assert np.array_equal(sim.analogy(rows, 0, 1, 2, 4).ids, every.ids[:4])


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
    for metric in sim.METRICS:
        values = sim.measure_all(rows, rows[0], metric)
        for i, row in enumerate(rows):
            if i == 3 and metric == "cosine":
                assert math.isnan(values[i])
            else:
                assert values[i] == pytest.approx(getattr(sim, metric)(row, rows[0]), abs=1e-12)


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
    from llmviz.course.lessons.embeddings.similarity.sums_model import questions
    from llmviz.interpretability.vector_tables import load_table

    vectors = load_table(name)
    right = {
        relation: sim.score_analogies(vectors.matrix, questions(vectors, relation)).right
        for relation in RELATIONS
        if len(questions(vectors, relation)) > 0.5 * len(analogies(relation))
    }
    assert "pairs" in right and min(right.values()) >= 0.9, right
