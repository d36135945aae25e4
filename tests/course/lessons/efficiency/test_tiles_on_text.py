"""Tiles of a head on a text: the model's own numbers, and the model's own output."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from llmviz.course.lessons.efficiency.flash.model import (
    WAYS,
    attention_costs,
    count_rescalings,
    peak_memory,
    queries_keys_values,
    tiles_on_text,
)
from llmviz.models import GPT, GPTConfig
from llmviz.trace import record
from tests.random_weights import with_random_weights

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
