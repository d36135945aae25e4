"""What the glossary says of a term does not go against what the engine does."""

from __future__ import annotations

import html
import re
from urllib.parse import parse_qsl

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from llmviz.course import glossary
from llmviz.course.document.marks import marked
from llmviz.course.glossary import SHORT, short_names, terms
from llmviz.course.lessons import LESSONS
from llmviz.course.lessons.glossary import pictures
from llmviz.similarity import pca
from tests.pages.harness import open_page


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


# What is asked for and no chapter shows; the explanation says so, or where it is.
NOT_IN_A_CHAPTER = ("diffusion model", "lesson plan", "multimodal", "worksheet")


def test_every_term_leads_to_where_it_is_seen_and_each_link_is_a_state_of_that_chapter():
    listed = [term for row in glossary.words.seen for term in row.split(", ")]
    assert sorted([*listed, *NOT_IN_A_CHAPTER]) == sorted(terms())  # each once
    lessons = {lesson.key: lesson for lesson in LESSONS}
    for place in glossary.seen().values():
        chapter, _, state = place.partition("?")
        lesson, _, part = chapter.partition("/")
        assert part in lessons[lesson].keys
        params = {param.key: param for param in lessons[lesson].params()}
        for control, written in parse_qsl(
            state, keep_blank_values=True, strict_parsing=bool(state)
        ):
            params[control].read(written)  # ValueError for what its page does not take


@pytest.mark.parametrize("term", [term for term in terms() if pictures.rows_of(term)])
def test_a_picture_holds_shares_of_its_tallest_bar(term):
    for _, values in pictures.rows_of(term):
        assert values.min() >= 0 and values.max() <= 1 and np.ptp(values) > 0


def test_pictures_are_what_the_terms_say():
    heats = [row for _, row in pictures.rows_of("temperature")]
    assert all(row.sum() == pytest.approx(1) for row in heats)
    assert [row.max() for row in heats] == sorted((row.max() for row in heats), reverse=True)
    (_, mask), (_, band) = *pictures.rows_of("causal mask"), *pictures.rows_of("sliding window")
    for row in range(len(mask)):
        for column in range(len(mask)):
            assert mask[row, column] == (column <= row)
            assert band[row, column] == (row - 3 < column <= row)
    (_, all_of), *waves = pictures.rows_of("Fourier transform")
    assert np.allclose(3 * all_of - 1.5, sum(2 * wave - 1 for _, wave in waves))
    (_, weights), (_, codes) = pictures.rows_of("quantization")
    assert len(set(codes)) == 4 and np.abs(weights - codes).max() <= 1 / 6 + 1e-12
    (_, counts) = pictures.rows_of("Zipf's law")[0]
    assert list(counts) == sorted(counts, reverse=True)


def test_a_term_is_found_by_an_everyday_word_and_what_is_typed_is_no_html():
    found = open_page("glossary", find="rlhf").get("html")[-1].proto.body
    assert "reward model" in found and "Look here for: RLHF" in found and "softmax" not in found
    page = open_page("glossary", find="<b>x")
    assert "<b>x" not in "".join(one.proto.body for one in page.get("html")) and page.info
