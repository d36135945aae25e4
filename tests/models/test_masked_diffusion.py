"""The masked-diffusion loss: its bound against a known joint, its weights, gradients and edges."""

import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as some

from llmviz.models import BERT, BERTConfig
from llmviz.models.masked_diffusion import (
    diffusion_loss_steps,
    drawn_bounds,
    exact_bound,
    mask_tokens,
    sample_times,
    true_conditionals,
)
from llmviz.sampling.unmasking import unmasking_distribution
from tests.random_weights import with_random_weights

T, V = 3, 3
TEXTS = list(itertools.product(range(V), repeat=T))


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def random_joint(seed=0, spread=2.0, tokens=T, vocabulary=V):
    shape = (vocabulary,) * tokens
    logits = torch.randn(shape, generator=seeded(seed), dtype=torch.float64) * spread
    return logits.flatten().softmax(0).reshape(shape)


def random_predictor(seed, spread):
    """Any model: logits drawn anew for every partly masked text, which fit no joint."""
    table = torch.randn((V + 1,) * T + (T, V), generator=seeded(seed), dtype=torch.float64) * spread
    return lambda ids: table[tuple(ids.T)]


def bounds(predict):
    """The exact bound of every text, in the joint's shape."""
    each = [exact_bound(predict, torch.tensor(text), V).bound for text in TEXTS]
    return torch.tensor(each, dtype=torch.float64).reshape((V,) * T)


def loss_steps(predict, ids, t, generator=None):
    masked = mask_tokens(ids, t, V, generator)
    return diffusion_loss_steps(predict(torch.where(masked, V, ids)), ids, masked, t, V)


# ---- the bound


def test_true_conditionals_are_those_counted_from_the_joint():
    joint = random_joint()
    p = true_conditionals(joint)(torch.tensor([[V, 1, V], [V, V, V], [2, 0, V]])).softmax(-1)
    torch.testing.assert_close(p[0, 0], joint[:, 1].sum(1) / joint[:, 1].sum())
    torch.testing.assert_close(p[0, 2], joint[:, 1].sum(0) / joint[:, 1].sum())
    torch.testing.assert_close(p[1, 1], joint.sum((0, 2)))
    torch.testing.assert_close(p[2, 2], joint[2, 0] / joint[2, 0].sum())


@pytest.mark.parametrize("seed", [0, 1])
def test_true_conditionals_make_the_bound_exact(seed):
    joint = random_joint(seed)
    found = bounds(true_conditionals(joint))
    torch.testing.assert_close(found, -joint.log(), atol=1e-12, rtol=0)
    entropy = -(joint * joint.log()).sum()
    torch.testing.assert_close((joint * found).sum(), entropy, atol=1e-12, rtol=0)


@settings(max_examples=15, deadline=None)
@given(some.integers(0, 1000), some.sampled_from([0.0, 0.3, 1.0, 4.0]))
def test_no_model_comes_below_the_entropy_or_its_own_texts(seed, spread):
    joint, predict = random_joint(seed), random_predictor(seed + 1, spread)
    found = bounds(predict)
    assert (joint * found).sum() >= -(joint * joint.log()).sum() - 1e-12
    own = torch.from_numpy(unmasking_distribution(predict, T, T, V))
    assert (found >= -own.log() - 1e-12).all()


def test_the_exact_bound_is_the_mean_over_orders():
    predict, text = random_predictor(3, 1.0), (2, 0, 1)
    nats = []
    for order in itertools.permutations(range(T)):
        ids, total = torch.full((1, T), V), 0.0
        for position in order:
            total -= predict(ids)[0, position].log_softmax(-1)[text[position]].item()
            ids[0, position] = text[position]
        nats.append(total)
    assert exact_bound(predict, torch.tensor(text), V).bound == pytest.approx(np.mean(nats))


def test_the_exact_bound_is_the_integral_over_t():
    """The weight of each mask by quadrature: exact for polynomials of this degree."""
    predict, ids = random_predictor(4, 1.0), torch.tensor([[1, 1, 0]])
    nodes, weights = np.polynomial.legendre.leggauss(4)
    total = 0.0
    for node, weight in zip(nodes, weights, strict=True):
        t = (node + 1) / 2
        for masked in torch.tensor(list(itertools.product([False, True], repeat=T))):
            chance = t ** masked.sum() * (1 - t) ** (~masked).sum()
            logits = predict(torch.where(masked, V, ids))
            steps = diffusion_loss_steps(logits, ids, masked[None], torch.tensor([t]), V)
            total += weight / 2 * chance.item() * steps.loss.item()
    found = exact_bound(predict, ids[0], V)
    assert found.bound == pytest.approx(total, rel=1e-6)
    assert found.by_masked.sum().item() == found.bound


def test_sampled_losses_average_to_the_exact_bound():
    predict, rows = random_predictor(5, 1.0), 20_000
    ids = torch.tensor([[0, 2, 1]]).expand(rows, T)
    found = drawn_bounds(predict, ids, V, seeded())
    again = seeded()
    times = sample_times(rows, again)
    torch.testing.assert_close(found, loss_steps(predict, ids, times, again).bounds)
    error = (found.mean() - exact_bound(predict, ids[0], V).bound).abs()
    assert error < 4 * found.std() / math.sqrt(rows)


# ---- times and masks


def test_times_are_uniform_and_spread_evenly_over_a_batch():
    t = torch.stack([sample_times(8, seeded(seed)) for seed in range(300)])  # (300, 8)
    assert ((t * 8).ceil() == torch.arange(1, 9)).all()
    inside = (t * 8) % 1
    assert inside.mean().item() == pytest.approx(0.5, abs=4 * math.sqrt(1 / 12 / t.numel()))
    assert t.mean(1).std() < 0.2 * math.sqrt(1 / 12 / 8)  # of 8 independent times
    assert 0 < sample_times(1).item() <= 1
    with pytest.raises(ValueError, match="batch must be 1 or more; got 0"):
        sample_times(0)


def test_each_row_is_masked_at_its_own_rate_and_padding_never():
    ids = torch.zeros(3, 4000, dtype=torch.int64)
    ids[:, 2000:] = V + 1
    masked = mask_tokens(ids, torch.tensor([1.0, 0.3, 1e-12]), V, seeded())
    assert not masked[:, 2000:].any()
    shares = masked[:, :2000].double().mean(1).tolist()
    assert shares == pytest.approx([1, 0.3, 0], abs=4 * math.sqrt(0.21 / 2000))


# ---- gradients and edges


def test_gradients_are_those_of_finite_differences():
    ids, masked = torch.tensor([[0, 2, 1], [1, 1, 0]]), torch.tensor([[1, 0, 1], [0, 1, 0]]) == 1
    logits = torch.randn(2, T, V, generator=seeded(), dtype=torch.float64, requires_grad=True)
    t = torch.tensor([0.7, 0.2])
    torch.autograd.gradcheck(lambda x: diffusion_loss_steps(x, ids, masked, t, V).loss, logits)


@pytest.mark.parametrize("t", [2**-53, 1e-8, 1.0])
@pytest.mark.parametrize("masked", [[[False] * T], [[False, True, False]], [[True] * T]])
def test_gradients_are_finite_at_any_time(t, masked):
    """And where nothing is masked the loss is 0, and nothing is learned."""
    logits, masked = torch.zeros(1, T, V, requires_grad=True), torch.tensor(masked)
    steps = diffusion_loss_steps(
        logits, torch.tensor([[0, 1, 2]]), masked, torch.tensor([t], dtype=torch.float64), V
    )
    steps.loss.backward()
    assert steps.loss.item() == pytest.approx(masked.sum().item() * math.log(V) / t)
    assert logits.grad.isfinite().all()
    assert ((logits.grad != 0).any(-1) == masked).all()


def test_a_text_of_one_token_has_its_plain_cross_entropy():
    found = exact_bound(lambda ids: torch.tensor([[[2.0, 0.0]]]), torch.tensor([1]), 2)
    assert found.bound == pytest.approx(math.log(1 + math.e**2))


def test_it_takes_a_bert_and_its_two_ids_that_are_no_text_do_not_count():
    torch.manual_seed(0)
    model = BERT(BERTConfig(vocab_size=9, context_length=8, n_layer=1, n_head=2, n_embd=8))
    with_random_weights(model, 0.3)
    mask_id, pad_id = model.config.mask_id, model.config.pad_id
    ids, t = torch.tensor([[1, 4, 0, 6, 2, pad_id]]), torch.tensor([1.0])
    masked = mask_tokens(ids, t, mask_id)
    logits = model(torch.where(masked, mask_id, ids))[0]
    steps = diffusion_loss_steps(logits, ids, masked, t, mask_id)
    expected = torch.nn.functional.cross_entropy(logits[0, :5, :mask_id], ids[0, :5])
    assert steps.loss.item() == pytest.approx(5 * expected.item(), rel=1e-5)
    steps.loss.backward()
    found = exact_bound(lambda rows: model(rows)[0], ids[0, :5], mask_id)
    assert found.by_masked.shape == (5,) and math.isfinite(found.bound)


LOGITS, IDS, ALL = torch.zeros(1, 2, V), torch.tensor([[0, 1]]), torch.ones(1, 2) == 1


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (dict(t=torch.tensor([0.0])), "t must be above 0 and at most 1; got 0"),
        (dict(t=torch.tensor([1.5])), "t must be above 0 and at most 1; got 1.5"),
        (dict(t=torch.tensor([math.nan])), "t must be above 0 and at most 1; got nan"),
        (dict(t=torch.tensor([0.5, 0.5])), "there is a t for each row"),
        (dict(masked=ALL[:, :1]), "must have the shape"),
        (dict(ids=torch.tensor([[0, V]])), "must have ids from 0 to 2; got 3"),
    ],
)
def test_what_the_loss_refuses(wrong, message):
    given = dict(logits=LOGITS, ids=IDS, masked=ALL, t=torch.tensor([0.5]), mask_id=V)
    with pytest.raises(ValueError, match=message):
        diffusion_loss_steps(**given | wrong)


@pytest.mark.parametrize("ids", [[], [0] * 13, [[0, 1]], [0, V], [-1, 0]], ids=str)
def test_texts_that_have_no_exact_bound_are_refused(ids):
    with pytest.raises(ValueError, match=r"tokens; got|token ids must be"):
        exact_bound(random_predictor(0, 1.0), torch.tensor(ids, dtype=torch.int64), V)


@pytest.mark.parametrize(
    "joint", [torch.ones(2, 2), torch.full((2, 3), 1 / 6), torch.tensor([1.5, -0.5])], ids=str
)
def test_what_is_no_joint_is_refused(joint):
    with pytest.raises(ValueError, match="a joint has an axis of V tokens for each position"):
        true_conditionals(joint)
