"""What a lesson says of a value of a setting, it says of each that there is."""

from __future__ import annotations

from llmviz.course.lessons.home import words as home
from llmviz.course.lessons.home.picture import picture_words
from llmviz.course.lessons.transformer.block import words as block
from llmviz.course.lessons.transformer.units import words as units
from llmviz.course.ui.furniture import words as furniture
from llmviz.models.settings import ACTIVATIONS, NORM_KINDS, NORMS, POSITIONS


def test_each_kind_of_positions_has_its_sentence():
    assert set(furniture.positions) == set(POSITIONS)
    assert set(home.last_vector) == set(NORMS)


def test_each_activation_and_norm_has_its_name():
    assert set(block.activations) == set(ACTIVATIONS) and set(block.kinds) == set(NORM_KINDS)
    assert set(units.writes_text) == set(NORMS)


def test_a_kind_that_nobody_described_leaves_its_sentence_out():
    said = picture_words("of a new kind", NORMS[0], next(iter(home.following)), starts=True)
    known = picture_words(POSITIONS[0], NORMS[0], next(iter(home.following)), starts=True)
    assert furniture.positions[POSITIONS[0]] in str(known) and said.keys() == known.keys()
