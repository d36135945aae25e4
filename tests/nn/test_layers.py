"""Norms and feed-forward against torch's, positions by their identities."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from llmviz.nn.layers import BatchNorm, FeedForward, LayerNorm, layer_norm_steps
from llmviz.nn.loss import next_token_loss
from llmviz.nn.positions import Rotary, sinusoidal_positions


def test_layer_norm_steps_are_the_kernel():
    torch.manual_seed(0)
    x = torch.randn(2, 5, 8, dtype=torch.float64) * 3 + 1
    norm = LayerNorm(8).double()
    nn.init.normal_(norm.weight)
    nn.init.normal_(norm.bias)
    steps = layer_norm_steps(x, norm.weight, norm.bias)
    assert torch.allclose(steps.output, norm(x))
    assert torch.allclose(steps.normalized.mean(-1), x.new_zeros(2, 5), atol=1e-12)
    assert torch.allclose(steps.normalized.var(-1, unbiased=False), x.new_ones(2, 5), atol=1e-4)


def test_batch_norm_is_that_of_torch():
    torch.manual_seed(0)
    ours, theirs = BatchNorm(6), nn.BatchNorm1d(6)
    for norm in (ours, theirs):
        torch.manual_seed(1)
        nn.init.normal_(norm.weight)
        nn.init.normal_(norm.bias)
    for _ in range(3):
        x = torch.randn(4, 5, 6) * 2 + 1
        a, b = x.clone().requires_grad_(), x.clone().requires_grad_()
        y, expected = ours(a), theirs(b.flatten(0, 1)).view(4, 5, 6)
        assert torch.allclose(y, expected, atol=1e-5)
        upstream = torch.randn_like(y)
        y.backward(upstream)
        expected.backward(upstream)
        assert torch.allclose(a.grad, b.grad, atol=1e-5)
    assert torch.allclose(ours.weight.grad, theirs.weight.grad, atol=1e-4)
    assert torch.allclose(ours.running_mean, theirs.running_mean, atol=1e-6)
    assert torch.allclose(ours.running_variance, theirs.running_var, atol=1e-6)
    x = torch.randn(4, 6)
    assert torch.allclose(ours.eval()(x), theirs.eval()(x), atol=1e-5)


def test_batch_norm_of_one_position_is_refused():
    with pytest.raises(ValueError, match="at least 2 positions"):
        BatchNorm(3)(torch.zeros(1, 1, 3))


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("gelu", lambda x: x * 0.5 * (1 + torch.erf(x / math.sqrt(2)))),
        (
            "gelu_tanh",
            lambda x: 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
        ),
        ("relu", lambda x: x.clamp(min=0)),
    ],
)
def test_feed_forward_written_out(name, function):
    torch.manual_seed(0)
    layer, x = FeedForward(4, 16, name), torch.randn(3, 4)
    hidden = x @ layer.hidden.weight.T + layer.hidden.bias
    expected = function(hidden) @ layer.output.weight.T + layer.output.bias
    assert torch.allclose(layer(x), expected, atol=1e-6)


def test_swiglu_written_out():
    torch.manual_seed(0)
    layer, x = FeedForward(4, 16, "swiglu", bias=False), torch.randn(3, 4)
    gate = x @ layer.hidden.weight.T
    act = gate * torch.sigmoid(gate) * (x @ layer.up.weight.T)
    assert torch.allclose(layer(x), act @ layer.output.weight.T, atol=1e-6)


def test_feed_forward_of_the_worked_example():
    """ReLU, no biases; from the output of attention to the loss and back."""
    row = torch.tensor([[0.0800, 0.2714, 0.2763, 0.2505]], dtype=torch.float64)
    layer = FeedForward(4, 3, "relu", bias=False).double()
    w1 = [[0.1, 0.2, 0.3], [0.4, 0.5, 0.6], [0.7, 0.8, 0.9], [0.1, 0.3, 0.5]]
    w2 = [[0.2, 0.4, 0.6, 0.8], [0.1, 0.3, 0.5, 0.7], [0, 0.2, 0.4, 0.6]]
    out = [[0.2, 0.1, 0, 0.3, 0.1], [0, 0.5, 0.1, 0, 0.2], [0.1, 0.1, 0.3, 0.3, 0.1]]
    w_out = torch.tensor([*out, [0.2, 0.2, 0, 0.1, 0]], dtype=torch.float64)
    with torch.no_grad():
        layer.hidden.weight.copy_(torch.tensor(w1).T)
        layer.output.weight.copy_(torch.tensor(w2).T)
    y = layer(row)
    y.retain_grad()
    logits = y @ w_out
    logits.retain_grad()
    loss = next_token_loss(logits, torch.tensor([1]))
    loss.backward()
    assert torch.allclose(y, y.new_tensor([[0.1118, 0.3805, 0.6492, 0.9180]]), atol=1e-4)
    assert loss.item() == pytest.approx(1.4496, abs=1e-4)
    expected = y.new_tensor([[0.1962, -0.7653, 0.1889, 0.2061, 0.1742]])
    assert torch.allclose(logits.grad, expected, atol=1e-4)
    assert torch.allclose(y.grad, y.new_tensor([[0.0419, -0.3289, 0.0790, -0.0932]]), atol=1e-4)
    first = layer.hidden.weight.grad.T[0]
    assert torch.allclose(first, y.new_tensor([-0.0120, -0.0096, -0.0072]), atol=1e-4)


def test_unknown_activation_is_named():
    with pytest.raises(ValueError, match="activation must be one of gelu"):
        FeedForward(4, 16, "elu")


def test_sinusoidal_waves_turn_by_the_distance():
    """Moving n tokens on is the same rotation of each pair, wherever one starts."""
    waves = sinusoidal_positions(40, 8).double().view(40, 4, 2)
    as_complex = torch.complex(waves[..., 1], waves[..., 0])  # cos + i·sin
    turn = as_complex[7] / as_complex[0]
    assert torch.allclose(as_complex[7:] / as_complex[:-7], turn.expand(33, 4), atol=1e-4)
    with pytest.raises(ValueError, match="even width; got 5"):
        sinusoidal_positions(4, 5)


def test_rotary_scores_depend_on_distance_alone():
    torch.manual_seed(0)
    rotary = Rotary(64, 8).double()
    q, k = torch.randn(8, dtype=torch.float64), torch.randn(8, dtype=torch.float64)
    queries, keys = rotary(q.expand(64, 8)), rotary(k.expand(64, 8))
    scores = queries @ keys.T
    for distance in (-20, -1, 0, 3, 30):
        diagonal = scores.diagonal(distance)
        assert torch.allclose(diagonal, diagonal[:1].expand_as(diagonal), atol=1e-4)
    assert torch.allclose(queries.norm(dim=-1), q.norm().expand(64))
    later = rotary(q.expand(4, 8), start=10)
    assert torch.allclose(later, queries[10:14])
    with pytest.raises(ValueError, match="even head size; got 3"):
        Rotary(4, 3)


def test_loss_is_the_mean_over_what_counts():
    torch.manual_seed(0)
    logits, targets = torch.randn(2, 3, 5), torch.tensor([[1, -1, 4], [0, 2, -1]])
    picked = [
        -F.log_softmax(logits[i, j], -1)[targets[i, j]]
        for i in range(2)
        for j in range(3)
        if targets[i, j] >= 0
    ]
    assert next_token_loss(logits, targets).item() == pytest.approx(sum(picked).item() / 4)
