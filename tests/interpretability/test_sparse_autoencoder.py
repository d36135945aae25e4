"""Sparse autoencoders: what they read and write, and whether known directions are found."""

from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from llmviz.interpretability.sparse_autoencoder import (
    MOST_FEATURES,
    Dictionary,
    Recipe,
    _rate,
    learn,
)


def random_dictionary(seed: int, n: int = 12, width: int = 5, on: int = 3) -> Dictionary:
    rng = np.random.default_rng(seed)
    directions = rng.normal(size=(n, width))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    return Dictionary(
        on, rng.normal(size=(width, n)), rng.normal(size=n), directions, rng.normal(size=width)
    )


@given(st.integers(0, 999), st.integers(1, 12))
def test_at_most_so_many_are_on_and_they_are_the_strongest(seed, on):
    found = random_dictionary(seed, on=on)
    x = np.random.default_rng(seed + 1).normal(size=(7, 5))
    values = found.read(x)
    drive = torch.from_numpy((x - found.centre) @ found.encoder + found.bias)
    best = drive.relu().topk(on, dim=1)
    known = torch.zeros_like(drive).scatter(1, best.indices, best.values)
    assert values == pytest.approx(known.numpy())
    assert ((values > 0).sum(1) <= on).all()


def test_what_is_written_is_the_centre_and_the_sum_of_directions():
    found = random_dictionary(2)
    values = found.read(np.random.default_rng(0).normal(size=(4, 5)))
    for row, written in zip(values, found.write(values), strict=True):
        known = found.centre + sum(v * d for v, d in zip(row, found.directions, strict=True))
        assert written == pytest.approx(known)
    assert found.write(np.zeros(12)) == pytest.approx(found.centre)


def sums(count: int, features: int, width: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Vectors that are sums of two of some directions, and the directions."""
    rng = np.random.default_rng(seed)
    directions = rng.normal(size=(features, width))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    chosen = rng.random((count, features)).argpartition(2, axis=1)[:, :2]
    values = np.zeros((count, features))
    np.put_along_axis(values, chosen, rng.uniform(1, 2, (count, 2)), 1)
    return (values @ directions + 3).astype(np.float32), directions


def test_directions_that_vectors_were_made_of_are_found():
    vectors, directions = sums(4000, 24, 16, 1)
    *_, last = learn(vectors, Recipe(48, 2, 700, 0))
    found = last.dictionary
    assert last.missed < 0.06
    assert np.linalg.norm(found.directions, axis=1) == pytest.approx(1, abs=1e-5)
    cosines = (directions @ found.directions.T).max(1)
    assert np.median(cosines) > 0.95
    apart = ((vectors - found.write(found.read(vectors))) ** 2).sum()
    share = apart / ((vectors - vectors.mean(0)) ** 2).sum()
    assert share == pytest.approx(last.missed, abs=0.02)


def test_what_a_step_misses_is_what_the_dictionary_before_it_leaves():
    """All vectors are one batch, so the two are the same number; the centre moves with them."""
    vectors, _ = sums(300, 8, 6, 2)
    lessons = list(learn(vectors, Recipe(8, 2, 40, seed=4)))
    assert [one.step for one in lessons] == list(range(1, 41))
    spread = ((vectors - vectors.mean(0)) ** 2).sum()
    for before, after in pairwise(lessons):
        found = before.dictionary
        left = ((vectors - found.write(found.read(vectors))) ** 2).sum() / spread
        assert after.missed == pytest.approx(left, rel=1e-4)
    moved = np.abs(lessons[-1].dictionary.centre - vectors.mean(0)).max()
    assert moved > 0.01 * np.sqrt(spread / len(vectors))


def test_the_rate_rises_falls_and_is_not_0_at_the_last_step():
    rates = [_rate(step, 100) for step in (1, 5, 6, 7, 99, 100)]  # a twentieth of it rises
    assert rates == pytest.approx([1 / 5, 1, 1, 94 / 95, 2 / 95, 1 / 95])
    vectors, _ = sums(300, 8, 6, 2)
    *_, before, last = learn(vectors, Recipe(8, 2, 40, seed=4))
    assert not np.array_equal(before.dictionary.bias, last.dictionary.bias)


def test_a_seed_gives_one_training_and_the_moments_go_to_the_end():
    vectors, _ = sums(300, 8, 6, 2)
    one, other = (list(learn(vectors, Recipe(8, 2, 60, seed=4))) for _ in range(2))
    assert np.array_equal(one[-1].dictionary.directions, other[-1].dictionary.directions)
    assert (one[-1].step, one[-1].steps) == (60, 60)
    assert one[-1].missed < one[0].missed
    assert one[-1].dictionary.on == 2


@pytest.mark.parametrize("where", ["float16", "float32"])
def test_vectors_of_either_type_are_learned_from(where):
    vectors, _ = sums(200, 8, 6, 3)
    *_, last = learn(vectors.astype(where), Recipe(8, 2, 20))
    assert np.isfinite(last.missed)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"features": 0}, "features must be 1"),
        ({"features": MOST_FEATURES + 1}, "features must be 1"),
        ({"features": 4, "on": 5}, "on must be 1 to features=4"),
        ({"on": 0}, "on must be 1"),
        ({"steps": 0}, "steps must be at least 1"),
    ],
)
def test_settings_out_of_range_are_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        Recipe(**wrong)


def test_settings_at_the_ends_of_their_ranges_are_taken():
    assert Recipe(features=1, on=1, steps=1).features == 1
    assert Recipe(MOST_FEATURES, on=MOST_FEATURES).on == MOST_FEATURES


@pytest.mark.parametrize(
    ("count", "rule"), [(0, "at least 2 vectors"), (1, "at least 2 vectors"), (5, "all alike")]
)
def test_too_few_vectors_and_vectors_that_are_all_alike_are_refused(count, rule):
    with pytest.raises(ValueError, match=rule):
        next(learn(np.ones((count, 3), np.float32), Recipe(2, 1, 5)))
