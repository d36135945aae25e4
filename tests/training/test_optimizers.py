"""Every update step is torch.optim's, over many steps, in float64."""

import pytest
import torch

from llmviz.training.optimizers import UPDATES, Hyper

TORCH = {
    "sgd": lambda p, h: torch.optim.SGD(p, lr=h.lr, weight_decay=h.weight_decay),
    "momentum": lambda p, h: torch.optim.SGD(
        p, lr=h.lr, momentum=h.momentum, weight_decay=h.weight_decay
    ),
    "nesterov": lambda p, h: torch.optim.SGD(
        p, lr=h.lr, momentum=h.momentum, weight_decay=h.weight_decay, nesterov=True
    ),
    "adagrad": lambda p, h: torch.optim.Adagrad(p, lr=h.lr, eps=h.eps, weight_decay=h.weight_decay),
    "rmsprop": lambda p, h: torch.optim.RMSprop(
        p, lr=h.lr, alpha=h.beta2, eps=h.eps, weight_decay=h.weight_decay
    ),
    "adam": lambda p, h: torch.optim.Adam(
        p, lr=h.lr, betas=(h.beta1, h.beta2), eps=h.eps, weight_decay=h.weight_decay
    ),
    "adamw": lambda p, h: torch.optim.AdamW(
        p, lr=h.lr, betas=(h.beta1, h.beta2), eps=h.eps, weight_decay=h.weight_decay
    ),
}


def valley(x):
    return (x[0] - 1) ** 2 + 20 * (x[1] - x[0] ** 2) ** 2


@pytest.mark.parametrize("decay", [0.0, 0.05])
@pytest.mark.parametrize("name", sorted(UPDATES))
def test_equal_to_torch_over_200_steps(name, decay):
    hyper = Hyper(lr=0.002, weight_decay=decay)
    theirs = torch.tensor([-0.7, 0.6], dtype=torch.float64, requires_grad=True)
    optimizer = TORCH[name]([theirs], hyper)
    ours, state = theirs.detach().clone(), {}
    for _ in range(200):
        optimizer.zero_grad()
        valley(theirs).backward()
        optimizer.step()
        leaf = ours.clone().requires_grad_()
        (grad,) = torch.autograd.grad(valley(leaf), leaf)
        ours, state, _ = UPDATES[name](ours, grad, state, hyper)
        torch.testing.assert_close(ours, theirs.detach(), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", sorted(UPDATES))
def test_a_step_changes_nothing_in_place_and_its_parts_add_up(name):
    param = torch.tensor([1.0, -2.0, 3.0])
    grad = torch.tensor([0.5, 0.1, -0.3])
    kept = param.clone(), grad.clone()
    first = UPDATES[name](param, grad, {}, Hyper(weight_decay=0.1))
    held = {key: value.clone() for key, value in first.state.items()}
    UPDATES[name](first.param, grad, first.state, Hyper())
    assert torch.equal(param, kept[0]) and torch.equal(grad, kept[1])
    assert all(torch.equal(first.state[key], held[key]) for key in held)
    moved = first.values["step"] + first.values.get("decay", 0)
    torch.testing.assert_close(param + moved, first.param)
    assert first.values["gradient"].shape == param.shape
