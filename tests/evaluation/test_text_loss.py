"""The loss of a text: its steps against torch, its mistakes against plain formulas."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from llmviz.evaluation.text_loss import (
    LossSettings,
    loss_steps,
    mistake_numbers,
    mistaken_losses,
    target_logits,
    torch_loss,
)
from llmviz.nn.loss_mistakes import LOSS_MISTAKES

TARGETS = (1, 0, 3, 1, 2)
LOGITS = np.random.default_rng(0).normal(size=(len(TARGETS), 4)) * 3


def test_the_logits_are_those_before_each_target():
    table = torch.arange(12.0).reshape(4, 3)

    def model(ids: torch.Tensor) -> tuple[torch.Tensor]:
        return (table[ids],)

    logits = target_logits(model, [2, 0, 3])
    assert logits.dtype == np.float64 and np.array_equal(logits, table[[2, 0]].numpy())


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("smoothing", [0.0, 0.3])
@pytest.mark.parametrize("token", [None, 1])
@pytest.mark.parametrize("skipped", [(), (0, 3)])
def test_the_steps_end_where_torch_does(reduction, smoothing, token, skipped):
    settings = LossSettings(reduction, skipped, token, 2.5, smoothing)
    ours = loss_steps(LOGITS, TARGETS, settings).loss.numpy()
    assert np.allclose(ours, torch_loss(LOGITS, TARGETS, settings), atol=1e-12)


def test_a_token_counts_as_often_as_its_weight_says():
    """Weight 3 for a token is each of its positions three times."""
    places = [i for i, token in enumerate(TARGETS) for _ in range(3 if token == 1 else 1)]
    often = loss_steps(LOGITS[places], [TARGETS[i] for i in places]).loss
    for of in (lambda *given: loss_steps(*given).loss, torch_loss):
        assert float(of(LOGITS, TARGETS, LossSettings(token=1, weight=3.0))) == pytest.approx(
            float(often)
        )


def test_a_mean_over_nothing_is_refused():
    with pytest.raises(ValueError):
        loss_steps(LOGITS, TARGETS, LossSettings(skipped=tuple(range(len(TARGETS)))))


def test_the_numbers_of_the_mistakes_follow_from_the_probabilities():
    p = np.exp(LOGITS) / np.exp(LOGITS).sum(1, keepdims=True)
    nats = -np.log(p[np.arange(len(TARGETS)), TARGETS])
    numbers = mistake_numbers(LOGITS, TARGETS)
    assert numbers["right"] == pytest.approx(nats.mean())
    assert numbers["blind"] == math.log(4) and numbers["positions"] == len(TARGETS)
    assert numbers["mean_of"] == pytest.approx(np.exp(nats).mean())
    assert numbers["base_two"] == pytest.approx(2 ** nats.mean())
    sums = (1 / (1 + np.exp(-LOGITS))).sum(1)
    assert (numbers["low"], numbers["high"]) == pytest.approx((sums.min(), sums.max()))
    smooth = 0.9 * nats.mean() + 0.1 * -np.log(p).mean()
    assert numbers["smooth"] == pytest.approx(math.exp(smooth))
    sure = torch.eye(4, dtype=torch.float64)[:1] * 1e3
    for name, target in (("lowest", 0), ("highest", 1)):  # sure and right, sure and wrong
        twice = LOSS_MISTAKES["probabilities"](sure, torch.tensor([target]), torch.tensor([0]))
        assert numbers[name] == pytest.approx(float(twice))


def test_every_mistake_has_its_loss():
    losses = mistaken_losses(LOGITS, TARGETS, (0, *TARGETS[:-1]))
    assert set(losses) == set(LOSS_MISTAKES)
    assert losses["classes"] * 4 == pytest.approx(float(loss_steps(LOGITS, TARGETS).total))
