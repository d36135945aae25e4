"""LayerNorm, BatchNorm and the feed-forward layer against torch's."""

import pytest
import torch
from torch import nn

from llmviz.nn.layers import BatchNorm, FeedForward, LayerNorm, layer_norm_steps


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
    ("name", "theirs"),
    [("gelu", nn.GELU()), ("gelu_tanh", nn.GELU("tanh")), ("relu", nn.ReLU()), ("silu", nn.SiLU())],
)
def test_feed_forward_is_two_layers_of_torch_around_its_activation(name, theirs):
    torch.manual_seed(0)
    layer, x = FeedForward(4, 16, name), torch.randn(3, 4)
    expected = nn.Sequential(layer.hidden, theirs, layer.output)(x)
    torch.testing.assert_close(layer(x), expected)


def test_unknown_activation_is_named():
    with pytest.raises(ValueError, match="activation must be one of gelu"):
        FeedForward(4, 16, "elu")
