"""Pictures of letters: each its own shape, what is cut out, and networks that learn."""

from __future__ import annotations

from string import ascii_uppercase

import numpy as np
import pytest

from llmviz.course.lessons.history.where import letter_pictures as pictures


@pytest.fixture(scope="module")
def trained():
    return list(pictures.train_networks(steps=40))


def test_26_shapes_differ():
    shapes = {pictures.shape_of(letter).tobytes() for letter in ascii_uppercase}
    assert len(shapes) == 26
    assert {pictures.shape_of(letter).shape for letter in ascii_uppercase} == {(7, 5)}


def test_a_drawing_is_the_same_wherever_it_stands():
    letter = pictures.picture_of("R", 20)
    moved = np.zeros((40, 40), dtype=np.uint8)
    moved[3:23, 15:35] = letter
    np.testing.assert_array_equal(pictures.fitted(letter), pictures.fitted(moved))


def test_nothing_drawn_is_refused():
    with pytest.raises(ValueError, match="no stroke yet"):
        pictures.fitted(np.zeros((20, 20), dtype=np.uint8))


def test_one_dot_is_drawn_large():
    dot = np.zeros((20, 20), dtype=np.uint8)
    dot[4, 5] = 1
    assert pictures.fitted(dot).sum() > 50


def test_the_loss_falls_and_new_pictures_are_named(trained):
    losses = [loss for _, loss, _ in trained]
    networks = trained[-1][2]
    assert losses[-1] < losses[0] / 4
    assert networks.accuracy > 0.8
    upright = [pictures.which_letter(networks, pictures.picture_of(one, 20)) for one in "AHOXZ"]
    assert "".join(ascii_uppercase[p.argmax()] for p in upright) == "AHOXZ"
    assert all(p.sum() == pytest.approx(1, abs=1e-5) for p in upright)


def test_a_pixel_reads_only_earlier_ones(trained):
    networks = trained[-1][2]
    assert (np.tril(networks.across) == 0).all()
    assert (networks.across != 0).any()


def test_a_drawing_follows_from_its_seed_and_the_seed_matters(trained):
    networks = trained[-1][2]
    first, again, other = (pictures.draw_letter(networks, "O", seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()
    assert set(np.unique(first)) <= {0.0, 1.0}
