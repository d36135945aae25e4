"""Bytes of training on paper: sums by hand, published figures, and what is refused."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as some

from llmviz.models.arithmetic import PRESETS, activations_per_token, count, training_memory
from llmviz.models.settings import GPTConfig
from llmviz.models.training_bytes import kept_numbers, kept_tensors, paper_memory

GPT2 = GPTConfig.from_dict(PRESETS["GPT-2"])
XL = GPTConfig.from_dict(PRESETS["GPT-2 XL"])


def test_adam_in_two_formats_takes_sixteen_bytes_a_parameter():
    """Rajbhandari et al. 2020, section 3.1: 24 GB for the 1.5 billion parameters of GPT-2."""
    found = paper_memory(XL, 1, 1, dtype="bfloat16")
    state = found.total - found.activations
    assert state == 16 * count(XL) and state == pytest.approx(24e9, rel=0.05)
    assert paper_memory(XL, 1, 1).total - paper_memory(XL, 1, 1).activations == 16 * count(XL)
    assert paper_memory(XL, 1, 1, optimizer="sgd").averages == 0
    assert paper_memory(XL, 1, 1, optimizer="momentum").averages == 4 * count(XL)


def test_a_layer_keeps_what_the_paper_counts():
    """Korthikanti et al. 2022, equation 1: s·b·h·(34 + 5·a·s/h) bytes, dropout masks among them."""
    s, h, a = GPT2.context_length, GPT2.n_embd, GPT2.n_head
    deeper = replace(GPT2, n_layer=GPT2.n_layer + 1)
    layer = 2 * (activations_per_token(deeper) - activations_per_token(GPT2))  # two bytes each
    assert layer == 34 * h - 2 * h  # less two masks of dropout, a byte for each of h numbers
    explicit = activations_per_token(deeper, explicit=True) - activations_per_token(
        GPT2, explicit=True
    )
    assert 2 * explicit - layer == 2 * a * s  # of 5·a·s, one matrix of weights in two bytes


def test_without_savings_it_is_the_known_sum():
    assert paper_memory(GPT2, 8, 1024) == training_memory(GPT2, 8 * 1024)
    with_small = kept_numbers(GPT2) - (activations_per_token(GPT2) - GPT2.vocab_size)
    assert with_small == GPT2.n_layer * (4 + GPT2.n_head) + 2


@given(
    some.integers(1, 40),
    some.integers(1, 64),
    some.integers(0, 50),
    some.integers(1, 12),
    some.booleans(),
)
def test_savings_never_cost_memory(layers, rows, recompute, pieces, explicit):
    config = replace(GPT2, n_layer=layers)
    plain = paper_memory(config, rows, 128, explicit=explicit)
    found = paper_memory(
        config, rows, 128, recompute=recompute, pieces=min(pieces, rows), explicit=explicit
    )
    assert 0 < found.activations <= plain.activations
    assert found.weights == plain.weights and found.averages == plain.averages


@pytest.mark.parametrize(
    ("given", "rule"),
    [
        (dict(rows=0), "rows must be at least 1; got 0"),
        (dict(tokens=0), "tokens must be at least 1"),
        (dict(tokens=10**12), "at most 1,000,000,000,000 tokens"),
        (dict(pieces=0), "pieces must be at least 1"),
        (dict(pieces=9), "pieces must not exceed rows; got 9 > 8"),
        (dict(recompute=-1), "recompute must be at least 0"),
        (dict(optimizer="newton"), "optimizer must be one of adamw.*'newton'"),
        (dict(dtype="int8"), "dtype must be float32 or bfloat16"),
    ],
    ids=str,
)
def test_what_cannot_be_is_refused(given, rule):
    with pytest.raises(ValueError, match=rule):
        paper_memory(GPT2, **{"rows": 8, "tokens": 16, **given})


@pytest.mark.parametrize(
    "options",
    [
        dict(n_kv_head=2),
        dict(norm="post"),
        dict(dropout=0.1),
        dict(activation="swiglu"),
        dict(positions="rotary"),
    ],
    ids=str,
)
def test_the_exact_list_is_for_one_form(options):
    with pytest.raises(ValueError, match="GPT-2's form"):
        kept_tensors(replace(GPT2, **options))
