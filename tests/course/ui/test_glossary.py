"""What the glossary says of a term does not go against what the engine does."""

from __future__ import annotations

import html
import re

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from llmviz.course.document.marks import marked
from llmviz.course.lessons import LESSONS
from llmviz.course.ui.glossary import SHORT, short_names, terms
from llmviz.similarity import pca


def test_a_bigram_is_not_the_simplest_model():
    """Equal chances, and the counts of single tokens, are simpler; the charts draw both."""
    assert "simplest" not in terms()["bigram"] and "last token" in terms()["bigram"]


def test_pca_centres_its_points_and_may_keep_three_axes():
    points = np.random.default_rng(0).normal(5, 1, (50, 6))
    for dimensions in (2, 3):
        assert np.allclose(np.asarray(pca(points, dimensions).points).mean(0), 0, atol=1e-5)
    assert "mean of all points to 0" in terms()["PCA"] and "two or three" in terms()["PCA"]


def test_marks_are_explained():
    assert {"start token", "padding", "sub-word", "WordPiece", "special token"} <= terms().keys()
    assert "bytes" in terms()["BPE"] and "byte-level" in terms()["BPE"]


WANTED = {"loss", "weight", "parameter", "optimizer", "Adam", "backpropagation", "transformer"}
WANTED |= {"batch norm", "validation loss", "initialisation", "test set", *SHORT}


@pytest.mark.parametrize("term", sorted(WANTED))
def test_the_words_that_every_chapter_takes_for_granted_are_explained(term):
    assert len(terms()[term]) > 40


def test_short_names_are_found_as_words_and_not_in_code():
    assert short_names([marked("`GPT(config)` and MLPs, ∂L"), marked("two epochs")]) == [
        "epoch",
        "MLP",
        "∂",
    ]
    assert short_names(["GPT-2 and GRU."]) == ["GPT", "GRU"]
    assert short_names(["LSTMish, reGELU, epochal"]) == []


CHAPTERS = [chapter for lesson in LESSONS for chapter in lesson.chapters]


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda one: one.package.rpartition("lessons.")[2])
def test_a_chapter_explains_its_short_names_before_it_uses_them(chapter):
    """Also those that stand only on axes and in lists, where no link can be."""
    from llmviz.course.ui import documents

    path = documents.COURSE / "lessons" / chapter.package.partition("lessons.")[2].replace(".", "/")
    text = re.sub(r"```.*?```|`[^`]*`", "", (path / "chapter.md").read_text("utf-8"), flags=re.S)
    found = {name for name in SHORT if re.search(rf"(?<![\w-]){name}(?!\w)", text)}
    used = found | {sign for sign in "∂∇" if sign in text}
    assert used <= set(chapter.short_names)


def test_short_names_stand_at_the_top_with_what_they_mean():
    def page() -> None:
        from llmviz.course.document import Front, Sentence
        from llmviz.course.ui.prose import opening

        opening(Front("Title", 10, Sentence("Why?")), ["GELU", "∂"])
        opening(Front("Title", 10, Sentence("Why?")))

    first, second = (one.proto.body for one in AppTest.from_function(page).run().get("html"))
    assert "about 10 minutes · " in first and html.escape(terms()["GELU"]) in first
    assert "GELU" not in second
