"""The window models: what they see, and the shared tree against one grown for each token."""

import pytest
import torch
import torch.nn.functional as F

from llmviz.models import MLP, MLPConfig, WaveNet, WaveNetConfig


def trained_statistics(model: torch.nn.Module, idx: torch.Tensor) -> torch.nn.Module:
    """The model with running averages that are not those of a fresh one."""
    model.train()
    model(idx)
    return model.eval()


def windows(idx: torch.Tensor, width: int, pad: int) -> torch.Tensor:
    """(B, T, W), one row for each token, spelled out."""
    rows = [[pad] * (width - 1) + row for row in idx.tolist()]
    return torch.tensor([[row[t : t + width] for t in range(idx.shape[1])] for row in rows])


IDX = torch.randint(0, 9, (2, 7), generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("batch_norm", [True, False])
def test_mlp_sees_its_window(batch_norm):
    torch.manual_seed(0)
    model = MLP(MLPConfig(vocab_size=9, context_length=7, window=3, batch_norm=batch_norm))
    trained_statistics(model, IDX)
    x = model.token.weight[windows(IDX, 3, 9)].flatten(2)
    layer = model.layers[0]
    x = F.linear(x, layer.linear.weight, layer.linear.bias)
    if batch_norm:
        norm = layer.norm
        x = F.batch_norm(
            x.flatten(0, 1), norm.running_mean, norm.running_variance, norm.weight, norm.bias
        ).view_as(x)
    assert torch.allclose(model(IDX)[0], model.head(x.tanh()), atol=1e-5)


def test_wavenet_is_a_tree_for_each_token():
    torch.manual_seed(0)
    model = WaveNet(WaveNetConfig(vocab_size=9, context_length=7, n_layer=2, hidden_size=16))
    trained_statistics(model, IDX)
    x = model.token.weight[windows(IDX, 4, 9)]  # (B, T, 4, C)
    for level in model.levels:
        x = level(x.unflatten(2, (-1, 2)).flatten(3))  # neighbours fused, half as many nodes
    assert x.shape[2] == 1
    assert torch.allclose(model(IDX)[0], model.head(x[:, :, 0]), atol=1e-5)


@pytest.mark.parametrize(
    "model",
    [
        MLP(MLPConfig(vocab_size=9, context_length=7, window=4)),
        WaveNet(WaveNetConfig(vocab_size=9, context_length=7, n_layer=2)),
    ],
)
def test_what_left_the_window_is_forgotten(model):
    model.eval()
    changed = IDX.clone()
    changed[:, 0] = (changed[:, 0] + 1) % 9
    before, after = model(IDX)[0], model(changed)[0]
    assert torch.equal(before[:, 4:], after[:, 4:])
    assert not torch.allclose(before[:, 3], after[:, 3])
