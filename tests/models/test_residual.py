"""The residual stream adds up: every stage is the one before plus what was written."""

import pytest
import torch

from llmviz.models.residual import parting_head, read_stream, stages
from tests.random_weights import random_gpt

SMALL = {"vocab_size": 30, "context_length": 12, "n_layer": 2, "n_head": 3, "n_embd": 12}
IDS = [3, 1, 4, 1, 5, 9]


@pytest.fixture(params=["learned", "rotary", "none"])
def model(request):
    return random_gpt(0.3, **SMALL, positions=request.param)


def test_heads_and_bias_make_each_attention_step(model):
    stream = read_stream(model, IDS)
    names = [(stage.kind, stage.layer) for stage in stages(model)]
    assert names[:2] == [("token", -1), ("position", -1)] and len(names) == len(stream.states)
    for layer, block in enumerate(model.blocks):
        at = names.index(("attention", layer))
        added = stream.states[at] - stream.states[at - 1]
        heads = stream.written[layer].sum(0) + block.attn.projection.bias
        torch.testing.assert_close(added, heads, atol=1e-5, rtol=1e-4)
        assert stream.weights[layer].sum(-1) == pytest.approx(1, abs=1e-5)


def test_stream_begins_with_the_row_and_ends_in_the_prediction(model):
    stream = read_stream(model, IDS)
    torch.testing.assert_close(stream.states[0], model.token.weight[IDS].detach())
    with torch.inference_mode():
        logits = model.head(model.norm_final(stream.states[-1]))
        torch.testing.assert_close(stream.chances, logits.softmax(-1))
        torch.testing.assert_close(stream.chances, model(torch.tensor([IDS]))[0][0].softmax(-1))


def test_parting_head_wrote_what_differs_most(model):
    one, two = read_stream(model, IDS), read_stream(model, [3, 1, 4, 1, 6, 9])
    head, apart = parting_head(one, two, 1, 5, 5)
    gaps = (one.written[1, :, 5] - two.written[1, :, 5]).norm(dim=-1)
    assert apart == pytest.approx(float(gaps.max())) and gaps[head] == gaps.max()
    assert parting_head(one, two, 0, 3, 3)[1] == pytest.approx(0, abs=1e-5)  # nothing ahead seen
