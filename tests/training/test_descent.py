"""Descents equal torch.optim at every learning rate, and end as the theory of each says."""

import math

import pytest
import torch

from llmviz.corpus import letter_pair_counts
from llmviz.models import CountBigram
from llmviz.training.descent import LEFT, descend, rates_between
from llmviz.training.optimizers import UPDATES, Hyper
from llmviz.training.surfaces import SURFACES, names_bigram
from tests.training.test_optimizers import TORCH

RATES = torch.tensor([0.003, 0.03, 0.2], dtype=torch.float64)


def on(surface, optimizer="sgd", rates=RATES, steps=40, hyper=None, start=None):
    place = torch.tensor(start or surface.start, dtype=torch.float64)
    return descend(optimizer, surface.height, surface.gradient, place, rates, steps, hyper)


@pytest.mark.parametrize("name", sorted(UPDATES))
@pytest.mark.parametrize("surface", ["ravine", "valleys"])
def test_every_rate_goes_as_torch_would(name, surface):
    field = SURFACES[surface]
    hyper = Hyper(beta2=0.99, weight_decay=0.02)
    ours = on(field, name, hyper=hyper)
    for row, rate in enumerate(RATES.tolist()):
        leaf = torch.tensor(field.start, dtype=torch.float64, requires_grad=True)
        settings = Hyper(lr=rate, beta2=0.99, weight_decay=0.02)
        optimizer = TORCH[name]([leaf], settings)
        for step in range(int(ours.lasted[row])):
            torch.testing.assert_close(ours.path[row, step], leaf.detach(), rtol=1e-9, atol=1e-9)
            torch.testing.assert_close(ours.losses[row, step], field.height(leaf.detach()))
            optimizer.zero_grad()
            field.height(leaf).backward()
            optimizer.step()


def test_a_step_moves_by_what_is_shown():
    for name in UPDATES:
        found = on(SURFACES["saddle"], name, hyper=Hyper(weight_decay=0.1))
        moved = found.path[:, 1:] - found.path[:, :-1]
        shown = found.values["step"] + found.values.get("decay", 0)
        torch.testing.assert_close(moved, shown, rtol=1e-9, atol=1e-12)


def test_a_bowl_throws_out_what_exceeds_two_over_its_curvature():
    bowl = SURFACES["bowl"]  # curvatures 1 and 2
    rates = torch.tensor([0.5, 0.99, 1.01, 1.5], dtype=torch.float64)
    found = on(bowl, rates=rates, steps=2000)
    assert found.settled(bowl.floor, 1e-6).tolist() == [True, True, False, False]
    assert found.lasted[0] == 2000
    assert found.lasted[3] < 2000
    assert found.path.isfinite().all() and found.path.abs().max() <= LEFT


def test_what_has_left_holds_still():
    found = on(SURFACES["bowl"], rates=torch.tensor([5.0], dtype=torch.float64), steps=30)
    last = int(found.lasted[0])
    assert 0 < last < 30
    assert bool((found.path[0, last:] == found.path[0, last]).all())
    assert bool((found.values["step"][0, last:] == 0).all())


def test_what_has_left_is_not_settled_wherever_it_was():
    flat = lambda w: w[:, 0] * 0  # noqa: E731
    found = descend(
        "sgd", flat, lambda w, step: torch.full_like(w, 1e5), torch.zeros(1), RATES, steps=1000
    )
    assert found.losses.eq(0).all()
    assert (
        found.settled(0.0, 0.1).tolist() == (found.lasted == 1000).tolist() == [True, False, False]
    )
    assert found.best() == 0


def test_momentum_is_faster_along_a_ravine():
    ravine = SURFACES["ravine"]
    rates = rates_between(0.001, 1.0, 31)
    plain = on(ravine, "sgd", rates, 60)
    rolling = on(ravine, "momentum", rates, 60)
    assert rolling.losses[rolling.best(), -1] < plain.losses[plain.best(), -1]


def test_the_bigram_goes_to_the_counted_one():
    bigram = names_bigram()
    counted = CountBigram.fit_counts(torch.from_numpy(letter_pair_counts())).average_loss()
    assert bigram.floor == pytest.approx(counted, rel=1e-12)
    assert bigram.floor == pytest.approx(2.4540, abs=5e-5)
    assert bigram.height(bigram.start()).item() == pytest.approx(math.log(27), rel=1e-12)
    found = descend(
        "adam",
        bigram.height,
        bigram.gradient,
        bigram.start(),
        torch.tensor([0.3], dtype=torch.float64),
        150,
        watched=[0, 5],
    )
    assert found.path.shape == (1, 151, 2)
    assert bigram.floor < found.losses[0, -1] < bigram.floor + 0.005


def test_the_bigrams_gradient_is_autograds():
    bigram = names_bigram()
    leaf = torch.linspace(-1, 1, 729, dtype=torch.float64).requires_grad_()
    (theirs,) = torch.autograd.grad(bigram.height(leaf), leaf)
    torch.testing.assert_close(bigram.gradient(leaf.detach()), theirs, rtol=1e-9, atol=1e-12)


def test_rates_grow_by_one_factor():
    rates = rates_between(0.01, 1, 5)
    assert rates.tolist() == pytest.approx([0.01, 0.0316228, 0.1, 0.316228, 1], rel=1e-5)


@pytest.mark.parametrize(
    "change, rule",
    [
        ({"optimizer": "magic"}, "optimizer must be one of sgd"),
        ({"steps": 0}, "steps must be at least 1"),
        ({"rates": torch.tensor([0.1, 0.0])}, "above 0"),
        ({"rates": torch.tensor([[0.1]])}, "above 0"),
    ],
)
def test_bad_input_names_the_rule(change, rule):
    given = {"optimizer": "sgd", "rates": RATES, "steps": 3} | change
    with pytest.raises(ValueError, match=rule):
        on(SURFACES["bowl"], **given)


@pytest.mark.parametrize("given", [(0, 1, 5), (1, 1, 5), (0.1, 1, 1)])
def test_bad_ranges_of_rates_are_refused(given):
    with pytest.raises(ValueError, match="above 0 upwards"):
        rates_between(*given)
