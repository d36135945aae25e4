"""Adapters around shared weights, parts of their change, and what they take: against torch."""

import copy
import time

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as some
from hypothesis.extra import numpy as arrays

from llmviz.course.lessons.finetuning.lora.lora_race import (
    lora_parameters,
    optimizer_bytes,
    weight_shapes,
)
from llmviz.finetuning import adapted
from llmviz.models.costs import count
from llmviz.models.settings import GPTConfig
from llmviz.nn import lora
from llmviz.nn.lora import add_adapter, lora_layers, trained_parameters
from llmviz.nn.lora_config import TARGETS, LoraConfig
from tests.interpretability.models import IDS, gpt

RANK, ALPHA = 3, 6.0


def pairs_for(model, seed=1):
    """Random A and B for every matrix that can have an adapter."""
    generator = np.random.default_rng(seed)
    linears = {p: one for p, one in model.named_modules() if p.endswith(TARGETS)}
    return {
        path: tuple(
            generator.normal(size=size).astype(np.float32)
            for size in ((RANK, one.in_features), (one.out_features, RANK))
        )
        for path, one in linears.items()
    }


def logits(model):
    with torch.inference_mode():
        return model(torch.tensor([IDS]))[0]


def test_an_adapter_shares_its_bases_weights_and_leaves_the_base_as_it_is():
    base = gpt()
    before, weights = logits(base), {n: p.clone() for n, p in base.named_parameters()}
    tuned = adapted.adapted_by(base, LoraConfig(RANK, ALPHA), pairs_for(base))
    assert not lora_layers(base) and torch.equal(logits(base), before)
    assert all(torch.equal(weights[name], one) for name, one in base.named_parameters())
    for path, layer in lora_layers(tuned).items():
        assert layer.base.weight.data_ptr() == base.get_submodule(path).weight.data_ptr()
    by_hand = copy.deepcopy(base)
    with torch.no_grad():
        for path, (a, b) in pairs_for(base).items():
            change = ALPHA / RANK * torch.tensor(b) @ torch.tensor(a)
            by_hand.get_submodule(path).weight.add_(change)
    torch.testing.assert_close(logits(tuned), logits(by_hand), atol=1e-4, rtol=1e-4)
    assert (logits(tuned) - before).abs().max() > 0.1
    for path, (a, b) in pairs_for(base).items():
        found = adapted.pairs_of(tuned)[path]
        assert np.array_equal(found[0], a) and np.array_equal(found[1], b)
    assert adapted.around(base).token.weight is base.token.weight


def test_a_part_of_a_change_has_the_cells_of_the_whole():
    tuned = adapted.adapted_by(gpt(), LoraConfig(RANK, ALPHA), pairs_for(gpt()))
    change = adapted.change_at(tuned, "blocks.1.mlp.hidden")
    layer = lora_layers(tuned)["blocks.1.mlp.hidden"]
    np.testing.assert_allclose(change.added, layer.adapters["default"].change(), atol=1e-5)
    part = adapted.cut(change, 60, 3, 5)  # the matrix has 64 rows: the part is cut off at its end
    assert part.weight.shape == (4, 5)
    np.testing.assert_array_equal(part.weight, change.weight[60:65, 3:8])
    np.testing.assert_allclose(part.added, change.added[60:65, 3:8], atol=1e-6)
    with pytest.raises(ValueError, match=r"no adapter at blocks\.9"):
        adapted.change_at(tuned, "blocks.9.mlp.hidden")


@given(
    arrays.arrays(np.float32, (7, 5), elements=some.floats(-9, 9, width=32)), some.integers(1, 9)
)
def test_the_part_with_the_largest_number_lies_inside_and_holds_it(values, size):
    row, column = adapted.largest_at(values, size)
    part = values[row : row + size, column : column + size]
    assert part.shape == (min(7, size), min(5, size))
    assert np.abs(part).max() == np.abs(values).max()


@settings(max_examples=25)
@given(some.integers(0, 10_000), some.integers(1, 5))
def test_no_matrix_of_a_rank_comes_nearer_than_the_first_parts(seed, rank):
    generator = np.random.default_rng(seed)
    values = generator.normal(size=(8, 6))
    found = adapted.spectrum(values)
    np.testing.assert_allclose(found.best(6), values, atol=1e-9)
    error = np.square(values - found.best(rank)).sum()
    left = found.left()
    np.testing.assert_allclose(left[rank], error / np.square(values).sum(), atol=1e-9)
    assert left[0] == pytest.approx(1) and left[-1] == 0 and (np.diff(left) <= 0).all()
    a, b = generator.normal(size=(rank, 6)), generator.normal(size=(8, rank))
    nearest_b = values @ np.linalg.pinv(a)  # the best B for a random A
    assert np.square(values - nearest_b @ a).sum() >= error - 1e-9
    assert np.square(values - b @ a).sum() >= error - 1e-9


def test_a_product_of_rank_r_has_r_singular_values_and_zero_has_none():
    change = adapted.change_at(
        adapted.adapted_by(gpt(), LoraConfig(RANK, ALPHA), pairs_for(gpt())), "blocks.0.attn.qkv"
    )
    values = adapted.spectrum(change.added).s
    assert (values > 1e-6 * values[0]).sum() == RANK
    with pytest.raises(ValueError, match="zero everywhere"):
        adapted.spectrum(np.zeros((3, 2)))


def test_merging_changes_the_answer_by_rounding_and_is_taken_back_to_the_bit():
    base = gpt()
    tuned = adapted.adapted_by(base, LoraConfig(RANK, ALPHA), pairs_for(base))
    before = logits(tuned)
    copy = adapted.merged_copy(tuned)
    merged = copy.model
    assert copy.back and not lora_layers(merged)
    assert torch.equal(logits(tuned), before)  # it was merged in a copy
    found = adapted.both_ways(tuned, merged, IDS, time.thread_time)
    assert 0 < found.largest < 1e-4 * found.logit
    assert found.largest == pytest.approx(float((logits(merged) - before).abs().max()), rel=0.5)
    assert found.logit == pytest.approx(float(before.abs().max()))
    assert all(one > 0 for one in found.seconds)


def test_weights_that_do_not_come_back_are_told(monkeypatch):
    def subtract(model):
        for layer in lora_layers(model).values():
            layer.base.weight.data.sub_(layer.adapters[layer.active].change().detach())
            layer.merged = layer._kept = None

    monkeypatch.setattr(lora, "unmerge", subtract)  # which leaves rounding behind
    base = gpt()
    assert not adapted.merged_copy(
        adapted.adapted_by(base, LoraConfig(RANK, ALPHA), pairs_for(base))
    ).back


@settings(max_examples=12)
@given(some.data())
def test_what_is_counted_is_what_is_trained(data):
    options = {
        "n_layer": data.draw(some.integers(1, 2)),
        "n_head": 2,
        "n_embd": 4 * data.draw(some.integers(1, 3)),
        "n_kv_head": data.draw(some.sampled_from([None, 1])),
        "activation": data.draw(some.sampled_from(["gelu", "swiglu"])),
    }
    model = gpt(**options)
    config = model.config
    targets = data.draw(
        some.lists(some.sampled_from(sorted(weight_shapes(config))), min_size=1, unique=True)
    )
    rank = data.draw(some.integers(1, min(map(min, weight_shapes(config).values()))))
    assert count(config) == sum(one.numel() for one in model.parameters())
    add_adapter(model, LoraConfig(rank, targets=tuple(targets)))
    assert lora_parameters(config, rank, targets) == trained_parameters(model)


def test_bytes_follow_from_the_count_and_unknown_targets_are_refused():
    assert optimizer_bytes(10) == 10 * 4 + 2 * 10 * 4  # gradients, and twice that for AdamW
    with pytest.raises(ValueError, match=r"targets must be of attn\.qkv.*got head"):
        lora_parameters(GPTConfig(), 1, ["head"])
