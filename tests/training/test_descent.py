"""Updates, surfaces, descents and logistic regression: torch's own steps, and ends by theory."""

import math

import pytest
import torch
import torch.nn.functional as F

from llmviz.corpus import letter_pair_counts
from llmviz.models import CountBigram
from llmviz.training.descent import LEFT, Descent, descend, rates_between
from llmviz.training.optimizers import UPDATES, Hyper
from llmviz.training.surfaces import (
    BATCHES,
    SURFACES,
    batches,
    binary_cross_entropy,
    names_bigram,
    train_logistic,
    vowels,
)

ADAM = lambda h: dict(betas=(h.beta1, h.beta2), eps=h.eps)  # noqa: E731
TORCH = {
    "sgd": (torch.optim.SGD, lambda h: {}),
    "momentum": (torch.optim.SGD, lambda h: dict(momentum=h.momentum)),
    "nesterov": (torch.optim.SGD, lambda h: dict(momentum=h.momentum, nesterov=True)),
    "adagrad": (torch.optim.Adagrad, lambda h: dict(eps=h.eps)),
    "rmsprop": (torch.optim.RMSprop, lambda h: dict(alpha=h.beta2, eps=h.eps)),
    "adam": (torch.optim.Adam, ADAM),
    "adamw": (torch.optim.AdamW, ADAM),
}


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


PLACES = torch.tensor([[-1.3, 0.4], [0.0, 0.0], [2.0, -1.5], [0.7, 0.9]], dtype=torch.float64)
each = pytest.mark.parametrize("name", sorted(SURFACES))


@each
def test_the_gradient_of_a_surface_is_autograds(name):
    surface = SURFACES[name]
    leaf = PLACES.clone().requires_grad_()
    (theirs,) = torch.autograd.grad(surface.height(leaf).sum(), leaf)
    torch.testing.assert_close(surface.gradient(PLACES), theirs, rtol=1e-12, atol=1e-12)


@each
def test_minima_of_a_surface_are_flat_lowest_and_drawn(name):
    surface = SURFACES[name]
    places = torch.tensor(surface.minima, dtype=torch.float64)
    assert surface.gradient(places).abs().max() < 1e-9
    assert torch.allclose(
        surface.height(places), torch.tensor(surface.floor, dtype=torch.float64), atol=1e-9
    )
    assert surface.grid(301, 201).min() >= surface.floor - 1e-9
    assert all(surface.contains(place) for place in surface.minima)
    assert surface.contains(surface.start)


@each
def test_the_grid_of_a_surface_is_the_height_at_its_places(name):
    surface = SURFACES[name]
    grid = surface.grid(5, 3)
    assert grid.shape == (3, 5)
    corners = torch.tensor([surface.low, surface.high], dtype=torch.float64)
    torch.testing.assert_close(grid[0, 0], surface.height(corners[0]))
    torch.testing.assert_close(grid[2, 4], surface.height(corners[1]))
    right_below = torch.tensor([surface.high[0], surface.low[1]], dtype=torch.float64)
    torch.testing.assert_close(grid[0, 4], surface.height(right_below))


def test_all_surfaces_are_drawn_without_distortion():
    for surface in SURFACES.values():
        wide, tall = (b - a for a, b in zip(surface.low, surface.high, strict=True))
        assert wide / tall == pytest.approx(1.5)


def test_a_point_outside_is_outside():
    assert not SURFACES["bowl"].contains((99.0, 0.0))


RATES = torch.tensor([0.003, 0.03, 0.2], dtype=torch.float64)


def on(surface, optimizer="sgd", rates=RATES, steps=40, hyper=None, start=None):
    place = torch.tensor(start or surface.start, dtype=torch.float64)
    return descend(optimizer, surface.height, surface.gradient, place, rates, steps, hyper)


@pytest.mark.parametrize("name", sorted(UPDATES))
@pytest.mark.parametrize("surface", ["ravine", "valleys"])
@pytest.mark.parametrize("decay", [0.0, 0.02])
def test_every_rate_goes_as_torch_would(name, surface, decay):
    field, (kind, more) = SURFACES[surface], TORCH[name]
    hyper = Hyper(beta2=0.99, weight_decay=decay)
    ours = on(field, name, hyper=hyper)
    for row, rate in enumerate(RATES.tolist()):
        leaf = torch.tensor(field.start, dtype=torch.float64, requires_grad=True)
        optimizer = kind([leaf], lr=rate, weight_decay=decay, **more(hyper))
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


def test_a_descent_has_settled_at_a_share_of_its_own_way_down():
    """From 5 to a floor of 1 the way is 4 long; a quarter of it is left at 2."""
    losses = torch.tensor([[5.0, 1.0, 2.0], [5.0, 3.0, 2.1], [9.0, 3.0, 2.9], [5.0, 1.0, 1.0]])
    lasted = torch.tensor([2, 2, 2, 1])
    found = Descent("sgd", torch.ones(4), torch.zeros(4, 3, 1), losses, {}, lasted)
    assert found.settled(1.0, 0.25).tolist() == [True, False, True, False]
    assert found.settled(1.0, 0.0).tolist() == [False] * 4
    assert found.settled(0.0, 0.4).tolist() == [True, False, True, False]
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


POINTS = vowels()
INPUTS = POINTS.inputs()


def test_the_steps_of_logistic_regression_are_torchs():
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


def test_the_slope_of_logistic_regression_is_autograds():
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


def test_logistic_regression_starts_undecided_and_finds_all_vowels():
    found = train_logistic(POINTS, torch.tensor([25.0]), batches(26, None, 100))
    assert found.losses[0, 0].item() == pytest.approx(math.log(2))
    answer = binary_cross_entropy(found.path[0, -1], INPUTS, POINTS.y)
    assert bool(((answer.p > 0.5) == (POINTS.y > 0.5)).all())


@pytest.mark.parametrize(
    ("call", "rule"),
    [
        (lambda bowl: on(bowl, "magic"), "optimizer must be one of sgd"),
        (lambda bowl: on(bowl, steps=0), "steps must be at least 1"),
        (lambda bowl: on(bowl, rates=torch.tensor([0.1, 0.0])), "above 0"),
        (lambda bowl: on(bowl, rates=torch.tensor([[0.1]])), "above 0"),
        (lambda _: rates_between(0, 1, 5), "above 0 upwards"),
        (lambda _: rates_between(1, 1, 5), "above 0 upwards"),
        (lambda _: rates_between(0.1, 1, 1), "above 0 upwards"),
        (lambda _: batches(26, 0, 1), "at least 1"),
        (lambda _: batches(26, 3, 0), "at least 1"),
    ],
)
def test_bad_input_names_the_rule(call, rule):
    with pytest.raises(ValueError, match=rule):
        call(SURFACES["bowl"])
