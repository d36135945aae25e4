"""The family of ten: bundled as the recipes say, and its readings against the modules."""

from __future__ import annotations

import pytest
import torch

from llmviz.course.lessons.transformer.since.model import (
    CHANGES,
    FAMILY,
    READINGS,
    activations,
    checkpoint,
    config_of,
    key_lengths,
    mean_attention,
    measured,
    norm_numbers,
    position_numbers,
    routing,
    stream_sizes,
    switched,
)
from llmviz.models import count_parameters
from llmviz.models.gpt import GPT
from llmviz.pretrained import load_bundled, read_card
from llmviz.training.recipes import RECIPES, SINCE_2017
from tests.interpretability.models import IDS, gpt


def test_the_family_is_all_that_the_recipes_name():
    assert {checkpoint(name) for name in FAMILY} == {n for n in RECIPES if n.startswith(SINCE_2017)}
    for before, *after in CHANGES.values():
        for name in after:
            assert switched(name, before), name


def test_all_were_trained_alike_and_read_text_alike():
    cards = [read_card(checkpoint(name)) for name in FAMILY]
    assert (
        len({(card["tokens"], card["steps"], card["corpus"], card["seed"]) for card in cards}) == 1
    )
    assert len({card["floor"]["nats_per_token"] for card in cards}) == 1
    sizes = [card["parameters"] for card in cards]
    assert max(sizes) / min(sizes) < 1.0225
    texts = [load_bundled(checkpoint(name))[1].encode_from_start("Anna met xq.") for name in FAMILY]
    assert all(text == texts[0] for text in texts)


@pytest.mark.parametrize("name", FAMILY)
def test_what_is_bundled_is_what_the_table_says(name):
    model, _, card = load_bundled(checkpoint(name))
    own, wanted = model.config.to_dict(), config_of(name).to_dict()
    assert {key for key in own if own[key] != wanted[key]} <= {"vocab_size"}
    row, cache = measured(name, card), model.new_cache()
    assert row.parameters == count_parameters(model)
    parts = (*cache.keys, *cache.values)
    assert row.per_token == sum(part[:, :, :1].numel() * part.element_size() for part in parts)
    held = min(model.config.window or model.context_length, model.context_length)
    assert row.whole == held * row.per_token
    assert row.over == pytest.approx(
        card["score"]["nats_per_token"] - card["floor"]["nats_per_token"]
    )


def test_the_stream_is_read_where_it_was_added_to():
    model = gpt()
    sizes = stream_sizes(model, IDS)
    with torch.inference_mode():
        x = model._embed(torch.tensor([IDS]), 0)
        wanted = [x]
        for block in model.blocks:
            x = x + block.attn(block.norm1(x), None, True, None, None)
            wanted.append(x)
            x = x + block.mlp(block.norm2(x))
            wanted.append(x)
    rms = torch.stack([one[0].square().mean(-1).sqrt().mean() for one in wanted])
    torch.testing.assert_close(sizes, rms)


@pytest.mark.parametrize("kind", ["layer", "rms"])
def test_the_norm_is_the_models_own_without_scale_and_shift(kind):
    model = gpt(norm_kind=kind)
    torch.nn.init.ones_(model.norm_final.weight)
    if kind == "layer":
        torch.nn.init.zeros_(model.norm_final.bias)
    seen = []
    model.norm_final.register_forward_hook(lambda _, given, out: seen.append((given[0], out)))
    with torch.inference_mode():
        model(torch.tensor([IDS]))
    before, behind = seen[0]
    found = norm_numbers(model, IDS)
    torch.testing.assert_close(found[0], before[0].mean(-1))
    torch.testing.assert_close(found[1], behind[0].mean(-1), atol=1e-6, rtol=1e-4)
    torch.testing.assert_close(found[2], behind[0].square().mean(-1).sqrt())


def test_positions_are_those_that_are_added_or_turned():
    waves, learned = gpt(positions="sinusoidal"), gpt(positions="learned")
    assert torch.equal(position_numbers(waves, IDS), waves.waves[:6])
    assert torch.equal(position_numbers(learned, IDS), learned.position.weight[:6])
    rotary = gpt(positions="rotary")
    cosines = position_numbers(rotary, IDS)
    assert cosines.shape == (6, 4)
    torch.testing.assert_close(cosines[:, 0], torch.arange(6.0).cos())
    with pytest.raises(ValueError, match="no positions"):
        position_numbers(gpt(positions="none"), IDS)


def test_activations_go_through_the_curve_or_the_gate():
    before, behind = activations(gpt(), IDS)
    torch.testing.assert_close(behind, torch.nn.functional.gelu(before))
    gated = gpt(activation="swiglu")
    before, behind = activations(gated, IDS)
    factor = behind / torch.nn.functional.silu(before)
    assert factor.std() > 0.1
    with pytest.raises(ValueError, match="experts"):
        activations(gpt(n_expert=2), IDS)


@pytest.mark.parametrize("groups", [1, 2])
def test_there_is_a_row_for_each_head_of_keys(groups):
    model = gpt(n_kv_head=groups, positions="none")
    found, cache = key_lengths(model, IDS), model.new_cache()
    with torch.inference_mode():
        model(torch.tensor([IDS]), cache=cache)
    torch.testing.assert_close(found, cache.keys[0][0, :, : len(IDS)].norm(dim=-1))
    assert found.shape == (groups, len(IDS))


def test_each_token_goes_to_its_experts_in_every_layer():
    found = routing(gpt(n_expert=3), IDS)
    assert found.shape == (3, 6, 3)
    torch.testing.assert_close(found.sum(-1), torch.ones(3, 6))
    assert ((found > 0).sum(-1) == 2).all()
    with pytest.raises(ValueError, match="no experts"):
        routing(gpt(), IDS)


def test_the_window_closes_what_is_far():
    weights = mean_attention(gpt(window=2), IDS)
    torch.testing.assert_close(weights.sum(-1), torch.ones(6))
    assert (weights.tril(-2) == 0).all() and (weights.triu(1) == 0).all()
    assert (mean_attention(gpt(), IDS).tril() > 0).sum() == 21


def test_one_token_can_be_read_for_every_change():
    for change, names in CHANGES.items():
        for name in names[1:]:
            options = config_of(name).to_dict()
            changed = {
                k: v for k, v in options.items() if k not in ("vocab_size", "context_length")
            }
            model = GPT(config_of(name).from_dict({**changed, "vocab_size": 9})).eval()
            assert torch.isfinite(READINGS[change](model, [0])).all()
