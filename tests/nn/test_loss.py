"""The loss, step by step, is torch's; its parts are what their names say."""

import itertools
import math

import pytest
import torch
import torch.nn.functional as F

from llmviz.nn.loss import IGNORED, REDUCTIONS, cross_entropy_steps, next_token_loss

SWITCHES = list(
    itertools.product(REDUCTIONS, [(), (0,), (1, 4)], [False, True], [0.0, 0.1, 0.7, 1.0])
)


def example(seed: int = 0, n: int = 7, v: int = 11) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    logits = 3 * torch.randn(n, v, generator=generator, dtype=torch.float64)
    return logits, torch.randint(0, v, (n,), generator=generator)


@pytest.mark.parametrize("reduction, ignored, weighted, smoothing", SWITCHES)
def test_every_combination_is_torchs(reduction, ignored, weighted, smoothing):
    for seed, index in ((0, IGNORED), (1, -100), (2, 3)):
        logits, targets = example(seed)
        targets[list(ignored)] = index
        weights = torch.linspace(0.1, 2.5, 11, dtype=torch.float64) if weighted else None
        steps = cross_entropy_steps(
            logits,
            targets,
            reduction=reduction,
            ignore_index=index,
            class_weights=weights,
            label_smoothing=smoothing,
        )
        theirs = F.cross_entropy(
            logits,
            targets,
            weight=weights,
            ignore_index=index,
            reduction=reduction,
            label_smoothing=smoothing,
        )
        torch.testing.assert_close(steps.loss, theirs, rtol=1e-12, atol=1e-12)


def test_the_steps_are_what_they_say():
    logits, targets = example()
    targets[2] = IGNORED
    steps = cross_entropy_steps(logits, targets)
    torch.testing.assert_close(steps.probabilities.sum(-1), torch.ones(7, dtype=torch.float64))
    for i in (0, 1, 3, 6):
        share = math.exp(logits[i, targets[i]]) / sum(math.exp(z) for z in logits[i].tolist())
        assert steps.target_probability[i].item() == pytest.approx(share, rel=1e-12)
        assert steps.nats[i].item() == pytest.approx(-math.log(share), rel=1e-12)
    assert steps.weights.tolist() == [1, 1, 0, 1, 1, 1, 1]
    assert steps.parts[2] == 0
    assert steps.loss == steps.total / 6


def test_it_is_the_models_own_loss():
    logits, targets = example(5)
    targets[0] = IGNORED
    steps = cross_entropy_steps(logits.float(), targets)
    torch.testing.assert_close(steps.loss, next_token_loss(logits, targets))


def test_huge_logits_stay_finite():
    logits = torch.tensor([[1e4, 0.0, -1e4]], dtype=torch.float64)
    assert cross_entropy_steps(logits, torch.tensor([0])).loss == 0
    assert cross_entropy_steps(logits, torch.tensor([2])).loss == 2e4


@pytest.mark.parametrize(
    "change, rule",
    [
        ({"targets": torch.tensor([0, 11])}, "target ids must be from 0 to 10; got 11"),
        ({"targets": torch.tensor([0, -2])}, "target ids must be from 0 to 10; got -2"),
        ({"targets": torch.tensor([0])}, "one id a position"),
        ({"reduction": "average"}, "reduction must be one of mean, sum, none"),
        ({"label_smoothing": 1.5}, "label_smoothing must be from 0 to 1"),
        ({"class_weights": torch.ones(3)}, "11 class weights are needed"),
        ({"class_weights": -torch.ones(11)}, "must not be negative"),
        ({"targets": torch.tensor([-1, -1])}, "whose weight is above 0"),
        ({"class_weights": torch.zeros(11)}, "whose weight is above 0"),
    ],
)
def test_bad_input_names_the_rule(change, rule):
    logits, targets = example(n=2)
    given = {"logits": logits, "targets": targets} | change
    with pytest.raises(ValueError, match=rule):
        cross_entropy_steps(given.pop("logits"), given.pop("targets"), **given)
