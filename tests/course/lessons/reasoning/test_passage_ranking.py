"""Three ways to rank passages: ties, one passage, unknown words, and scikit-learn's cosines."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from llmviz.course.lessons.reasoning.retrieval import passage_ranking as ranking
from llmviz.course.lessons.reasoning.retrieval.passage_ranking import (
    BM,
    RANKINGS,
    TFIDF,
    VECTORS,
    Means,
    rank,
)
from llmviz.interpretability.vector_tables import load_table
from llmviz.similarity import cosine, cut, search_words

WORDS = st.lists(st.sampled_from(["cat", "dog", "red", "zyx", "東京"]), max_size=6).map(" ".join)


@pytest.fixture(scope="module")
def table():
    return load_table("tiny-world-word2vec")


def ranked(text, question, table, sentences=1):
    passages = cut(text, sentences)
    return rank(passages, question, Means.of([one.text for one in passages], table))


@settings(deadline=None, max_examples=25)  # each asks three rankings
@given(st.lists(WORDS.filter(bool), min_size=1, max_size=5), WORDS)
def test_every_ranking_names_each_passage_once_and_equal_ones_keep_their_order(texts, question):
    text = "\n\n".join(texts)
    found = ranked(text, question, load_table("tiny-world-word2vec"))
    for way in RANKINGS:
        order = found.order(way)
        assert sorted(order) == list(range(len(found.passages)))
        for one, after in pairwise(order):
            same = texts[one] == texts[after]
            assert not same or one < after


@given(
    st.lists(st.lists(st.sampled_from("abcd"), min_size=1, max_size=6), min_size=1, max_size=5),
    st.lists(st.sampled_from("abcde"), max_size=5),
)
def test_cosines_of_tf_idf_are_those_of_counts_from_scikit_learn(passages, question):
    found = ranking.tf_idf_cosines(passages, question)
    counter = CountVectorizer(analyzer=lambda words: words)
    counts = counter.fit_transform(passages).toarray()
    idf = np.log(len(passages) / (counts > 0).sum(0))
    asked = counter.transform([question]).toarray()[0] * idf
    for row, value in zip(counts * idf, found, strict=True):
        wanted = cosine(row, asked) if row.any() and asked.any() else 0.0
        assert value == pytest.approx(wanted, abs=1e-9)


def test_the_mean_of_vectors_leaves_out_what_has_none(table):
    found = ranked("The cat saw zyx.\n\nQqq.\n\nThe cat.", "The cat?", table)
    scores = found.scores[VECTORS]
    assert np.isnan(scores[1]) and found.order(VECTORS)[-1] == 1
    assert scores[2] == pytest.approx(1)
    assert set(found.unknown) == {"zyx", "qqq"}
    rows = [table.find(word) for word in ("The", "cat", "saw")]
    assert scores[0] == pytest.approx(
        cosine(table.matrix[rows].mean(0), table.matrix[rows[:2]].mean(0)), abs=1e-6
    )


def test_a_question_without_known_words_leaves_the_order_of_the_text(table):
    found = ranked("One cat.\n\nOne dog.", "zyx", table)
    assert not found.scores[BM].any() and not found.scores[TFIDF].any()
    assert np.isnan(found.scores[VECTORS]).all()
    assert all(found.order(way) == [0, 1] for way in RANKINGS)


def test_one_passage_has_no_word_that_tells_it_apart(table):
    found = ranked("One cat.", "cat", table)
    assert found.scores[TFIDF].tolist() == [0.0]  # ln(1/1) = 0
    assert found.scores[BM][0] > 0


@pytest.mark.parametrize(
    ("text", "question", "best"),
    [
        ("東京は日本。\n\n大阪は古い。", "大阪", 1),
        ("Москва далеко.\n\nКот спит.", "где кот", 1),
        ("बिल्ली सोती है।\n\nकुत्ता दौड़ता है।", "कुत्ता", 1),
    ],
)
def test_words_are_ranked_in_any_script(text, question, best, table):
    found = ranked(text, question, table)
    assert found.order(BM)[0] == found.order(TFIDF)[0] == best


def test_documents_without_a_word_are_refused(table):
    with pytest.raises(ValueError, match="at least one word"):
        ranked("…\n\n!", "cat", table)


def test_the_work_of_a_huge_text_grows_with_its_passages(table):
    """Each passage is read once for its words and once for its vectors, whatever the question."""
    text = "The cat saw a red dog. " * 2_000
    passages = cut(text, 2, 1)
    assert len(passages) == 1_999
    found = rank(passages, "dog " * 60, Means.of([one.text for one in passages], table))
    assert np.ptp(found.scores[BM]) < 1e-9 and found.terms.times.tolist() == [60]
    assert found.order(BM) == list(range(1_999))
    assert len(search_words(text)) == 12_000
