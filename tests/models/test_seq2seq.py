"""The encoder–decoder against torch's Transformer, and what padding and masks promise."""

import pytest
import torch
from torch import nn

from llmviz.models import Seq2Seq, Seq2SeqConfig, count_parameters
from llmviz.nn.attention import heads_off
from llmviz.trace import record, tap_names

SMALL = dict(vocab_size=12, context_length=10, n_layer=2, n_head=2, n_embd=8)


def make(**options) -> Seq2Seq:
    torch.manual_seed(0)
    return Seq2Seq(Seq2SeqConfig(**(SMALL | options))).eval()


SOURCE = torch.tensor([[3, 4, 5, 6, 2], [7, 8, 2, 0, 0]])
TARGET = torch.tensor([[1, 5, 4, 3], [1, 9, 8, 2]])


def test_parameters_of_the_small_decoder():
    model = Seq2Seq(Seq2SeqConfig(vocab_size=12, n_embd=32, n_head=8, hidden_size=128, n_layer=1))
    assert count_parameters(model.decoder) + count_parameters(model.head) == 17_516


@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("bias", [False, True])
def test_values_and_gradients_are_those_of_torch(norm, bias):
    ours = make(norm=norm, attention_bias=bias)
    theirs = nn.Transformer(
        8, 2, 2, 2, 32, dropout=0.0, batch_first=True, norm_first=norm == "pre"
    ).eval()
    if norm == "post":
        theirs.encoder.norm = theirs.decoder.norm = None
    pairs = []

    def attention(a, b):
        pairs.extend([(a.qkv.weight, b.in_proj_weight), (a.projection.weight, b.out_proj.weight)])
        if bias:
            pairs.extend([(a.qkv.bias, b.in_proj_bias), (a.projection.bias, b.out_proj.bias)])

    def module(a, b):
        pairs.extend([(a.weight, b.weight), (a.bias, b.bias)])

    for stack, other in ((ours.encoder, theirs.encoder), (ours.decoder, theirs.decoder)):
        if norm == "pre":
            module(stack.norm, other.norm)
        for a, b in zip(stack.blocks, other.layers, strict=True):
            attention(a.attn, b.self_attn)
            norms = [a.add_attn.norm]
            if a.cross is not None:
                attention(a.cross, b.multihead_attn)
                norms.append(a.add_cross.norm)
            norms.append(a.add_mlp.norm)
            for i, ours_norm in enumerate(norms):
                module(ours_norm, getattr(b, f"norm{i + 1}"))
            module(a.mlp.hidden, b.linear1)
            module(a.mlp.output, b.linear2)
    with torch.no_grad():
        for a, b in pairs:
            if a.dim() == 1:
                a.add_(0.1 * torch.randn_like(a))
            b.copy_(a)
        if not bias:
            for name, parameter in theirs.named_parameters():
                if name.endswith(("in_proj_bias", "out_proj.bias")):
                    parameter.zero_()
    with record() as trace:
        logits, _ = ours(SOURCE, TARGET)
    padding = SOURCE == 0
    expected = theirs(
        trace["encoder.embed"],
        trace["decoder.embed"],
        tgt_mask=~torch.ones(4, 4, dtype=torch.bool).tril(),
        src_key_padding_mask=padding,
        memory_key_padding_mask=padding,
    )
    expected = ours.head(expected)
    assert torch.allclose(logits, expected, atol=1e-5)
    upstream = torch.randn_like(logits)
    gradients = torch.autograd.grad(
        (ours(SOURCE, TARGET)[0] * upstream).sum(), [a for a, _ in pairs]
    )
    wanted = torch.autograd.grad((expected * upstream).sum(), [b for _, b in pairs])
    for a, b in zip(gradients, wanted, strict=True):
        assert torch.allclose(a, b, atol=1e-4)


def test_padding_is_as_if_it_were_not_there():
    model = make()
    together, _ = model(SOURCE, TARGET)
    alone, _ = model(SOURCE[1:, :3], TARGET[1:])
    assert torch.allclose(together[1], alone[0], atol=1e-5)
    with record("decoder.blocks.0.cross.weights") as trace:
        model(SOURCE, TARGET)
    weights = trace["decoder.blocks.0.cross.weights"]
    assert weights.shape == (2, 2, 4, 5)
    assert not weights[1, :, :, 3:].any()
    assert torch.allclose(weights.sum(-1), torch.ones(2, 2, 4))


def test_every_tap_runs_and_heads_of_the_cross_can_be_switched_off():
    model = make()
    with record() as trace:
        model(SOURCE, TARGET)
    assert set(trace) == set(tap_names(model))
    with heads_off({("decoder.blocks.1.cross", 1)}), record("decoder.*") as off:
        model(SOURCE, TARGET)
    assert not off["decoder.blocks.1.cross.concat"][..., 4:].any()
    assert off["decoder.blocks.0.cross.concat"][..., 4:].any()
