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


def test_a_later_target_changes_nothing_before_it():
    model = make()
    changed = TARGET.clone()
    changed[:, 2] = 11
    before, after = model(SOURCE, TARGET)[0], model(SOURCE, changed)[0]
    assert torch.allclose(before[:, :2], after[:, :2], atol=1e-6)
    assert not torch.allclose(before[:, 2:], after[:, 2:])


def test_pads_carry_no_loss():
    model = make()
    targets = torch.tensor([[5, 4, 3, 2], [9, 2, 0, 0]])
    ignored = targets.masked_fill(targets == 0, -1)
    assert torch.equal(model(SOURCE, TARGET, targets)[1], model(SOURCE, TARGET, ignored)[1])


def test_every_tap_runs_and_heads_of_the_cross_can_be_switched_off():
    model = make()
    with record() as trace:
        model(SOURCE, TARGET)
    assert set(trace) == set(tap_names(model))
    with heads_off({("decoder.blocks.1.cross", 1)}), record("decoder.*") as off:
        model(SOURCE, TARGET)
    assert not off["decoder.blocks.1.cross.concat"][..., 4:].any()
    assert off["decoder.blocks.0.cross.concat"][..., 4:].any()


def test_it_learns_to_turn_a_row_round():
    torch.manual_seed(0)
    model = Seq2Seq(Seq2SeqConfig(**(SMALL | dict(n_embd=32, n_layer=1)))).train()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    rows = torch.randint(3, 12, (512, 2))
    end, start = torch.full((512, 1), 2), torch.full((512, 1), 1)
    reversed_rows = rows.flip(1)
    for step in range(160):
        part = slice(64 * step % 512, 64 * step % 512 + 64)
        target_in = torch.cat((start, reversed_rows), 1)[part]
        _, loss = model(rows[part], target_in, torch.cat((reversed_rows, end), 1)[part])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    translated = model.eval().translate(rows[:50])
    right = sum(a == b for a, b in zip(translated, reversed_rows[:50].tolist(), strict=True))
    assert right >= 40


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        (torch.zeros(1, 3, dtype=torch.long), TARGET[:1], "source 0 is all padding"),
        (torch.full((1, 3), 12), TARGET[:1], "token ids must be from 0 to 11; got 12 to 12"),
        (SOURCE, torch.full((2, 3), 12), "token ids must be from 0 to 11"),
        (torch.ones(1, 11, dtype=torch.long), TARGET[:1], "context is 10 tokens; got 11"),
    ],
)
def test_bad_input_is_named(source, target, message):
    with pytest.raises(ValueError, match=message):
        make()(source, target)


def test_a_translation_has_at_least_one_token_to_make():
    with pytest.raises(ValueError, match="max_tokens must be at least 1; got 0"):
        make().translate(SOURCE, 0)
    assert all(len(row) <= 3 for row in make().translate(SOURCE, 3))
