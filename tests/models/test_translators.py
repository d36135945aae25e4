"""The encoder-decoders: what holds for each, and each against torch's own layers."""

import pytest
import torch
from torch import nn

from llmviz.models import (
    MODELS,
    RecurrentTranslatorConfig,
    build,
)
from llmviz.nn.attention import heads_off
from llmviz.nn.recurrent import Recurrence
from llmviz.trace import record, tap_names

NAMES = [name for name, entry in MODELS.items() if entry.translates]
SMALL = dict(vocab_size=12, context_length=10, n_embd=8)
# Small ones that learn in seconds, and the rate that suits each.
LEARNERS = {
    "seq2seq": (dict(n_layer=1, n_head=2, n_embd=32), 3e-3),
    "seq2seq-rnn": (dict(n_embd=16, hidden_size=48), 5e-3),
}
SOURCE = torch.tensor([[3, 4, 5, 6, 2], [7, 8, 2, 0, 0]])
TARGET = torch.tensor([[1, 5, 4, 3], [1, 9, 8, 2]])


LAYERS = {"rnn": nn.RNN, "gru": nn.GRU}


def make(name, **options):
    torch.manual_seed(0)
    return build(name, SMALL | options).eval()


def assert_alike(logits, expected, pairs):
    """The logits of both sides, and the gradients of each pair of their parameters."""
    torch.testing.assert_close(logits, expected, atol=1e-5, rtol=1e-5)
    upstream = torch.randn_like(logits)
    sides = zip((logits, expected), zip(*pairs, strict=True), strict=True)
    for a, b in zip(
        *(torch.autograd.grad((out * upstream).sum(), own) for out, own in sides), strict=True
    ):
        assert torch.allclose(a, b, atol=1e-4)


@pytest.mark.parametrize(
    ("name", "options"), [("seq2seq", {}), *(("seq2seq-rnn", dict(cell=cell)) for cell in LAYERS)]
)
def test_every_tap_runs(name, options):
    model = make(name, **options)
    with record() as trace:
        model(SOURCE, TARGET)
    assert set(trace) == set(tap_names(model))


@pytest.mark.parametrize("name", NAMES)
def test_padding_is_as_if_it_were_not_there(name):
    model = make(name)
    together, _ = model(SOURCE, TARGET)
    alone, _ = model(SOURCE[1:, :3], TARGET[1:])
    assert torch.allclose(together[1], alone[0], atol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_a_later_target_changes_nothing_before_it(name):
    model = make(name)
    changed = TARGET.clone()
    changed[:, 2] = 11
    before, after = model(SOURCE, TARGET)[0], model(SOURCE, changed)[0]
    assert torch.allclose(before[:, :2], after[:, :2], atol=1e-6)
    assert not torch.allclose(before[:, 2:], after[:, 2:])


@pytest.mark.parametrize("name", NAMES)
def test_pads_carry_no_loss(name):
    model = make(name)
    targets = torch.tensor([[5, 4, 3, 2], [9, 2, 0, 0]])
    ignored = targets.masked_fill(targets == 0, -1)
    assert torch.equal(model(SOURCE, TARGET, targets)[1], model(SOURCE, TARGET, ignored)[1])


@pytest.mark.parametrize("name", NAMES)
def test_it_learns_to_turn_a_row_round(name):
    options, rate = LEARNERS[name]
    model = make(name, **options).train()
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
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


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        (torch.zeros(1, 3, dtype=torch.long), TARGET[:1], "source 0 is all padding"),
        (torch.full((1, 3), 12), TARGET[:1], "token ids must be from 0 to 11; got 12 to 12"),
        (SOURCE, torch.full((2, 3), 12), "token ids must be from 0 to 11"),
        (torch.ones(1, 11, dtype=torch.long), TARGET[:1], "context is 10 tokens; got 11"),
    ],
)
def test_bad_input_is_named(name, source, target, message):
    with pytest.raises(ValueError, match=message):
        make(name)(source, target)


@pytest.mark.parametrize("name", NAMES)
def test_a_translation_has_at_least_one_token_to_make(name):
    with pytest.raises(ValueError, match="max_tokens must be at least 1; got 0"):
        make(name).translate(SOURCE, 0)
    assert all(len(row) <= 3 for row in make(name).translate(SOURCE, 3))


@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("bias", [False, True])
def test_the_transformers_values_and_gradients_are_those_of_torch(norm, bias):
    ours = make("seq2seq", n_layer=2, n_head=2, norm=norm, attention_bias=bias)
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
    assert_alike(ours(SOURCE, TARGET)[0], expected, pairs)


def test_padding_gets_no_weight_of_the_cross():
    with record("decoder.blocks.0.cross.weights") as trace:
        make("seq2seq", n_head=2)(SOURCE, TARGET)
    weights = trace["decoder.blocks.0.cross.weights"]
    assert weights.shape == (2, 2, 4, 5)
    assert not weights[1, :, :, 3:].any()
    assert torch.allclose(weights.sum(-1), torch.ones(2, 2, 4))


def test_heads_of_the_cross_can_be_switched_off():
    model = make("seq2seq", n_head=2, n_layer=2)
    with heads_off({("decoder.blocks.1.cross", 1)}), record("decoder.*") as off:
        model(SOURCE, TARGET)
    assert not off["decoder.blocks.1.cross.concat"][..., 4:].any()
    assert off["decoder.blocks.0.cross.concat"][..., 4:].any()


@pytest.mark.parametrize("cell", LAYERS)
def test_the_recurrent_ones_values_and_gradients_are_those_of_torch(cell):
    ours = make("seq2seq-rnn", cell=cell, n_embd=6, hidden_size=8)
    theirs = [LAYERS[cell](6, 8, batch_first=True) for _ in range(2)]
    pairs = [
        (getattr(getattr(part, side), kind), getattr(layer, f"{kind}_{short}_l0"))
        for part, layer in zip((ours.encoder.layer, ours.decoder.layer), theirs, strict=True)
        for side, short in (("input", "ih"), ("recurrent", "hh"))
        for kind in ("weight", "bias")
    ]
    with torch.no_grad():
        for a, b in pairs:
            b.copy_(a)
    packed = nn.utils.rnn.pack_padded_sequence(ours.encoder.token(SOURCE), [5, 3], batch_first=True)
    _, last = theirs[0](packed)  # torch stops at the end of each row by itself
    states, _ = theirs[1](ours.decoder.token(TARGET), last)
    assert_alike(ours(SOURCE, TARGET)[0], ours.head(states), pairs)


def test_one_vector_a_sentence_is_all_that_the_recurrent_decoder_gets():
    model = make("seq2seq-rnn", hidden_size=8)
    with record("encoder.last") as trace:
        logits, _ = model(SOURCE, TARGET)
    assert trace["encoder.last"].shape == (2, 8)
    other = SOURCE.flip(0)  # another sentence, but the same vector
    again, _ = model.decode(trace["encoder.last"], model.source_mask(other), TARGET)
    assert torch.equal(again, logits)


def test_bad_settings_and_starts_are_named():
    with pytest.raises(ValueError, match="cell must be one of rnn, gru; got 'lstm'"):
        RecurrentTranslatorConfig(cell="lstm")
    with pytest.raises(ValueError, match="two tensors in its state"):
        Recurrence("lstm", 4, 4)(torch.zeros(1, 2, 4), torch.zeros(1, 4))
