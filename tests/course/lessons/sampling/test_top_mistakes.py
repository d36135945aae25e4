"""Two mistakes of top-k and top-p: what they do is counted by making them."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from llmviz.course.lessons.sampling.pipeline.model import as_bfloat16, cut_vocabulary, tie_at_top_k
from llmviz.sampling import sampling_steps


def logits_of(v: int, seed: int, spread: float = 1.0) -> np.ndarray:
    return spread * np.random.default_rng(seed).standard_normal(v)


@pytest.mark.parametrize("v", [60, 300, 3000])
@pytest.mark.parametrize("spread", [0.0, 0.5, 3.0])
@pytest.mark.parametrize("seed", range(3))
def test_a_nucleus_on_a_cut_vocabulary_is_too_small(v, spread, seed):
    logits = logits_of(v, seed, spread)
    cut = cut_vocabulary(logits)
    if cut is None:
        return
    few = np.sort(logits)[-50:]
    assert cut.short == sampling_steps(few, top_p=cut.p).kept.sum()
    assert cut.whole == sampling_steps(logits, top_p=cut.p).kept.sum()
    assert cut.short < cut.whole
    own = np.sort(sampling_steps(logits).model_probabilities)[::-1]
    assert cut.mass == pytest.approx(own[: cut.short].sum()) and cut.mass < cut.p


def test_a_nucleus_is_right_where_nothing_is_cut_away():
    assert cut_vocabulary(logits_of(50, 0)) is None
    assert cut_vocabulary(logits_of(20, 0)) is None
    sure = np.full(1000, -100.0)
    sure[7] = 0.0
    assert cut_vocabulary(sure) is None
    assert cut_vocabulary(np.zeros(1000)) is not None


@pytest.mark.parametrize("v", [1, 2, 3, 30, 2000])
@pytest.mark.parametrize("seed", range(4))
def test_a_tie_keeps_more_than_k(v, seed):
    logits = as_bfloat16(logits_of(v, seed, 2.0))
    tie = tie_at_top_k(logits)
    ordered = np.sort(logits)[::-1]
    if tie is None:
        highest = ordered[1:102]  # k from 2 on
        assert len(set(highest.tolist())) == highest.size
        return
    assert logits[tie.last] == logits[tie.extra] == tie.value == ordered[tie.k - 1]
    assert tie.kept == (logits >= ordered[tie.k - 1]).sum() > tie.k
    kept = sampling_steps(logits, top_k=tie.k).kept
    assert kept.sum() == tie.k and kept[tie.last] and not kept[tie.extra]


def test_tokens_that_are_cut_are_no_tie():
    assert tie_at_top_k(np.array([1.0, 0.5, -np.inf, -np.inf])) is None


def test_a_tie_begins_at_the_second_token_and_all_equal_ones_count():
    assert tie_at_top_k(np.array([3.0, 3.0, 1.0])) is None  # greedy decoding settles that one
    assert tie_at_top_k(np.array([1.0, 3.0, 1.0, 1.0])) == (2, 4, 0, 2, 1.0)
    many = np.zeros(500)
    many[3] = 1.0
    assert tie_at_top_k(many) == (2, 500, 0, 1, 0.0)


def test_rounding_is_that_of_torch():
    logits = logits_of(100, 1, 5.0)
    assert as_bfloat16(logits).tolist() == torch.tensor(logits).bfloat16().tolist()
