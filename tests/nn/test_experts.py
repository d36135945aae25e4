"""A mixture of experts against a loop over experts, and against transformers' Mixtral block."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from llmviz.models.settings import GPTConfig
from llmviz.nn.experts import Experts, balance_loss, route
from llmviz.trace import name_taps, record
from tests.random_weights import with_random_weights


def experts(n_expert=4, per_token=2, bias=True, activation="swiglu", normalised=True):
    torch.manual_seed(0)
    layer = Experts(8, 12, activation, n_expert, per_token, bias=bias, normalised=normalised)
    return with_random_weights(layer, 0.5)


@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 1000))
@settings(max_examples=40)
def test_routing_sums_to_one_over_the_best(n_expert, k, seed):
    k = min(k, n_expert)
    scores = torch.randn(3, 5, n_expert, generator=torch.Generator().manual_seed(seed))
    steps = route(scores, k)
    torch.testing.assert_close(steps.weights.sum(-1), torch.ones(3, 5))
    torch.testing.assert_close(steps.shares.sum(-1), torch.ones(3, 5))
    assert ((steps.weights > 0).sum(-1) == k).all()
    chosen = steps.weights > 0
    lowest = scores.masked_fill(~chosen, torch.inf).amin(-1)
    assert (lowest >= scores.masked_fill(chosen, -torch.inf).amax(-1)).all()
    # the softmax of the chosen scores alone is the same number
    alone = scores.masked_fill(~chosen, -torch.inf).softmax(-1)
    torch.testing.assert_close(steps.weights, alone)


@pytest.mark.parametrize("normalised", [True, False])
@pytest.mark.parametrize("activation", ["gelu", "swiglu"])
@pytest.mark.parametrize("per_token", [1, 2, 4])
def test_it_equals_a_loop_over_all_experts(per_token, activation, normalised):
    layer = experts(per_token=per_token, activation=activation, normalised=normalised).double()
    x = torch.randn(2, 5, 8).double().requires_grad_()
    weights = route(layer.router(x), per_token, normalised=normalised).weights
    expected = sum(
        weights[..., number, None] * expert(x) for number, expert in enumerate(layer.experts)
    )
    output = layer(x)
    torch.testing.assert_close(output, expected)
    upstream = torch.randn_like(output)
    wanted = [x, *layer.parameters()]
    for a, b in zip(
        torch.autograd.grad(output, wanted, upstream),
        torch.autograd.grad(expected, wanted, upstream),
        strict=True,
    ):
        torch.testing.assert_close(a, b)


def test_values_and_balance_are_those_of_mixtral():
    pytest.importorskip("transformers")
    from transformers import MixtralConfig
    from transformers.models.mixtral.modeling_mixtral import (
        MixtralSparseMoeBlock,
        load_balancing_loss_func,
    )

    config = MixtralConfig(
        hidden_size=8, intermediate_size=12, num_local_experts=4, num_experts_per_tok=2
    )
    ours, theirs = experts(bias=False), MixtralSparseMoeBlock(config).eval()
    with torch.no_grad():
        theirs.gate.weight.copy_(ours.router.weight)
        for number, expert in enumerate(ours.experts):
            both = torch.cat((expert.hidden.weight, expert.up.weight))
            theirs.experts.gate_up_proj[number].copy_(both)
            theirs.experts.down_proj[number].copy_(expert.output.weight)
    x = torch.randn(3, 7, 8)
    expected = theirs(x)
    expected = expected[0] if isinstance(expected, tuple) else expected
    torch.testing.assert_close(ours(x), expected, atol=1e-5, rtol=1e-5)
    scores = ours.router(x)
    # theirs counts a token once for each expert it goes to
    loss = load_balancing_loss_func((scores.flatten(0, 1),), 4, 2) / 2
    torch.testing.assert_close(balance_loss(route(scores, 2)), loss)


def test_balance_runs_from_even_to_one_expert_for_all():
    even = route(torch.eye(4) * 9, 1)
    assert balance_loss(even).item() == pytest.approx(1, abs=1e-3)
    one = route(torch.tensor([[50.0, 0, 0, 0]] * 4), 1)
    assert balance_loss(one).item() == pytest.approx(4, abs=1e-3)


def test_taps_hold_the_routing_and_each_experts_own_rows():
    layer, x = experts(), torch.randn(2, 5, 8)
    name_taps(layer)
    with record() as trace:
        layer(x)
    steps = route(layer.router(x), 2)
    torch.testing.assert_close(trace["router"], steps.scores)
    torch.testing.assert_close(trace["routing"], steps.weights)
    for number, expert in enumerate(layer.experts):
        rows = x[steps.weights[..., number] > 0]
        torch.testing.assert_close(trace[f"experts.{number}.hidden"], expert.hidden(rows))


def test_an_expert_without_tokens_has_a_gradient_of_zero():
    layer = experts(per_token=1)
    with torch.no_grad():
        layer.router.weight.zero_()  # a tie: the first expert gets all
    layer(torch.randn(1, 3, 8)).sum().backward()
    grads = [expert.output.weight.grad for expert in layer.experts]
    assert all(grad is not None for grad in grads)
    assert sum(bool(grad.any()) for grad in grads) == 1


def test_a_single_expert_counts_as_much_as_it_is_probable_and_only_so_its_router_learns():
    scores = torch.randn(5, 4)
    steps = route(scores, 1, normalised=False)
    torch.testing.assert_close(steps.weights.sum(-1), scores.softmax(-1).amax(-1))
    for normalised in (True, False):
        layer = experts(per_token=1, normalised=normalised)
        layer(torch.randn(2, 5, 8)).sum().backward()
        learns = float(layer.router.weight.grad.abs().max()) > 1e-6
        assert learns is not normalised


@pytest.mark.parametrize("k", [0, -1, 4])
def test_bad_k_is_named(k):
    with pytest.raises(ValueError, match=f"k must be from 1 to 3, the experts; got {k}"):
        route(torch.zeros(2, 3), k)


def test_no_experts_one_expert_and_more_than_there_are():
    with pytest.raises(ValueError, match="n_expert must be a whole number of at least 1; got 0"):
        GPTConfig(n_expert=0)
    with pytest.raises(
        ValueError, match="experts_per_token must be a whole number of at least 1; got 0"
    ):
        GPTConfig(n_expert=4, experts_per_token=0)
    with pytest.raises(ValueError, match="experts_per_token must not exceed n_expert; got 5 > 4"):
        GPTConfig(n_expert=4, experts_per_token=5)
    for n_expert, per_token in ((0, 0), (0, 1), (4, 0), (4, 5)):
        with pytest.raises(ValueError, match=f"got {per_token} of {n_expert}"):
            experts(n_expert, per_token)
    assert GPTConfig(n_expert=1).experts_per_token == 2  # which counts only where there are several
    steps = route(torch.randn(6, 1), 1)
    assert (steps.weights == 1).all() and float(balance_loss(steps)) == 1
