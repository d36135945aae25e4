"""Losses, of tokens and of a student: torch's, by finite differences, and at their edges."""

import itertools
import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from llmviz.nn.distillation import distillation_loss, soft_targets
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


TEMPERATURES = st.sampled_from([0.3, 1.0, 2.0, 4.0, 20.0])


def pair(seed: int, rows: int = 5, vocabulary: int = 11) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    student, teacher = torch.randn(2, rows, vocabulary, generator=generator, dtype=torch.float64)
    return 2 * student, 3 * teacher


@given(st.integers(0, 999), TEMPERATURES)
def test_the_loss_is_what_torch_gives(seed, temperature):
    student, teacher = pair(seed)
    expected = F.kl_div(
        F.log_softmax(student / temperature, -1),
        F.softmax(teacher / temperature, -1),
        reduction="batchmean",
    )
    loss = distillation_loss(student, soft_targets(teacher, temperature), temperature)
    torch.testing.assert_close(loss, temperature**2 * expected)


@given(st.integers(0, 999), TEMPERATURES)
def test_its_gradient_is_the_temperature_times_what_they_are_apart(seed, temperature):
    student, teacher = pair(seed)
    student.requires_grad_()
    target = soft_targets(teacher, temperature)
    distillation_loss(student, target, temperature).backward()
    apart = F.softmax(student / temperature, -1) - target
    torch.testing.assert_close(student.grad, temperature * apart.detach() / len(student))


@pytest.mark.parametrize("temperature", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("top", [None, 1, 4])
def test_its_gradient_is_that_of_finite_differences(temperature, top):
    student, teacher = pair(7)
    target = soft_targets(teacher, temperature, top)
    assert torch.autograd.gradcheck(
        lambda logits: distillation_loss(logits, target, temperature), student.requires_grad_()
    )


@given(st.integers(0, 999), st.integers(0, 10))
def test_a_target_of_one_token_gives_the_cross_entropy(seed, token):
    student, _ = pair(seed)
    tokens = torch.full((len(student),), token)
    target = F.one_hot(tokens, student.shape[-1]).double()
    torch.testing.assert_close(distillation_loss(student, target), F.cross_entropy(student, tokens))


def test_at_a_high_temperature_the_gradient_compares_logits():
    # Hinton et al. 2015, equation 4: (z − v) ÷ V for logits without their means.
    student, teacher = pair(3)
    student.requires_grad_()
    distillation_loss(student, soft_targets(teacher, 1e4), 1e4).backward()
    apart = student.detach() - teacher
    centred = (apart - apart.mean(-1, keepdim=True)) / student.shape[-1] / len(student)
    torch.testing.assert_close(student.grad, centred, rtol=1e-2, atol=1e-4)


@given(st.integers(0, 999), TEMPERATURES)
def test_a_student_that_is_the_teacher_has_nothing_to_learn(seed, temperature):
    _, teacher = pair(seed)
    student = teacher.clone().requires_grad_()
    loss = distillation_loss(student, soft_targets(teacher, temperature), temperature)
    loss.backward()
    assert loss.item() == pytest.approx(0, abs=1e-9)
    torch.testing.assert_close(student.grad, torch.zeros_like(student))


@given(st.integers(0, 999), st.integers(1, 11), TEMPERATURES)
def test_the_most_probable_tokens_share_all(seed, top, temperature):
    _, teacher = pair(seed)
    target, whole = soft_targets(teacher, temperature, top), soft_targets(teacher, temperature)
    torch.testing.assert_close(target.sum(-1), torch.ones(len(teacher), dtype=torch.float64))
    kept = target > 0
    assert (kept.sum(-1) == top).all()
    ratio = (target / whole)[kept].view(len(teacher), top)
    torch.testing.assert_close(ratio, ratio[:, :1].expand_as(ratio))
    assert (whole.masked_fill(kept, 0).amax(-1) <= whole.masked_fill(~kept, 1).amin(-1)).all()


def test_of_equal_logits_just_so_many_are_kept():
    assert (soft_targets(torch.zeros(2, 6), 1.0, 3) > 0).sum(-1).tolist() == [3, 3]


@pytest.mark.parametrize("temperature", [0.0, -1.0, math.nan, math.inf])
def test_a_temperature_that_is_not_positive_is_refused(temperature):
    with pytest.raises(ValueError, match="positive"):
        soft_targets(torch.zeros(1, 3), temperature)
    with pytest.raises(ValueError, match="positive"):
        distillation_loss(torch.zeros(1, 3), torch.zeros(1, 3), temperature)


def test_what_does_not_fit_is_refused():
    for top in (0, 4):
        with pytest.raises(ValueError, match="from 1 to 3"):
            soft_targets(torch.zeros(1, 3), 1.0, top)
    with pytest.raises(ValueError, match="one shape"):
        distillation_loss(torch.zeros(1, 3), torch.zeros(2, 3))
