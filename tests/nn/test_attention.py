"""Attention against torch's own, its masks, its mistakes, and its paths against each other."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from llmviz.nn.attention import (
    MultiHeadAttention,
    attention,
    causal_mask,
    causal_mask_off_by_one,
    head_off_in_each_row,
    heads_given,
    heads_off,
    merge_heads,
    padding_mask,
    refuse_fully_masked_rows,
    sliding_window_mask,
    split_heads,
    steps,
)
from llmviz.trace import record


def random_qkv(*shape: int, seed: int = 0) -> tuple[torch.Tensor, ...]:
    g = torch.Generator().manual_seed(seed)
    return tuple(
        torch.randn(*shape, generator=g, dtype=torch.float64, requires_grad=True) for _ in range(3)
    )


@pytest.mark.parametrize("mask", [None, causal_mask(5), sliding_window_mask(5, 2)])
@pytest.mark.parametrize("scale", [None, 1.0])
def test_values_and_gradients_are_those_of_torch(mask, scale):
    ours, theirs = random_qkv(2, 3, 5, 4), random_qkv(2, 3, 5, 4)
    output = attention(*ours, mask, scale).output
    expected = F.scaled_dot_product_attention(*theirs, attn_mask=mask, scale=scale)
    assert torch.allclose(output, expected)
    upstream = torch.randn(output.shape, dtype=torch.float64)
    output.backward(upstream)
    expected.backward(upstream)
    for a, b in zip(ours, theirs, strict=True):
        assert torch.allclose(a.grad, b.grad)


@pytest.mark.parametrize("explicit", [False, True])
@pytest.mark.parametrize("shape", [(6, 4), (3, 6, 4), (2, 3, 6, 4)])
@pytest.mark.parametrize("masked", ["none", "causal", "padding"])
def test_fast_path_is_equal_on_either_kernel(explicit, shape, masked, monkeypatch):
    """Both the fused kernel and the short explicit one, forward and backward."""
    mask = {"none": None, "causal": causal_mask(6), "padding": padding_mask([2, 5], 6)}[masked]
    if masked == "padding" and len(shape) < 4:
        mask = mask[1, 0]
    monkeypatch.setattr(steps, "explicit_is_faster", lambda *_: explicit)
    results = []
    for path in (
        lambda *qkv: attention(*qkv, mask, 0.3).output,
        lambda *qkv: steps.fast_attention(*qkv, mask, 0.3, causal=masked == "causal"),
    ):
        qkv = random_qkv(*shape)
        output = path(*qkv)
        results.append((output, *torch.autograd.grad((output**2 + output).sum(), qkv)))
    for a, b in zip(*results, strict=True):
        assert torch.allclose(a, b)


def test_fast_path_takes_fewer_queries_than_keys():
    (q, _, _), (_, k, v) = random_qkv(2, 1, 4), random_qkv(2, 6, 4)
    expected = attention(q, k, v)
    assert torch.allclose(steps.fast_attention(q, k, v), expected.output)
    weights, output = steps.weights_and_output(q, k, v)
    assert torch.allclose(weights, expected.weights)
    assert torch.allclose(output, expected.output)


@pytest.mark.parametrize("at_once", [1, 40, 10**6])
@pytest.mark.parametrize("mask", [None, causal_mask(5), padding_mask([5, 3], 5)])
def test_piece_by_piece_is_the_same_attention(monkeypatch, at_once, mask):
    monkeypatch.setattr(steps, "IN_CACHE", at_once)
    q, k, v = (x.detach() for x in random_qkv(2, 3, 5, 4))
    expected = attention(q, k, v, mask, 0.3)
    with torch.inference_mode():
        weights, output = steps.weights_and_output(q, k, v, mask, 0.3)
        half, again = steps.weights_and_output(q, k, v, mask, 0.3, keep=torch.float16)
    assert torch.allclose(weights, expected.weights) and weights.dtype == v.dtype
    assert torch.allclose(output, expected.output) and torch.equal(output, again)
    assert torch.equal(half, weights.half())


@pytest.mark.parametrize("strip", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("at_once", [1, 40, 10**6])
def test_strips_of_a_causal_mask_are_the_same_attention(monkeypatch, at_once, strip):
    monkeypatch.setattr(steps, "IN_CACHE", at_once)
    monkeypatch.setattr(steps, "STRIP", strip)
    q, k, v = (x.detach() for x in random_qkv(2, 3, 5, 4))
    mask = causal_mask(5)
    expected = attention(q, k, v, mask, 0.3)
    for keep in (torch.float64, torch.float16):
        with torch.inference_mode():
            weights, output = steps.weights_and_output(q, k, v, mask, 0.3, keep=keep, causal=True)
        assert weights.dtype == keep and output.dtype == v.dtype
        torch.testing.assert_close(weights, expected.weights.to(keep))
        torch.testing.assert_close(output, expected.output)


@pytest.mark.parametrize(
    ("mask", "causal"),
    [
        (causal_mask(7), True),
        (causal_mask(7), False),
        (sliding_window_mask(7, 3), False),
        (None, False),
        (padding_mask([7, 4], 7), False),
    ],
)
def test_weights_recorded_alone_are_those_recorded_with_every_step(monkeypatch, mask, causal):
    monkeypatch.setattr(steps, "STRIP", 2)
    layer, x = MultiHeadAttention(8, 2).eval(), torch.randn(2, 7, 8)
    with torch.inference_mode():
        with record("weights") as alone:
            y = layer(x, mask, causal)
        with record() as every:
            torch.testing.assert_close(y, layer(x, mask, causal))
    torch.testing.assert_close(alone["weights"], every["weights"])


@pytest.mark.parametrize("mask", [None, causal_mask(5), padding_mask([5, 3], 5)])
@pytest.mark.parametrize("texts", [(1, 2), (2, 1)])
def test_one_text_asks_many_and_many_ask_one(texts, mask):
    (q, _, _), (_, k, v) = (random_qkv(n, 3, 5, 4) for n in texts)
    expected = attention(q, k, v, mask)
    for learning in (True, False):
        with torch.set_grad_enabled(learning):
            weights, output = steps.weights_and_output(q, k, v, mask)
        torch.testing.assert_close(weights, expected.weights)
        torch.testing.assert_close(output, expected.output)


def test_half_precision_stays_close_on_either_kernel(monkeypatch):
    q, k, v = (x.detach().bfloat16() for x in random_qkv(2, 3, 6, 4))
    expected = attention(q.float(), k.float(), v.float(), causal_mask(6)).output
    for explicit in (False, True):
        monkeypatch.setattr(steps, "explicit_is_faster", lambda *_, e=explicit: e)
        output = steps.fast_attention(q, k, v, causal_mask(6), causal=True)
        assert output.dtype == torch.bfloat16
        assert torch.allclose(output.float(), expected, atol=0.03)


@given(st.integers(1, 6), st.integers(1, 6), st.integers(1, 5), st.integers(0, 1000))
@settings(max_examples=40)
def test_rows_sum_to_one(t, s, d, seed):
    g = torch.Generator().manual_seed(seed)
    q, k = torch.randn(t, d, generator=g), torch.randn(s, d, generator=g)
    weights = attention(q, k, k).weights
    assert torch.allclose(weights.sum(-1), torch.ones(t))
    assert weights.min() >= 0


def test_each_step_follows_from_the_one_before():
    q, k, v = random_qkv(3, 4)
    mask = causal_mask(3)
    a = attention(q, k, v, mask, dropout=0.5, generator=torch.Generator().manual_seed(1))
    assert torch.equal(a.scores, q @ k.T)
    assert torch.allclose(a.scaled, a.scores / 2)
    assert torch.equal(a.masked == -math.inf, ~mask)
    assert torch.equal(a.weights, a.masked.softmax(-1))
    kept = a.dropped != 0
    assert torch.allclose(a.dropped[kept], 2 * a.weights[kept])
    assert torch.equal(a.output, a.dropped @ v)


def test_dropout_keeps_the_mean():
    x = torch.zeros(100, 4)
    dropped = attention(x, x, x, dropout=0.3, generator=torch.Generator().manual_seed(0)).dropped
    assert dropped.eq(0).float().mean() == pytest.approx(0.3, abs=0.02)
    assert dropped.sum(-1).mean() == pytest.approx(1, abs=0.05)


def test_masks_in_words():
    t = 5
    ask, asked = torch.meshgrid(torch.arange(t), torch.arange(t), indexing="ij")
    assert torch.equal(causal_mask(t), asked <= ask)
    assert torch.equal(causal_mask_off_by_one(t), asked <= ask + 1)
    assert torch.equal(sliding_window_mask(t, 2), (asked <= ask) & (asked > ask - 2))
    assert torch.equal(sliding_window_mask(t, t), causal_mask(t))
    assert padding_mask([2, 5], t).sum().item() == 7


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: causal_mask(0), "at least 1 token"),
        (lambda: sliding_window_mask(3, 0), "window must be at least 1"),
        (lambda: padding_mask([0], 3), "from 1 to 3"),
        (lambda: padding_mask([4], 3), "from 1 to 3"),
        (lambda: refuse_fully_masked_rows(torch.zeros(2, 3, dtype=torch.bool)), "row 0"),
        (lambda: attention(*random_qkv(2, 3), softmax_before_mask="maybe"), "softmax_again"),
        (lambda: MultiHeadAttention(30, 4), "n_head must divide n_embd; got n_embd=30, n_head=4"),
        (lambda: split_heads(torch.zeros(2, 6), 4), "n_head must divide"),
    ],
)
def test_bad_input_gets_one_clear_line(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_padding_is_as_if_it_were_not_there():
    q, k, v = random_qkv(2, 1, 4, 3)
    padded = attention(q, k, v, padding_mask([2, 4], 4)).output
    short = attention(q[0], k[0, :, :2], v[0, :, :2]).output
    assert torch.allclose(padded[0], short)


class TestSoftmaxBeforeMask:
    """The mistakes and what each of them does."""

    q, k, v = random_qkv(4, 3)
    mask = causal_mask(4)
    right = attention(q, k, v, mask).weights

    def weights(self, how: str) -> torch.Tensor:
        return attention(self.q, self.k, self.v, self.mask, softmax_before_mask=how).weights

    def test_renormalised_rows_come_out_right(self):
        assert torch.allclose(self.weights("renormalise"), self.right)

    def test_rows_that_are_left_sum_to_less_than_one(self):
        sums = self.weights("leave").sum(-1)
        assert (sums[:-1] < 1).all()
        assert sums[-1].item() == pytest.approx(1)

    def test_a_second_softmax_flattens_what_the_first_one_made(self):
        again = self.weights("softmax_again")
        assert torch.allclose(again.sum(-1), torch.ones(4, dtype=torch.float64))
        assert torch.equal(again == 0, ~self.mask)
        seen = self.mask.clone()
        seen[0] = False  # one token only: nothing to flatten
        entropy = [-(w.clamp(min=1e-30).log() * w).sum(-1)[1:] for w in (again, self.right)]
        assert (entropy[0] > entropy[1]).all()

    def test_a_later_token_leaks_through_the_first_denominator(self):
        changed = self.k.detach().clone()
        changed[3] += 10
        for how, leaks in ((None, False), ("softmax_again", True), ("leave", True)):
            before = attention(self.q, self.k, self.v, self.mask, softmax_before_mask=how)
            after = attention(self.q, changed, self.v, self.mask, softmax_before_mask=how)
            assert torch.allclose(before.output[:3], after.output[:3]) is not leaks


def test_splitting_and_merging_are_inverse():
    x = torch.randn(2, 5, 12)
    heads = split_heads(x, 3)
    assert heads.shape == (2, 3, 5, 4)
    assert torch.equal(heads[:, 1], x[..., 4:8])
    assert torch.equal(merge_heads(heads), x)


@pytest.mark.parametrize("cross", [False, True])
def test_many_heads_are_those_of_torch(cross):
    torch.manual_seed(0)
    ours = MultiHeadAttention(12, 3, cross=cross).double()
    theirs = nn.MultiheadAttention(12, 3, batch_first=True).double()
    with torch.no_grad():
        theirs.in_proj_weight.copy_(ours.qkv.weight)
        theirs.in_proj_bias.copy_(ours.qkv.bias)
        theirs.out_proj.weight.copy_(ours.projection.weight)
        theirs.out_proj.bias.copy_(ours.projection.bias)
    x, source = torch.randn(2, 5, 12).double(), torch.randn(2, 7, 12).double()
    mask = None if cross else causal_mask(5)
    asked = source if cross else x
    with record("weights") as trace:
        y = ours(x, mask, source=source if cross else None)
    expected, weights = theirs(
        x, asked, asked, attn_mask=None if cross else ~mask, average_attn_weights=False
    )
    assert torch.allclose(y, expected)
    assert torch.allclose(trace["weights"], weights)
    upstream = torch.randn_like(y)
    y.backward(upstream)
    expected.backward(upstream)
    assert torch.allclose(ours.qkv.weight.grad, theirs.in_proj_weight.grad)
    assert torch.allclose(ours.projection.weight.grad, theirs.out_proj.weight.grad)


@pytest.mark.parametrize(
    ("changes", "value", "at"),
    [(heads_off, torch.zeros(4), slice(5)), (heads_given, torch.arange(4.0), slice(4, 5))],
)
def test_heads_off_are_zeroed_columns_and_heads_give_the_last_token_what_they_are_told_to(
    changes, value, at
):
    torch.manual_seed(0)
    layer, x = MultiHeadAttention(12, 3, layer=2), torch.randn(2, 5, 12)
    with record() as on:
        plain = layer(x)
    with changes({(2, 1): value, (0, 0): value}), record() as changed:
        output = layer(x)
    expected = on["concat"].clone()
    expected[:, at, 4:8] = value
    assert torch.equal(changed["concat"], expected)
    assert torch.allclose(output, layer.projection(expected))
    with changes({(2, 1): value}):
        assert torch.allclose(layer(x), output, atol=1e-6)  # and without recording
    with heads_given({(2, 1): on["output"][0, 1, -1]}):  # its own
        assert torch.allclose(layer(x[:1]), plain[:1], atol=1e-6)
    assert torch.allclose(layer(x), plain, atol=1e-6)


def test_a_head_off_in_each_row_is_what_single_passes_give():
    torch.manual_seed(0)
    layers = [MultiHeadAttention(12, 3, layer=layer) for layer in (0, 1)]
    model = lambda x: layers[1](x + layers[0](x, causal=True), causal=True)  # noqa: E731
    x = torch.randn(1, 5, 12)
    rows = [None, *((layer, head) for layer in (0, 1) for head in range(3)), (7, 0)]
    with head_off_in_each_row(rows):
        at_once = model(x.expand(len(rows), -1, -1))
        with pytest.raises(ValueError, match="8 rows"):
            model(x)
    for row, one in zip(rows, at_once, strict=True):
        with heads_off([] if row is None else [row]):
            assert torch.allclose(model(x)[0], one, atol=1e-6)
    assert torch.equal(model(x), model(x.clone()))  # and over with the block


def test_changes_of_heads_within_each_other_all_hold():
    torch.manual_seed(0)
    layer, x = MultiHeadAttention(12, 3, layer=2), torch.randn(2, 5, 12)
    with record() as on:
        layer(x)
    expected, value = on["concat"].clone(), torch.randn(4)
    expected[..., 4:8] = 0
    expected[:, -1, :4] = value
    with heads_off({(2, 1)}), heads_given({(2, 0): value, (2, 2): value}), record() as both:
        with head_off_in_each_row([(2, 2), None]):
            layer(x)
        assert torch.equal(both["concat"][0, :, 8:], torch.zeros(5, 4))  # the inner one is last
        layer(x)
    expected[:, -1, 8:] = value
    assert torch.equal(both["concat"], expected)


@pytest.mark.parametrize(("scale", "factor"), [("head", 2.0), ("model", 12**0.5), ("none", 1.0)])
def test_scales_by_name(scale, factor):
    layer = MultiHeadAttention(12, 3, scale=scale)
    with record() as trace:
        layer(torch.randn(1, 5, 12))
    assert torch.allclose(trace["scaled"], trace["scores"] / factor)
