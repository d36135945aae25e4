"""BM25 against rank_bm25, and what must hold at its edges."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from llmviz.similarity import bm25

WORDS = st.lists(st.sampled_from("abcdef"), max_size=8).map(list)
PASSAGES = st.lists(WORDS, min_size=1, max_size=7).filter(any)
K1, B = st.floats(0, 3), st.floats(0, 1)


@given(PASSAGES, WORDS, K1, B)
def test_scores_are_those_of_rank_bm25_with_the_same_idf(passages, question, k1, b):
    ours, oracle = bm25(passages, question, k1, b), BM25Okapi(passages, k1=k1, b=b)
    oracle.idf = dict(zip(ours.words, ours.idf, strict=True))
    with np.errstate(invalid="ignore"):  # 0/0 where k1 is 0 and a passage lacks the word
        wanted = np.zeros(len(passages))
        for word in question:
            wanted += np.nan_to_num(oracle.get_scores([word]))
    assert ours.scores == pytest.approx(wanted, abs=1e-9)


@given(PASSAGES, WORDS)
def test_the_idf_is_that_of_rank_bm25_but_for_the_one_that_keeps_it_above_0(passages, question):
    ours, oracle = bm25(passages, question), BM25Okapi(passages, epsilon=0)
    for word, idf in zip(ours.words, ours.idf, strict=True):
        assert idf > 0
        if oracle.idf.get(word, 0) > 0:  # a word of more than half of the passages: it puts 0
            assert math.log(math.expm1(idf)) == pytest.approx(oracle.idf[word], abs=1e-9)


@given(PASSAGES, WORDS, K1, B)
def test_a_score_is_the_sum_of_its_terms(passages, question, k1, b):
    found = bm25(passages, question, k1, b)
    assert found.terms.shape == (len(set(question)), len(passages))
    assert found.scores == pytest.approx(found.terms.sum(0))
    assert (found.terms >= 0).all() and np.isfinite(found.terms).all()
    assert ((found.terms > 0) == (found.tf > 0)).all()
    assert found.times.sum() == len(question)


@given(PASSAGES, st.sampled_from("abcdef"), st.floats(0.1, 3), B)
def test_one_more_of_a_word_never_lowers_the_part_of_its_passage(passages, word, k1, b):
    before = bm25([*passages, [word, "z"]], [word], k1, b)
    after = bm25([*passages, [word, word]], [word], k1, b)  # as long as before
    assert after.parts[0, -1] > before.parts[0, -1]
    assert after.parts[0, -1] < k1 + 1 + 1e-9  # no number of repetitions goes beyond it


def test_without_b_the_length_counts_nothing_and_without_k1_repetitions_count_nothing():
    passages = [["a"], ["a", *"zzzz"], ["a", "a"]]
    assert np.ptp(bm25(passages[:2], ["a"], b=0).scores) == 0
    assert np.ptp(bm25(passages, ["a"], k1=0).scores) == 0


@pytest.mark.parametrize("passages", [[], [[]], [[], []]])
def test_passages_without_a_word_are_refused(passages):
    with pytest.raises(ValueError, match="at least one word"):
        bm25(passages, ["a"])


@pytest.mark.parametrize(("k1", "b"), [(-0.1, 0.5), (1, -0.1), (1, 1.1), (1, math.nan)])
def test_settings_out_of_their_range_are_refused(k1, b):
    with pytest.raises(ValueError, match="k1 must be at least 0"):
        bm25([["a"]], ["a"], k1, b)


def test_a_question_without_words_gives_each_passage_0():
    assert bm25([["a"], ["b"]], []).scores.tolist() == [0, 0]
