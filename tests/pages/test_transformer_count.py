"""The chapter that counts: published numbers, models that are built, its question at its edges."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as some

from llmviz.course.lessons.transformer.count import chapter, words
from llmviz.course.lessons.transformer.count.chapter import APART, SMALL
from llmviz.course.lessons.transformer.count.model import config_of, settings_of, shape_costs
from llmviz.course.ui.sizes import size
from llmviz.models import build, count_parameters
from llmviz.models.costs import (
    PRESET_NAMES,
    PRESETS,
    count,
    count_by_part,
    different_tensors,
    training_memory,
    translator_tensors,
)
from llmviz.models.gpt import GPT
from llmviz.models.settings import GPTConfig
from llmviz.pretrained import load_bundled
from tests.pages.harness import boxes, fine, open_part, prose_of


def test_the_published_counts_come_out():
    assert count(config_of(settings_of("GPT-2"))) == 124_439_808
    assert count(config_of(settings_of("GPT-2") | {"tied": False, "qkvbias": False})) == 163_009_536
    assert count(config_of(settings_of("GPT-2") | {"qkvbias": False})) == 124_412_160
    own = [one for one in translator_tensors(SMALL) if not one.name.startswith("encoder.")]
    assert sum(one.count for one in own) == 17_516


@pytest.mark.parametrize("shape", PRESETS)
def test_a_shape_becomes_controls_and_areas_that_tell_nothing_of_the_layers_before_the_guess(shape):
    config = config_of(settings_of(shape))
    assert count(config) == count(GPTConfig.from_dict(PRESETS[shape]))
    assert sum(times * one.count for one, times in different_tensors(config)) == count(config)
    for shown in (True, False):
        drawn = chapter.areas_of(config, shown, "light").data[0]
        assert drawn["values"][0] == count(config)
        labels = set(drawn["labels"])
        assert (words.parts["mlp"] in labels) == shown == (words.veiled not in labels)


@settings(max_examples=20, deadline=None)
@given(some.data())
def test_rows_add_up_to_a_model_that_is_built(data):
    heads = data.draw(some.integers(1, 4))
    options = {
        "n_layer": data.draw(some.integers(1, 3)),
        "n_head": heads,
        "n_embd": heads * 2 * data.draw(some.integers(1, 6)),
        "vocab_size": data.draw(some.integers(1, 40)),
        "context_length": data.draw(some.integers(1, 20)),
        "tied_head": data.draw(some.booleans()),
        "n_expert": data.draw(some.sampled_from([1, 3])),
    }
    with torch.device("meta"):
        model = build("gpt", options)
    rows = different_tensors(GPTConfig(**options))
    assert sum(times * one.count for one, times in rows) == count_parameters(model)


@settings(max_examples=60, deadline=None)
@given(
    some.integers(1, 5),
    some.integers(0, 200),
    some.sampled_from([1, 3]),
    some.sampled_from(["gelu", "swiglu"]),
)
def test_the_question_is_about_the_share_of_attention(width, hidden, experts, activation):
    config = GPTConfig(
        vocab_size=9,
        n_embd=4 * width,
        n_head=2,
        n_layer=2,
        hidden_size=hidden or None,
        n_expert=experts,
        activation=activation,
    )
    asked = chapter.question(config)
    sizes = {"attn": 0, "mlp": 0}
    for name, tensor in GPT(config).named_parameters():
        for part in sizes:
            sizes[part] += tensor.numel() * (f".{part}." in name)
    if experts == 1:  # else the routers are in the same folder of the model
        share = sizes["attn"] / sum(sizes.values())
        assert (asked is None) == (share > 0.5 - APART)
        assert asked is None or asked.values[asked.right][0] == pytest.approx(share)
    if asked is not None:
        values = sorted(value for (value,) in asked.values)
        assert np.diff(values).min() >= APART - 1e-9
        usual = chapter.words.right["usual"].partition("{")[0]
        third = asked.reasons[asked.right].startswith(usual)
        assert third == (hidden in (0, 16 * width) and experts == 1 and activation == "gelu")


@settings(max_examples=40, deadline=None)
@given(some.integers(1, 99), some.integers(1, 99), some.booleans())
def test_every_largest_part_is_named(vocab, context, tied):
    config = GPTConfig(
        vocab_size=vocab, context_length=context, n_embd=2, n_head=1, n_layer=1, tied_head=tied
    )
    parts, told = count_by_part(config), chapter.caption(config)
    most = [words.parts[part] for part, number in parts.items() if number == max(parts.values())]
    assert all(name in told for name in most) and ("each" in told) == (len(most) > 1)


def test_bytes_have_the_largest_unit_that_fits():
    assert size(1023) == "1,023 B" and size(1024) == "1 KiB" and size(3 * 1024**4) == "3 TiB"
    gpt2 = config_of(settings_of("GPT-2"))
    found = shape_costs(gpt2, 1, "bfloat16")
    assert found["float32"] == 2 * found["bfloat16"] == 4 * count(gpt2)
    assert found["cache"] == 1024 * 2 * 12 * 768 * 2  # keys and values of 12 layers, 2 bytes each


@pytest.mark.parametrize(
    "options",
    [
        {},
        dict(tied_head=False, bias=False, qkv_bias=False),
        dict(n_expert=3, experts_per_token=1),  # some experts get no token, but a gradient
    ],
    ids=str,
)
def test_sixteen_bytes_a_number_are_what_a_real_step_of_adamw_leaves(options):
    config = GPTConfig(n_layer=2, n_head=2, n_embd=16, vocab_size=31, context_length=8, **options)
    model = GPT(config)
    optimizer = torch.optim.AdamW(model.parameters())
    token = torch.zeros(1, 1, dtype=torch.long)
    model(token, token)[1].backward()
    optimizer.step()
    weights = list(model.parameters())
    averages = [v for kept in optimizer.state.values() for v in kept.values() if v.dim()]
    held = [*weights, *(weight.grad for weight in weights), *averages]
    said = training_memory(config, 1)
    assert sum(one.nbytes for one in held) == 16 * count(config)
    assert said.weights + said.gradients + said.averages == 16 * count(config)


def test_a_link_restores_a_shape_and_a_wrong_one_is_refused():
    app = open_part("transformer", "count", layers="2", heads="3", width="12", vocab="50")
    fine(app)
    config = config_of(settings_of("GPT-2") | dict(layers=2, heads=3, width=12, vocab=50))
    assert chapter.rounded(count(config)) in prose_of(app)
    app = open_part("transformer", "count", heads="5")
    fine(app)
    assert "n_head must divide n_embd" in boxes(app)


@pytest.mark.parametrize(
    ("lesson", "part", "control"),
    [("transformer", "count", "shape"), ("efficiency", "memory", "papershape")],
)
def test_shapes_have_names_that_say_whose_they_are_and_old_links_open_them(lesson, part, control):
    assert list(PRESET_NAMES) == list(PRESETS)
    config = load_bundled("tiny-world-gpt")[0].config
    assert PRESETS["ours"].items() <= dataclasses.asdict(config).items()
    assert PRESET_NAMES["ours"].startswith("tiny-world-gpt")
    app = open_part(lesson, part, **{control: "ours"})
    fine(app)
    assert not app.warning
    (pills,) = (one for one in app.pills if one.label == words.shape)
    assert pills.options == list(PRESET_NAMES.values()) and pills.value == "ours"
