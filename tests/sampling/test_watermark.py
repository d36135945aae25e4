"""A watermark: its colours are fair coins, its alarms as rare as promised, its push is found."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from llmviz.models import build
from llmviz.sampling.watermark import (
    Watermark,
    binomial_tail,
    detect,
    evidence,
    least_green,
    write,
    z_of,
)

MARK = Watermark(7)


def test_colours_depend_on_key_and_both_tokens_and_on_nothing_else():
    colours = MARK.is_green(np.arange(60)[:, None], np.arange(80))
    assert colours.shape == (60, 80)
    alone = [[bool(MARK.is_green(a, b)) for b in range(80)] for a in range(60)]
    assert colours.tolist() == alone
    assert Watermark(8).is_green(3, np.arange(500)).tolist() != (
        MARK.is_green(3, np.arange(500)).tolist()
    )
    assert MARK.is_green(4, np.arange(500)).tolist() != MARK.is_green(3, np.arange(500)).tolist()


@pytest.mark.parametrize("share", [0.1, 0.25, 0.5, 0.9])
def test_over_keys_the_green_pairs_of_a_text_are_binomial(share):
    """Independent fair coins: their sum over 60 pairs fits the binomial, by chi-squared."""
    ids = np.random.default_rng(0).integers(0, 30, 61)
    pairs = len(detect(ids, MARK).pairs)
    counts = np.array([detect(ids, Watermark(key, share)).count for key in range(4000)])
    wanted = stats.binom(pairs, share)
    edges = [0, *(int(wanted.ppf(q)) for q in (0.1, 0.3, 0.5, 0.7, 0.9)), pairs]
    edges = sorted(set(edges))
    seen = [np.sum((counts > low) & (counts <= high)) for low, high in pairwise(edges)]
    seen[0] += np.sum(counts == 0)
    mass = [
        wanted.cdf(high) - (wanted.cdf(low) if i else 0)
        for i, (low, high) in enumerate(pairwise(edges))
    ]
    assert stats.chisquare(seen, np.array(mass) / sum(mass) * 4000).pvalue > 1e-3


def test_false_alarms_are_never_more_than_promised():
    ids = np.random.default_rng(1).integers(0, 50, 120)
    pairs = len(detect(ids, MARK).pairs)
    for alarm in (0.05, 0.01):
        least = least_green(pairs, 0.25, alarm)
        rate = np.mean([detect(ids, Watermark(key)).count >= least for key in range(4000)])
        promised = stats.binom.sf(least - 1, pairs, 0.25)
        assert promised <= alarm
        assert abs(rate - promised) < 4 * math.sqrt(promised / 4000)


@given(st.integers(0, 300), st.integers(0, 300), st.floats(0.01, 0.99))
def test_the_tail_is_that_of_the_binomial(green, pairs, share):
    exact = stats.binom.sf(green - 1, pairs, share)
    assert binomial_tail(green, pairs, share) == pytest.approx(exact, rel=1e-8, abs=1e-300)


@given(st.lists(st.integers(0, 5), max_size=40))
def test_each_pair_counts_once(ids):
    found = detect(ids, MARK)
    distinct = list(dict.fromkeys(pairwise(ids)))
    assert [tuple(pair) for pair in found.pairs.tolist()] == distinct
    assert found.count == sum(bool(MARK.is_green(a, b)) for a, b in distinct)
    assert 0 < found.p <= 1 and math.isfinite(found.z)


def test_nothing_proves_nothing():
    for text in ([], [3]):
        found = detect(text, MARK)
        assert (found.count, found.z, found.p) == (0, 0.0, 1.0)
    assert least_green(1, 0.25, 0.01) == 2  # more than there are: one pair is no proof
    assert z_of(0, 0, 0.5) == 0.0


def test_the_push_changes_the_odds_of_green_alone_and_by_its_exponential():
    logits = np.random.default_rng(2).normal(size=40)
    pushed = MARK.pushed(logits, 5)
    green = MARK.is_green(5, np.arange(40))
    assert np.array_equal(pushed[~green], logits[~green])
    assert np.allclose(pushed[green] - logits[green], 2.0)
    assert MARK.pushed(logits, None) is logits
    assert Watermark(7, push=0).pushed(logits, 5) is logits
    assert np.array_equal(np.isneginf(MARK.pushed(np.full(3, -np.inf), 1)), [True] * 3)


@pytest.mark.parametrize("share", [0, 1, -0.1, 1.5, math.nan])
def test_a_share_that_leaves_nothing_to_count_is_refused(share):
    with pytest.raises(ValueError, match="share"):
        Watermark(1, share)


def test_bad_settings_are_refused():
    for push in (-1, math.inf, math.nan):
        with pytest.raises(ValueError, match="push"):
            Watermark(1, push=push)
    for key in ("7", 1.5, None, True):
        with pytest.raises(ValueError, match="key"):
            Watermark(key)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="token ids"):
        detect([[1, 2]], MARK)
    with pytest.raises(ValueError, match="token ids"):
        detect([-1, 2], MARK)


def test_a_marked_text_is_found_with_its_key_alone():
    sizes = {"vocab_size": 50, "context_length": 32, "n_layer": 1, "n_head": 2, "n_embd": 16}
    torch.manual_seed(0)
    model = build("gpt", sizes).eval()
    texts = {}
    for push in (0.0, 3.0):
        mark = Watermark(11, push=push)
        written = list(write(model, [1], 150, mark, torch.Generator().manual_seed(3)))
        ids = [1, *(token.id for token in written)]
        assert [bool(mark.is_green(a, b)) for a, b in pairwise(ids)] == [
            token.green for token in written
        ]
        texts[push] = ids
    assert detect(texts[3.0], Watermark(11)).p < 1e-9
    assert detect(texts[3.0], Watermark(12)).p > 1e-3
    assert detect(texts[0.0], Watermark(11)).p > 1e-3


def test_text_without_a_choice_cannot_be_marked():
    """A model that is sure gives the push nothing to move: the coins stay as they fall."""
    logits = np.full(20, -np.inf)
    logits[4] = 0.0
    pushed = MARK.pushed(logits, 9)
    assert np.exp(pushed - pushed.max()).argmax() == 4
    assert np.sum(np.exp(pushed - pushed.max())) == 1.0


@given(
    ids=st.lists(st.integers(0, 6), max_size=30),
    key=st.integers(),
    share=st.sampled_from([0.1, 0.5, 0.9]),
)
def test_after_each_token_the_evidence_is_what_a_detector_finds_in_the_text_so_far(ids, key, share):
    mark = Watermark(key, share)
    found = evidence(ids, mark)
    assert len(found.chance) == max(0, len(ids) - 1)
    for at, chance in enumerate(found.chance, 1):
        assert chance == pytest.approx(detect(ids[: at + 1], mark).p)
    if len(ids) > 1:
        whole = detect(ids, mark)
        assert (found.count, found.pairs) == (whole.count, len(whole.pairs))
    rings = found.rings(0.1)
    assert (rings is None) == bool((found.chance > 0.1).all())
    if rings is not None:
        assert found.chance[rings - 1] <= 0.1 < min([1.0, *found.chance[: rings - 1]])
