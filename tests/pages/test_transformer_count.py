"""The chapter that counts: published numbers, models that are built, its question at its edges."""

from __future__ import annotations

import dataclasses

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as some

from llmviz.course.lessons.transformer.count import chapter, words
from llmviz.course.lessons.transformer.count.chapter import SMALL, costs, head_question
from llmviz.course.lessons.transformer.count.shapes import (
    SHAPE_NAMES,
    SHAPES,
    config_of,
    settings_of,
    tensor_rows,
)
from llmviz.course.lessons.transformer.sizes import size
from llmviz.models import build, count_parameters
from llmviz.models.arithmetic import count, translator_tensors
from llmviz.models.settings import GPTConfig
from llmviz.pretrained import load_bundled
from tests.pages.harness import boxes, fine, open_part, prose_of


def test_the_published_counts_come_out():
    assert count(config_of(settings_of("GPT-2"))) == 124_439_808
    assert count(config_of(settings_of("GPT-2") | {"tied": False, "qkvbias": False})) == 163_009_536
    assert count(config_of(settings_of("GPT-2") | {"qkvbias": False})) == 124_412_160
    own = [one for one in translator_tensors(SMALL) if not one.name.startswith("encoder.")]
    assert sum(one.count for one in own) == 17_516


def test_no_part_stands_out_among_the_bars():
    config = config_of(settings_of("GPT-2"))
    (bars,) = chapter.parts_bars(config, "light").data
    assert isinstance(bars.marker.color, str)  # one for all
    assert sum(bars.x) == count(config) and [f"{x:,}" for x in bars.x] == list(bars.text)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_shape_becomes_controls_and_comes_back(shape):
    config = config_of(settings_of(shape))
    assert count(config) == count(GPTConfig.from_dict(SHAPES[shape]))
    assert sum(row.count for row in tensor_rows(config)) == count(config)


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
    assert sum(row.count for row in tensor_rows(GPTConfig(**options))) == count_parameters(model)


@settings(max_examples=60, deadline=None)
@given(some.integers(1, 60), some.integers(1, 60), some.integers(1, 5), some.integers(1, 3))
def test_the_question_has_one_right_answer(vocab, context, width, layers):
    config = GPTConfig(
        vocab_size=vocab, context_length=context, n_embd=2 * width, n_head=1, n_layer=layers
    )
    question = head_question(config)
    if question is None:
        return
    apart = GPTConfig(**(config.to_dict() | {"tied_head": False}))
    tied = GPTConfig(**(config.to_dict() | {"tied_head": True}))
    right = f"{count(apart) - count(tied):,}"
    assert question.answers == sorted(question.answers, key=lambda one: int(one.replace(",", "")))
    assert [answer == right for answer in question.answers] == [
        index == question.right for index in range(len(question.answers))
    ]


def test_bytes_have_the_largest_unit_that_fits():
    assert size(1023) == "1,023 B" and size(1024) == "1 KiB" and size(3 * 1024**4) == "3 TiB"
    assert costs(GPTConfig(), 1, "int8")["float32"] != costs(GPTConfig(), 1, "int8")["bfloat16"]
    gpt2 = costs(config_of(settings_of("GPT-2")), 1, "bfloat16")
    assert gpt2["token"] == size(2 * 12 * 768 * 2)  # keys and values of 12 layers, two bytes each
    assert gpt2["cache"] == size(1024 * 2 * 12 * 768 * 2)


def test_a_link_restores_a_shape_and_a_wrong_one_is_refused():
    app = open_part("transformer", "count", layers="2", heads="3", width="12", vocab="50")
    fine(app)
    assert (
        f"{count(config_of(settings_of('GPT-2') | dict(layers=2, heads=3, width=12, vocab=50))):,}"
        in (prose_of(app))
    )
    app = open_part("transformer", "count", heads="5")
    fine(app)
    assert "n_head must divide n_embd" in boxes(app)


@pytest.mark.parametrize(
    ("lesson", "part", "control"),
    [("transformer", "count", "shape"), ("efficiency", "memory", "papershape")],
)
def test_shapes_have_names_that_say_whose_they_are_and_old_links_open_them(lesson, part, control):
    assert list(SHAPE_NAMES) == list(SHAPES)
    config = load_bundled("tiny-world-gpt")[0].config
    assert SHAPES["ours"].items() <= dataclasses.asdict(config).items()
    assert SHAPE_NAMES["ours"].startswith("tiny-world-gpt")
    app = open_part(lesson, part, **{control: "ours"})
    fine(app)
    assert not app.warning
    (pills,) = (one for one in app.pills if one.label == words.shape)
    assert pills.options == list(SHAPE_NAMES.values()) and pills.value == "ours"


def test_the_page_counts_a_real_optimizer():
    app = open_part("transformer", "count")
    fine(app)
    n = count(config_of(settings_of(chapter.MEASURED)))
    assert f"{8 * n:,} bytes of running averages" in prose_of(app)
    assert "8.00 bytes per parameter" in prose_of(app) and "it is 16.00" in prose_of(app)
