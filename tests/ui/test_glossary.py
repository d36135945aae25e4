"""What the glossary says of a term does not go against what the engine does."""

from __future__ import annotations

import numpy as np

from llmviz.similarity import pca
from llmviz.ui.glossary import TERMS


def test_a_bigram_is_not_the_simplest_model():
    """Equal chances, and the counts of single tokens, are simpler; the charts draw both."""
    assert "simplest" not in TERMS["bigram"] and "last token" in TERMS["bigram"]


def test_pca_centres_its_points_and_may_keep_three_axes():
    points = np.random.default_rng(0).normal(5, 1, (50, 6))
    for dimensions in (2, 3):
        assert np.allclose(np.asarray(pca(points, dimensions).points).mean(0), 0, atol=1e-5)
    assert "mean of all points to 0" in TERMS["PCA"] and "two or three" in TERMS["PCA"]


def test_marks_are_explained():
    assert {"start token", "padding", "sub-word", "WordPiece", "special token"} <= TERMS.keys()
    assert "bytes" in TERMS["BPE"] and "byte-level" in TERMS["BPE"]
