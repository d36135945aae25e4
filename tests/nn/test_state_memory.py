"""Layers that are one matrix: step by step equals all at once, recall, gradients and causality."""

from functools import partial

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from llmviz.nn.state_memory import delta_rule, linear_attention, read, state_space

linear = partial(linear_attention.recurrent, phi=linear_attention.identity)
# name: the module, whether it has a gate, and what it is called with
KINDS = {
    "linear": (linear_attention, 0, {}),
    "normalised": (linear_attention, 0, dict(normalise=True)),
    "identity": (linear_attention, 0, dict(phi=linear_attention.identity)),
    "delta": (delta_rule, 2, {}),
    "state space": (state_space, 1, {}),
}
kinds = pytest.mark.parametrize("kind", KINDS)


def drawn(kind, *lead, t, k=4, v=3, seed=0, dtype=torch.float64):
    """q, k, v and the gate of a kind, if it has one; some gates at the ends of their range."""
    generator = torch.Generator().manual_seed(seed)
    sizes = (k, k, v)
    parts = [torch.randn(*lead, t, size, generator=generator, dtype=dtype) for size in sizes]
    most = KINDS[kind][1]
    if most:
        shape = (*lead, t) if kind == "delta" else (*lead, t, k)
        gate = most * torch.rand(shape, generator=generator, dtype=dtype)
        ends = torch.rand(shape, generator=generator)
        parts.append(gate.masked_fill(ends < 0.1, 0).masked_fill(ends > 0.9, most))
    return parts


def run(kind, form, *parts):
    module, _, options = KINDS[kind]
    return getattr(module, form)(*parts, **options)


@kinds
@settings(max_examples=25, deadline=None)
@given(t=st.integers(1, 64), k=st.integers(1, 16), v=st.integers(1, 9), seed=st.integers(0, 999))
def test_all_at_once_is_step_by_step(kind, t, k, v, seed):
    for dtype, close in ((torch.float32, 1e-5), (torch.float64, 1e-11)):
        parts = drawn(kind, 2, t=t, k=k, v=v, seed=seed, dtype=dtype)
        if dtype == torch.float32:  # as a model scales them: what is read is of size 1
            parts[:2] = (part / k**0.5 for part in parts[:2])
        output, states = run(kind, "recurrent", *parts)
        assert states.shape == (2, t, k, v + (kind == "normalised"))
        found = run(kind, "parallel", *parts)
        assert found.dtype == dtype
        error = (found - output).abs().max() / output.abs().max().clamp(min=1)
        assert error <= close


@kinds
@settings(max_examples=25, deadline=None)
@given(t=st.integers(1, 12), seed=st.integers(0, 999))
def test_a_state_is_the_sum_of_what_tokens_added(kind, t, seed):
    q, *parts = drawn(kind, 2, t=t, seed=seed)
    states = run(kind, "recurrent", q, *parts).states
    for end in range(1, t + 1):
        added = run(kind, "contributions", *(part[:, :end] for part in parts))
        torch.testing.assert_close(added.sum(-3), states[:, end - 1])


@kinds
@settings(max_examples=25, deadline=None)
@given(t=st.integers(2, 10), seed=st.integers(0, 999), data=st.data())
def test_no_output_sees_a_later_token(kind, t, seed, data):
    first = data.draw(st.integers(1, t - 1))
    parts, others = drawn(kind, t=t, seed=seed), drawn(kind, t=t, seed=seed + 1000)
    changed = [torch.cat((a[:first], b[first:])) for a, b in zip(parts, others, strict=True)]
    for form in ("recurrent", "parallel"):
        a, b = (run(kind, form, *x) for x in (parts, changed))
        if form == "recurrent":
            a, b = a.output, b.output
        torch.testing.assert_close(a[:first], b[:first], rtol=1e-12, atol=1e-12)


@kinds
@pytest.mark.parametrize("form", ["recurrent", "parallel"])
def test_gradients_are_finite_differences(kind, form):
    parts = [part.requires_grad_() for part in drawn(kind, t=4, k=3, v=2, seed=1)[:3]]
    if KINDS[kind][1]:  # inside its range, where a small step stays allowed
        shape = (4,) if kind == "delta" else (4, 3)
        generator = torch.Generator().manual_seed(2)
        gate = 0.1 + 0.8 * torch.rand(shape, generator=generator, dtype=torch.float64)
        parts.append((gate * KINDS[kind][1]).requires_grad_())
    assert torch.autograd.gradcheck(lambda *x: run(kind, form, *x), parts)


def test_a_decay_of_zero_has_the_gradient_of_the_steps():
    parts = drawn("state space", t=5)
    parts[3][2] = 0
    grads = []
    for form in ("recurrent", "parallel"):
        leaves = [part.clone().requires_grad_() for part in parts]
        result = run("state space", form, *leaves)
        output = result.output if form == "recurrent" else result
        grads.append(torch.autograd.grad(output.square().sum(), leaves))
    for a, b in zip(*grads, strict=True):
        torch.testing.assert_close(a, b)


@kinds
def test_one_token_reads_what_it_wrote(kind):
    q, k, v, *gate = drawn(kind, t=1, seed=3)
    output = run(kind, "recurrent", q, k, v, *gate).output
    features = linear_attention.elu_plus_one
    expected = {
        "linear": lambda: (features(q) * features(k)).sum() * v,
        "normalised": lambda: v,
        "identity": lambda: (q * k).sum() * v,
        "delta": lambda: gate[0] * (q * k / k.norm()).sum() * v,
        "state space": lambda: (q * k).sum() * v,
    }
    torch.testing.assert_close(output, expected[kind]())


# --- each against its formula


def test_linear_attention_is_attention_with_another_weight():
    q, k, v = (part.numpy() for part in drawn("linear", t=7))
    features = [np.where(x > 0, x + 1, np.exp(np.minimum(x, 0))) for x in (q, k)]
    weights = np.tril(features[0] @ features[1].T)
    parts = list(map(torch.tensor, (q, k, v)))
    np.testing.assert_allclose(run("linear", "recurrent", *parts).output, weights @ v)
    weights /= weights.sum(1, keepdims=True)
    np.testing.assert_allclose(run("normalised", "recurrent", *parts).output, weights @ v)


def test_the_feature_map_is_that_of_torch():
    x = torch.linspace(-5, 5, 41, dtype=torch.float64)
    torch.testing.assert_close(
        linear_attention.elu_plus_one(x), torch.nn.functional.elu(x) + 1, rtol=1e-12, atol=1e-12
    )
    assert (linear_attention.elu_plus_one(torch.tensor([-80.0])) > 0).all()


def test_the_delta_rule_is_a_product_of_householder_matrices():
    q, k, v, beta = (part.numpy() for part in drawn("delta", t=7))
    state, outputs = np.zeros((4, 3)), []
    for t in range(7):
        key = k[t] / np.linalg.norm(k[t])
        keep = np.eye(4) - beta[t] * np.outer(key, key)
        state = keep @ state + beta[t] * np.outer(key, v[t])
        outputs.append(q[t] @ state)
    steps = run("delta", "recurrent", *map(torch.tensor, (q, k, v, beta)))
    np.testing.assert_allclose(steps.output, outputs)


def test_the_state_space_layer_is_the_scan_of_mamba():
    t, channels, size = 6, 3, 4
    generator = np.random.default_rng(0)
    x, b, c = (generator.normal(size=(t, n)) for n in (channels, size, size))
    delta, a = generator.random((t, channels)), -generator.random((channels, size))
    h, expected = np.zeros((channels, size)), np.zeros((t, channels))
    for i in range(t):
        h = np.exp(delta[i][:, None] * a) * h + (delta[i] * x[i])[:, None] * b[i]
        expected[i] = h @ c[i]
    inputs = state_space.selective_inputs(*map(torch.tensor, (x, delta, a, b, c)))
    for output in (state_space.recurrent(*inputs).output, state_space.parallel(*inputs)):
        np.testing.assert_allclose(output.squeeze(-1).mT, expected)


def test_without_forgetting_all_three_can_be_one():
    """Decay 1 is linear attention; so is the delta rule while no key has been there before."""
    q, k, v = drawn("linear", t=4)
    k = torch.linalg.qr(k).Q.mT  # orthonormal rows
    plain = linear(q, k, v)
    for steps in (
        delta_rule.recurrent(q, k, v, torch.ones(4, dtype=k.dtype)),
        state_space.recurrent(q, k, v, torch.ones_like(k)),
    ):
        torch.testing.assert_close(steps.states, plain.states)


# --- what they recall


def numbers(*shape, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


def orthonormal(n, width):
    return torch.linalg.qr(numbers(width, width, seed=1)).Q[:n]


def last_state(name, k, v):
    if name == "linear":
        return linear(k, k, v).states[-1]
    return delta_rule.recurrent(k, k, v, torch.ones(len(k), dtype=k.dtype)).states[-1]


both = pytest.mark.parametrize("name", ["linear", "delta"])


@both
@pytest.mark.parametrize("n", [1, 5, 8])
def test_up_to_its_width_a_state_recalls_orthonormal_keys_exactly(name, n):
    k, v = orthonormal(n, 8), numbers(n, 6)
    torch.testing.assert_close(read(last_state(name, k, v), k), v)


@both
@pytest.mark.parametrize("n", [9, 12, 30])
def test_beyond_its_width_no_state_can(name, n):
    """A matrix of rank 8 is at least n − 8 away, squared, from n values at right angles."""
    k = delta_rule.unit(torch.cat((orthonormal(8, 8), numbers(n - 8, 8))))
    v = torch.eye(n, dtype=torch.float64)
    missed = (read(last_state(name, k, v), k) - v).square().sum()
    assert missed >= n - 8 - 1e-9


def test_a_key_that_comes_twice_is_overwritten_by_the_delta_rule_alone():
    k, v = orthonormal(4, 8), numbers(8, 3)
    twice = torch.cat((k, k))
    torch.testing.assert_close(read(last_state("delta", twice, v), k), v[4:])
    torch.testing.assert_close(read(last_state("linear", twice, v), k), v[:4] + v[4:])
    half = torch.full((8,), 0.5, dtype=k.dtype)
    state = delta_rule.recurrent(twice, twice, v, half).states[-1]
    torch.testing.assert_close(read(state, k), 0.25 * v[:4] + 0.5 * v[4:])


def test_what_overwrites_takes_away_what_was_there():
    k, v = torch.ones(2, 1), torch.tensor([[5.0], [7.0]])
    assert delta_rule.contributions(k, v, torch.ones(2)).flatten().tolist() == [5, 2]


def test_a_key_of_zeros_writes_nothing():
    k, v, beta = torch.zeros(1, 2), torch.ones(1, 2), torch.ones(1)
    assert not delta_rule.recurrent(k, k, v, beta).states.any()


# --- what is refused


@pytest.mark.parametrize(
    ("kind", "at", "shape", "message"),
    [
        ("linear", 0, (5, 3), r"queries must have the shape of the keys, \(5, 4\); got \(5, 3\)"),
        ("linear", 2, (4, 3), r"the same time; got \(5, 4\) and \(4, 3\)"),
        ("linear", 2, (3,), "keys and values must have the shapes"),
        ("delta", 3, (5, 1), r"beta must have the shape \(5,\); got \(5, 1\)"),
        ("state space", 3, (5, 1), r"decay must have the shape \(5, 4\); got \(5, 1\)"),
    ],
)
def test_wrong_shapes_are_named(kind, at, shape, message):
    parts = drawn(kind, t=5)
    parts[at] = torch.zeros(shape)
    for form in ("recurrent", "parallel"):
        with pytest.raises(ValueError, match=message) as error:
            run(kind, form, *parts)
        assert "\n" not in str(error.value)


@kinds
def test_no_token_is_refused(kind):
    parts = drawn(kind, t=0)
    for form in ("recurrent", "parallel"):
        with pytest.raises(ValueError, match="at least 1 token; got 0"):
            run(kind, form, *parts)
    with pytest.raises(ValueError, match="at least 1 token; got 0"):
        run(kind, "contributions", *parts[1:])


@pytest.mark.parametrize("wrong", [-0.01, 2.01, float("nan")])
@pytest.mark.parametrize(("kind", "most"), [("delta", 2), ("state space", 1)])
def test_gates_out_of_their_range_are_refused(kind, most, wrong):
    parts = drawn(kind, 2, t=3)
    parts[3][1, 2] = wrong
    name = "beta" if kind == "delta" else "decay"
    for form, skip in (("recurrent", 0), ("parallel", 0), ("contributions", 1)):
        with pytest.raises(ValueError, match=f"{name} must be from 0 to {most}; got {wrong:g}"):
            run(kind, form, *parts[skip:])


def test_shapes_that_are_no_scan_of_mamba_are_named():
    x, a, b = torch.zeros(5, 3), torch.zeros(3, 2), torch.zeros(5, 2)
    with pytest.raises(ValueError, match="x and delta must have one shape"):
        state_space.selective_inputs(x, x[:4], a, b, b)
    with pytest.raises(ValueError, match=r"b and c must have the shape \(5, 2\)"):
        state_space.selective_inputs(x, x, a, b, b[:4])


@kinds
def test_it_runs_where_tensors_have_no_numbers(kind):
    parts = [part.to("meta") for part in drawn(kind, 2, t=3)]
    assert run(kind, "recurrent", *parts).output.shape == (2, 3, 3)
    assert run(kind, "parallel", *parts).shape == (2, 3, 3)
