"""The cache that is drawn is read; guesses lose nothing; tiles of a head are its own numbers."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as some

from llmviz.course.lessons.efficiency.cache import model as measuring
from llmviz.course.lessons.efficiency.cache.model import (
    BATCHES,
    DECODE,
    PREFILL,
    cache_contents,
    roofline,
)
from llmviz.course.lessons.efficiency.flash.model import (
    WAYS,
    attention_costs,
    count_rescalings,
    peak_memory,
    queries_keys_values,
    tiles_on_text,
)
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
from llmviz.nn.attention import multihead
from llmviz.pretrained import CHECKPOINTS, load_bundled
from llmviz.sampling.speculative import speculate
from llmviz.tokenizers import get_tokenizer
from llmviz.trace import record
from tests.random_weights import with_random_weights


@pytest.mark.parametrize(
    "options",
    [{}, dict(n_kv_head=1, positions="rotary"), dict(norm="post"), dict(norm="none")],
    ids=str,
)
def test_what_was_kept_step_by_step_is_what_the_whole_text_gives(options):
    torch.manual_seed(0)
    model = GPT(
        GPTConfig(n_layer=2, n_head=2, n_embd=16, vocab_size=31, context_length=12, **options)
    ).eval()
    found = cache_contents(model, [1, 2, 3], 4)
    assert len(found.ids) == 7 and found.read == 3
    cache = model.new_cache()
    with torch.no_grad():
        logits = model(torch.tensor([found.ids]), cache=cache)[0][0]
    for kept, tensors in ((found.keys, cache.keys), (found.values, cache.values)):
        whole = np.stack([tensor[0, :, :7].numpy() for tensor in tensors])
        np.testing.assert_allclose(kept, whole, atol=1e-5)
    assert logits[2:6].argmax(-1).tolist() == list(found.ids[3:])
    for layer, block in enumerate(model.blocks):
        kept = torch.from_numpy(found.inputs[layer])[None]
        with torch.no_grad():
            _, k, v = block.attn.queries_keys_values(kept)
        np.testing.assert_allclose(k[0], found.keys[layer], atol=1e-5)
        np.testing.assert_allclose(v[0], found.values[layer], atol=1e-5)
    assert found.bytes == found.keys.nbytes + found.values.nbytes


def test_a_full_context_ends_the_writing():
    model = GPT(GPTConfig(n_layer=1, n_head=1, n_embd=8, vocab_size=9, context_length=4)).eval()
    assert len(cache_contents(model, [1, 2, 3], 9).ids) == 4
    assert cache_contents(model, [1, 2, 3, 4], 9).keys.shape == (1, 1, 4, 8)
    assert len(cache_contents(model, [1], 0).ids) == 1
    with pytest.raises(ValueError, match="no token to read"):
        cache_contents(model, [], 3)


def test_the_shortest_time_of_each_counts(monkeypatch):
    monkeypatch.setattr(measuring, "LARGE", 2**12)
    taken = iter([*[4.0, 2.0, 1.0, *[8.0] * 7], *[2.0, 4.0, 2.0, *[2.0] * 7]])
    monkeypatch.setattr(measuring, "_seconds", lambda task: next(taken))
    threads = torch.get_num_threads()
    first, last = roofline("names-gpt", 2)
    assert torch.get_num_threads() == threads
    assert last.operations == 2 * first.operations == 2 * 768**3 / 2.0
    assert last.far == first.far == 2**12 / 2.0
    assert last.near == first.near and last.points[0].seconds == 2.0
    assert [one.phase for one in last.points] == [PREFILL, *[DECODE] * len(BATCHES)]
    assert [one.batch for one in last.points[1:]] == list(BATCHES)
    with pytest.raises(ValueError, match="rounds must be at least 1"):
        next(roofline("names-gpt", 0))


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


IDS = [3, 1, 4, 1, 5, 9, 2]


def small(**options: object) -> GPT:
    torch.manual_seed(0)
    shape = dict(vocab_size=11, context_length=12, n_layer=2, n_head=4, n_embd=24)
    model = GPT(GPTConfig(**shape | options)).eval()
    return with_random_weights(model, 0.4)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"window": 3},
        {"mask": "none"},
        {"n_kv_head": 2, "positions": "rotary"},
        {"attention_scale": "none"},
    ],
    ids=str,
)
@pytest.mark.parametrize("side", [1, 3, 16])
def test_tiles_hold_the_scores_of_the_model_and_end_with_its_output(options, side):
    model, (layer, head) = small(**options), (1, 3)
    with torch.inference_mode(), record("blocks.1.attn.*") as trace:
        model(torch.tensor([IDS]))
    masked, output = (
        trace[f"blocks.1.attn.{name}"][0, head].numpy() for name in ("masked", "output")
    )
    tiles = tiles_on_text(model, IDS, layer, head, side)
    seen = ~np.isnan(tiles.scores)
    np.testing.assert_allclose(tiles.scores[seen], masked[seen], rtol=1e-4, atol=1e-5)
    assert (masked[~seen] == -np.inf).all()  # what belongs to no tile is what nobody may look at
    found = np.zeros_like(output)
    for tile, part in zip(tiles.tiles, tiles.output, strict=True):
        found[tile[0] : tile[1]] = part[: tile[1] - tile[0]]
    np.testing.assert_allclose(found, output, rtol=1e-4, atol=1e-5)
    assert tiles.difference < 1e-5 * np.abs(output).max()
    assert np.isfinite(tiles.output).all()
    assert tiles.written[-1] == output.size and (np.diff(tiles.read) > 0).all()
    q, k, v = queries_keys_values(model, IDS, layer, head)
    assert q.shape == k.shape == v.shape == output.shape


@pytest.mark.parametrize("options", [{}, {"window": 2}], ids=str)
@pytest.mark.parametrize("side", [1, 2, 5, 16])
def test_rescalings_are_those_of_the_steps(options, side):
    model = small(**options)
    counted = count_rescalings(model, IDS, side)
    for (layer, head), found in np.ndenumerate(counted):
        tiles = tiles_on_text(model, IDS, layer, head, side)
        rises = (tiles.total_before > 0) & (tiles.maximum > tiles.maximum_before)
        assert found == rises.sum()
    assert (counted.sum() > 0) == (side < len(IDS))


def test_a_model_with_its_softmax_before_the_mask_is_refused():
    with pytest.raises(ValueError, match="softmax before the mask"):
        tiles_on_text(small(softmax_before_mask="leave"), IDS, 0, 0, 2)


def test_scores_with_something_added_are_refused(monkeypatch):
    """As by a bias for the distance of two tokens, a kind of positions that tiles do not know."""

    usual = multihead.weights_and_output

    def biased(q, k, v, *rest, **more):
        far = torch.arange(q.shape[-2])[:, None] - torch.arange(k.shape[-2])
        weights = usual(q, k, v, *rest, **more)[0] * (-0.5 * far).exp()
        weights = weights / weights.sum(-1, keepdim=True)
        return weights, weights @ v

    monkeypatch.setattr(multihead, "weights_and_output", biased)
    with pytest.raises(ValueError, match="more than its queries and keys"):
        tiles_on_text(small(), IDS, 0, 0, 2)


def test_costs_are_measured_for_each_length_and_way():
    """Whole matrices of scores, scaled, masked and weights must take at least four of them."""
    costs = list(attention_costs(lengths=(64, 256), tries=1))
    assert [(cost.length, cost.way) for cost in costs] == [
        (n, way) for n in (64, 256) for way in WAYS
    ]
    assert all(cost.milliseconds > 0 and cost.memory > 0 for cost in costs)
    last = {cost.way: cost.memory for cost in costs[-len(WAYS) :]}
    assert last["matrices"] >= 4 * 2 * 256 * 256 * 4 > last["fused"]
    with pytest.raises(ValueError, match="one of matrices, tiles, fused; got 'slow'"):
        next(attention_costs(ways=["slow"]))
    with pytest.raises(ValueError, match="at least one try is needed; got 0"):
        next(attention_costs(tries=0))


def test_peak_memory_is_what_was_held_at_one_time():
    one = torch.ones(1000)

    def two_at_once():
        first = one + 1
        second = first * 2
        return (second + first)[:10].clone()

    with torch.inference_mode():
        # Three of 4,000 bytes, the third while both others are there; torch rounds a little up.
        assert 12_000 <= peak_memory(two_at_once) + 40 <= 12_400
        assert peak_memory(lambda: one) == 0
