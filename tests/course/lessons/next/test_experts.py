"""The record of experts: what the chapter says of it holds, and a part is measured again."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from experiments import experts as make
from llmviz.corpus.villages import (
    CHANCES,
    SENTENCES,
    SLOTS,
    TOKENS,
    VILLAGES,
    followers,
    log_probability,
    nats_without_village,
)
from llmviz.course.lessons.next.experts import STEPS, chapter, model
from llmviz.course.lessons.next.experts.model import EXPERTS, READ, ROUTED, SEEDS, recorded
from llmviz.interpretability.routing import entropy, shared_bits
from llmviz.training.measures import against


@pytest.mark.parametrize("kind", ["free", "even"])
def test_a_part_of_the_record_is_measured_again(kind):
    first = recorded().runs[kind][0]
    again, _ = make.measure(kind, 0, steps=STEPS[4])
    assert again.above == pytest.approx(first.above[:5], abs=2e-3)
    for by in ("villages", "words"):
        old, new = np.array(getattr(first, by)[:5]), np.array(getattr(again, by))
        assert np.abs(old - new).sum() < 0.02 * old.sum()


def test_the_tables_of_a_moment_count_the_same_words():
    found = recorded()
    for kind in ROUTED:
        for run in found.runs[kind]:
            villages, words = np.array(run.villages), np.array(run.words)
            assert villages.shape == (len(STEPS), EXPERTS, len(VILLAGES))
            assert words.shape == (len(STEPS), EXPERTS, len(READ))
            assert (villages.sum(2) == words.sum(2)).all()
            assert (villages.sum((1, 2)) == found.texts * (TOKENS - 1)).all()
            stops = words[:, :, -1].sum(1)
            assert (stops == found.texts * SENTENCES).all()


def test_no_loss_is_below_the_grammars_own_and_who_ignores_the_village_is_far_above():
    found = recorded()
    for runs in found.runs.values():
        assert len(runs) == len(SEEDS)
        for run in runs:
            assert min(run.above) > 0
            assert run.above[0] > nats_without_village() > 4 * run.above[-1]
    assert found.parameters["free"] == found.parameters["even"] > found.parameters["dense"]


def bits_at(kind, by, step, seed):
    return shared_bits(recorded().counts(kind, by, STEPS.index(step), seed))


def test_the_expert_tells_the_word_and_hardly_the_village():
    found = recorded()
    for kind in ROUTED:
        assert max(found.bits(kind, "villages")) < 0.25
        assert min(found.bits(kind, "words")) > 1.5
        for seed, run in enumerate(found.runs[kind]):
            assert abs(run.null) < 0.005
            assert bits_at(kind, "villages", chapter.SORTED, seed) < 0.01
            assert bits_at(kind, "words", chapter.SORTED, seed) > 1.2
            table = found.counts(kind, "villages", -1, seed)
            assert (table < table.sum(0) / 2).all(), "no expert takes half of a village"
    assert against(*(np.array(found.bits(kind, "words")) for kind in ROUTED)) == "better"


def test_of_the_first_model_only_less_busy_experts_lean_to_a_village():
    table = recorded().counts("free", "villages", -1)
    most = table.max(1) / table.sum(1)
    assert most[:2].max() < 0.3 < 0.5 < most[4:].min()


def test_by_kind_of_word_only_expert_1_of_the_equally_busy_ones_gets_a_bit_of_everything():
    kinds = chapter.film("even", "kind")[-1]
    kinds = kinds / kinds.sum(0)
    assert kinds[:, 0].min() > 0.03
    assert (np.sort(kinds[:, 1:], axis=0)[-2:].sum(0) > 0.98).all()


def test_left_alone_half_of_the_experts_do_most_of_the_work_in_every_training():
    found = recorded()
    for seed in range(len(SEEDS)):
        free, even = (found.counts(kind, "villages", -1, seed).sum(1) for kind in ROUTED)
        assert free[:4].sum() > 0.85 * free.sum() > 1.2 * even[:4].sum()
        assert free.min() < 0.01 * free.sum() < 0.05 * even.sum() < even.min()
        assert list(free) == sorted(free, reverse=True)
        moments = range(STEPS.index(chapter.SORTED))
        early = [found.counts("free", "villages", at, seed).sum(1) for at in moments]
        assert max(counts.max() / counts.sum() for counts in early) > 0.45


def test_experts_remember_more_than_one_network_and_evening_them_costs_nothing():
    free, even, dense = (chapter.above(kind) for kind in ("free", "even", "dense"))
    assert against(free, dense) == "better"
    assert against(even, free) == "same"


def test_shown_texts_are_of_their_villages_and_go_where_the_scores_say():
    found = recorded()
    for village, words in found.shown.items():
        assert log_probability(words) > -math.inf and words[0] == village
        for kind in ROUTED:
            scores = np.array(found.scores[kind][village])
            shares, sent, price = model.routed(scores)
            assert scores.shape == (TOKENS, EXPERTS)
            raised = np.exp(scores)
            np.testing.assert_allclose(shares, raised / raised.sum(1, keepdims=True), rtol=1e-9)
            assert sent.sum() == pytest.approx(1)
            assert price == pytest.approx(EXPERTS * float((sent * shares.mean(0)).sum()))
            words_of = np.array(found.runs[kind][0].words[-1])
            for word, expert in zip(words[1:], scores[1:].argmax(1), strict=True):
                assert words_of[expert, READ.index(word)] > 0  # who gets it here, got it elsewhere


def test_without_village_is_the_entropy_of_the_mean_habits():
    gain = []
    for slot in SLOTS[:-1]:
        for word in slot:
            joint = np.zeros((len(VILLAGES), len(READ)))
            for row, village in enumerate(VILLAGES):
                for after, p in zip(followers(village)[word], CHANCES, strict=True):
                    joint[row, READ.index(after)] = p / len(VILLAGES)
            p, expected = joint, joint.sum(1, keepdims=True) * joint.sum(0)
            gain.append(float((p[p > 0] * np.log(p[p > 0] / expected[p > 0])).sum()))
    per_word = np.mean(gain) * (len(SLOTS) - 1) / (len(SLOTS) + 1)
    assert nats_without_village() == pytest.approx(per_word)


@given(some.integers(2, 6), some.integers(2, 6), some.integers(0, 99))
def test_bits_shared_are_none_of_what_is_independent_and_all_of_what_is_the_same(rows, columns, at):
    chance = np.random.default_rng(at)
    independent = np.outer(chance.integers(1, 9, rows), chance.integers(1, 9, columns)) * 100_000
    assert shared_bits(independent) == pytest.approx(0, abs=1e-4)
    same = np.diag(chance.integers(1, 9, rows)) * 1_000_000
    assert shared_bits(same) == pytest.approx(entropy(np.diag(same)), abs=1e-4)


def test_what_chance_brings_into_a_count_is_taken_off():
    chance = np.random.default_rng(0)
    tables = [chance.multinomial(2000, np.full(32, 1 / 32)).reshape(8, 4) for _ in range(300)]
    bits = [shared_bits(table) for table in tables]
    assert abs(np.mean(bits)) < 4 * np.std(bits) / math.sqrt(len(bits))
