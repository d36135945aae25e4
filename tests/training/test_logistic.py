"""Logistic regression: its steps are torch's, its batches show every point once an epoch."""

import math

import pytest
import torch
import torch.nn.functional as F

from llmviz.training.surfaces import BATCHES, batches, binary_cross_entropy, train_logistic, vowels

POINTS = vowels()
INPUTS = POINTS.inputs()


def test_the_steps_are_torchs():
    w = torch.tensor([[0.3, -1.2, 0.5], [4.0, 2.0, -60.0]], dtype=torch.float64)
    answer = binary_cross_entropy(w, INPUTS, POINTS.y)
    wanted = POINTS.y.expand(2, -1)
    theirs = F.binary_cross_entropy_with_logits(answer.z, wanted, reduction="none")
    torch.testing.assert_close(answer.loss, theirs)
    torch.testing.assert_close(
        answer.z[0, 3], w[0, 0] * INPUTS[3, 0] + w[0, 1] * INPUTS[3, 1] + w[0, 2]
    )
    right = torch.where(wanted > 0, answer.p, 1 - answer.p)[0]
    torch.testing.assert_close(answer.loss[0], -right.log())


def test_the_slope_is_autograds():
    w = torch.tensor([0.3, -1.2, 0.5], dtype=torch.float64, requires_grad=True)
    answer = binary_cross_entropy(w, INPUTS, POINTS.y)
    (theirs,) = torch.autograd.grad(answer.loss.mean(), w)
    torch.testing.assert_close(answer.slope.detach() @ INPUTS / 26, theirs)


def test_the_letters_are_the_counted_ones():
    assert "".join(POINTS.names) == "abcdefghijklmnopqrstuvwxyz"
    assert [name for name, y in zip(POINTS.names, POINTS.y, strict=True) if y] == list("aeiou")
    q = POINTS.names.index("q")
    assert POINTS.x[q].tolist() == pytest.approx([0, math.sqrt(13 / 272)])
    torch.testing.assert_close(INPUTS[:, :2].mean(0), torch.zeros(2, dtype=torch.float64))
    torch.testing.assert_close((INPUTS[:, :2] ** 2).mean(0), torch.ones(2, dtype=torch.float64))


@pytest.mark.parametrize("kind", sorted(BATCHES))
def test_every_epoch_shows_every_point_once(kind):
    plan = batches(26, BATCHES[kind], 3, seed=4)
    order = [point for batch in plan for point in batch]
    for epoch in range(3):
        assert sorted(order[26 * epoch : 26 * epoch + 26]) == list(range(26))
    assert plan == batches(26, BATCHES[kind], 3, seed=4)
    assert plan != batches(26, BATCHES[kind], 3, seed=5)


def test_full_batch_is_gradient_descent_on_the_mean():
    found = train_logistic(POINTS, torch.tensor([0.5]), batches(26, None, 8))
    w = torch.zeros(3, dtype=torch.float64, requires_grad=True)
    for step in range(8):
        loss = F.binary_cross_entropy_with_logits(INPUTS @ w, POINTS.y)
        assert found.losses[0, step].item() == pytest.approx(loss.item(), rel=1e-12)
        (grad,) = torch.autograd.grad(loss, w)
        w = (w - 0.5 * grad).detach().requires_grad_()
    torch.testing.assert_close(found.path[0, -1], w.detach())


def test_it_starts_undecided_and_finds_all_vowels():
    found = train_logistic(POINTS, torch.tensor([25.0]), batches(26, None, 100))
    assert found.losses[0, 0].item() == pytest.approx(math.log(2))
    answer = binary_cross_entropy(found.path[0, -1], INPUTS, POINTS.y)
    assert bool(((answer.p > 0.5) == (POINTS.y > 0.5)).all())


@pytest.mark.parametrize("size, epochs", [(0, 1), (3, 0)])
def test_bad_batches_are_refused(size, epochs):
    with pytest.raises(ValueError, match="at least 1"):
        batches(26, size, epochs)
