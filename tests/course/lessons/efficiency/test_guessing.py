"""What the chapter on guessing computes: places, the wider model, the measurement."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as some

from llmviz.course.lessons.efficiency.speculative import model as guessing
from llmviz.course.lessons.efficiency.speculative.model import (
    CHECKPOINT,
    KINDS,
    Speed,
    draft_of,
    guess_speeds,
    place_of,
    places_of,
    same_tokens,
    stories_apart,
    way_out,
    widened,
)
from llmviz.models import GPT, GPTConfig
from llmviz.models.decoder import FastGPT
from llmviz.pretrained import CHECKPOINTS, load_bundled
from llmviz.sampling.speculative import speculate
from llmviz.tokenizers import get_tokenizer

rows = some.lists(some.floats(0, 1), min_size=6, max_size=6).filter(sum)


@settings(max_examples=100, deadline=None)
@given(rows, rows, some.integers(1, 6), some.lists(some.integers(0, 5), max_size=2))
def test_a_place_loses_nothing(row_p, row_q, listed, also):
    p, q = (np.array(row) / sum(row) for row in (row_p, row_q))
    place = place_of(p, q, listed, tuple(also))
    assert set(also) <= set(place.tokens) and len(set(place.tokens)) == len(place.tokens)
    assert len(place.tokens) <= max(listed, len(set(also)))
    larger = np.maximum(p, q)[list(place.tokens)]
    assert (np.diff(larger) <= 0).all()
    for row, full in ((place.p, p), (place.q, q)):
        assert row.sum() == pytest.approx(full.sum())
        np.testing.assert_array_equal(row[:-1], full[list(place.tokens)])
    np.testing.assert_allclose(place.kept + place.added, place.p, atol=1e-12)
    assert place.kept.sum() == pytest.approx(np.minimum(p, q).sum())
    np.testing.assert_allclose(way_out(p, q), p, atol=1e-12)
    assert place.error < 1e-12


@pytest.fixture(scope="module")
def world():
    model, tokenizer, _ = load_bundled("tiny-world-gpt")
    return model.eval(), tokenizer


@pytest.mark.parametrize("kind", KINDS)
def test_each_draft_guesses_for_the_bundled_model(world, kind):
    model, tokenizer = world
    ids = tokenizer.encode_from_start(stories_apart()[1][0])[:30]
    draft, luck = draft_of(kind, tokenizer), torch.Generator().manual_seed(0)
    rounds = list(speculate(model, draft, ids, 24, 4, generator=luck))
    assert sum(len(one.tokens) for one in rounds) == 24
    for one in rounds:
        places = places_of(one, model.vocab_size, 5)
        assert len(places) == one.checked + (one.accepted == len(one.guesses))
    if kind == "network":
        assert sum(one.accepted for one in rounds) > 0.6 * sum(one.checked for one in rounds)


def test_the_network_has_the_tokens_of_its_target_and_is_refused_for_others(world):
    own = load_bundled(CHECKPOINT)[1]
    assert same_tokens(own, world[1])
    other = get_tokenizer("bpe")
    assert not same_tokens(own, other)
    with pytest.raises(ValueError, match="cuts texts into other tokens"):
        draft_of("network", other)
    with pytest.raises(ValueError, match="draft must be one of"):
        draft_of("crystal ball", other)
    assert (CHECKPOINTS / CHECKPOINT / "model.safetensors").stat().st_size < 700_000


def test_the_stories_that_are_measured_were_not_counted():
    counted, rest = stories_apart()
    assert len(rest) >= 8 and not set(counted) & set(rest[:8])


@pytest.mark.parametrize("activation", ["gelu", "swiglu"])
def test_a_wider_model_computes_the_same(activation):
    torch.manual_seed(0)
    shape = {"vocab_size": 11, "context_length": 8, "n_layer": 2, "n_head": 2, "n_embd": 12}
    model = GPT(GPTConfig(**shape, activation=activation)).eval()
    wide = widened(model, 3)
    ids = torch.tensor([[1, 2, 3, 4]])
    torch.testing.assert_close(wide(ids)[0], model(ids)[0], atol=1e-6, rtol=1e-6)
    assert wide.config.feed_forward_size == 3 * model.config.feed_forward_size
    with pytest.raises(ValueError, match="1 or more times"):
        widened(model, 0)
    with pytest.raises(ValueError, match="one feed-forward network"):
        widened(GPT(GPTConfig(**shape, n_expert=2)), 2)


def test_the_measurement_counts_what_it_writes():
    (found,) = guess_speeds("tiny-world-gpt", "counts", 1.0, 2, 2, 1, 12, 1)
    assert [one.guesses for one in found] == [1, 2]
    for one in found:
        assert one.tokens == one.plain_tokens == 12
        assert one.accepted + one.rounds == one.tokens
        assert one.accepted <= one.checked <= one.guessed
        assert 0 < one.guess_seconds < one.seconds and one.read > 0 and one.cost > 0
    with pytest.raises(ValueError, match="1 or more"):
        next(guess_speeds("tiny-world-gpt", "counts", tries=0))


@pytest.mark.parametrize("packed_seconds", [1.0, 3.0])
def test_plain_decoding_counts_with_the_faster_of_both_and_guesses_are_checked_packed(
    monkeypatch, packed_seconds
):
    def write(model, draft, prompts, written, settings, k):
        packed = isinstance(model, FastGPT)
        assert packed or k == 0
        return Speed(k, 10, 5, 6, 5, 8, packed_seconds if packed else 2.0, 0.5, 10, 0.0)

    monkeypatch.setattr(guessing, "_write", write)
    (found,) = guess_speeds("tiny-world-gpt", "copy", longest=2, stories=1, tries=1)
    assert [one.plain_seconds for one in found] == [min(packed_seconds, 2.0)] * 2
    assert [one.seconds for one in found] == [packed_seconds] * 2
