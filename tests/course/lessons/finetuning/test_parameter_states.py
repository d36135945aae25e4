"""What each way of training moves, against torch's own flags and counts from the settings alone."""

from __future__ import annotations

import pytest

from llmviz.course.lessons.finetuning.stages import model
from llmviz.finetuning.plan import WAYS, LoraConfig
from llmviz.models.arithmetic import count
from tests.interpretability.models import gpt

CLASSES = 3


@pytest.mark.parametrize("way", WAYS)
def test_the_counts_follow_from_the_settings(way):
    base = gpt()
    config, rank = base.config, 2
    c, f = config.n_embd, config.feed_forward_size
    head, block = CLASSES * (c + 1), 12 * c * c + 13 * c
    assert f == 4 * c
    parts = model.parts_of(base, CLASSES, way, LoraConfig(rank))
    pairs = ((c, 3 * c), (c, c), (c, f), (f, c))
    change = config.n_layer * sum(rank * (a + b) for a, b in pairs) if way == "lora" else 0
    assert model.count_of(parts) == count(config) + head + change
    trained = {"last": block + 2 * c, "all": count(config)}.get(way, 0)
    new = head + change + (count(config) if way == "nothing" else 0)
    assert {state: model.count_of(parts, state) for state in model.STATES} == {
        model.TRAINED: trained,
        model.NEW: new,
        model.FROZEN: model.count_of(parts) - trained - new,
    }


def test_the_base_stays_as_it_is():
    base = gpt()
    before = {name: one.clone() for name, one in base.named_parameters()}
    for way in WAYS:
        model.parts_of(base, CLASSES, way)
    assert all(one.equal(before[name]) for name, one in base.named_parameters())


def test_layers_come_in_the_order_of_the_model():
    paths = [part.path for part in model.parts_of(gpt(), CLASSES, "head")]
    assert paths[:2] == ["token", "position"] and paths[-1] == "head.linear"
    assert [path for path in paths if path.endswith("qkv")] == [
        f"blocks.{layer}.attn.qkv" for layer in range(3)
    ]
