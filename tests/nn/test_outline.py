"""A model that is outlined has the names, shapes and types of the one that is built."""

import pytest
import torch
from torch import nn

from llmviz.models import MODELS, build
from llmviz.nn.outline import outlined

OPTIONS = [
    *((name, {}) for name in MODELS),
    ("gpt", dict(positions="rotary", norm_kind="rms", activation="swiglu")),
    ("gpt", dict(positions="sinusoidal", window=3, n_expert=3, experts_per_token=2)),
]


@pytest.mark.parametrize(("name", "options"), OPTIONS, ids=str)
def test_an_outline_is_the_model_without_its_values(name, options):
    with outlined():
        outline = build(name, options)
    built = build(name, options)

    def held(model):
        named = (*model.named_parameters(), *model.named_buffers())
        return {key: (one.shape, one.dtype, one.requires_grad) for key, one in named}

    assert held(outline) == held(built)
    assert all(one.is_meta for one in (*outline.parameters(), *outline.buffers()))
    assert not any(one.is_meta for one in (*built.parameters(), *built.buffers()))


def test_weights_are_drawn_again_after_an_outline():
    with outlined():
        pass
    assert nn.init.normal_(torch.zeros(4)).count_nonzero() == 4
    assert torch.ones(3, 3).tril().sum() == 6
