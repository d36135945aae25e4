"""Latent attention against plain heads with the product matrices, with a cache and without."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from llmviz.models.costs import cache_bytes
from llmviz.models.settings import GPTConfig
from llmviz.nn.attention import causal_mask
from llmviz.nn.attention.latent import (
    LatentMatrices,
    heads_cache_bytes,
    latent_attention,
    latent_cache_bytes,
)
from llmviz.nn.attention.variants import multi_head
from llmviz.nn.cache import KVCache

C, L, HEADS, SIZE = 6, 3, 2, 4
N = HEADS * SIZE


def drawn(t=5, lead=(), seed=0, dtype=torch.float64):
    """Tokens (…, t, C) and the matrices."""
    shapes = ((*lead, t, C), (C, N), (C, L), (L, N), (L, N), (N, C))
    generator = torch.Generator().manual_seed(seed)
    x, *matrices = (torch.randn(shape, generator=generator, dtype=dtype) for shape in shapes)
    return x, LatentMatrices(*matrices)


both = pytest.mark.parametrize("absorb", [False, True])


@both
@pytest.mark.parametrize("t", [1, 5])
def test_it_is_plain_heads_with_the_product_matrices(t, absorb):
    x, w = drawn(t)
    product = w.down @ w.up_k, w.down @ w.up_v
    plain = multi_head(x, w.q, *product, HEADS, w.output, causal_mask(t))
    steps = latent_attention(x, w, HEADS, absorb=absorb)
    torch.testing.assert_close(steps.output, plain.output)
    torch.testing.assert_close(steps.concat, plain.concat)
    torch.testing.assert_close(steps.attention.weights, plain.attention.weights)
    if not absorb:
        torch.testing.assert_close(steps.k, plain.k)
        torch.testing.assert_close(steps.v, plain.v)
    without = latent_attention(x, w._replace(output=None), HEADS, absorb=absorb)
    torch.testing.assert_close(without.output, plain.concat)


@both
@settings(max_examples=25, deadline=None)
@given(t=st.integers(2, 8), seed=st.integers(0, 999), data=st.data())
def test_a_cache_and_the_rest_give_what_the_whole_gives(absorb, t, seed, data):
    first = data.draw(st.integers(1, t - 1))
    x, w = drawn(t, (2,), seed)
    whole = latent_attention(x, w, HEADS)
    start = latent_attention(x[:, :first], w, HEADS, absorb=absorb)
    assert start.latent.shape == (2, first, L)
    rest = latent_attention(x[:, first:], w, HEADS, start.latent, absorb=absorb)
    together = torch.cat((start.output, rest.output), dim=1)  # so none sees a later token
    torch.testing.assert_close(together, whole.output)
    torch.testing.assert_close(rest.latent, whole.latent)


@both
def test_gradients_are_finite_differences(absorb):
    x, w = drawn(3)
    tensors = [tensor.requires_grad_() for tensor in (x, *w)]

    def output(x, *matrices):
        return latent_attention(x, LatentMatrices(*matrices), HEADS, absorb=absorb).output

    assert torch.autograd.gradcheck(output, tensors)


def test_bytes_are_those_of_the_tensors():
    cache = KVCache(2, 1, HEADS, 5, SIZE)
    held = sum(tensor.nbytes for tensor in (*cache.keys, *cache.values))
    assert heads_cache_bytes(5, 2, HEADS, SIZE) == held
    for groups in (4, 2, 1):
        config = GPTConfig(vocab_size=9, n_layer=3, n_head=4, n_kv_head=groups, n_embd=16)
        assert heads_cache_bytes(7, 3, groups, 4) == cache_bytes(config, 7)
    latent = latent_attention(*drawn(dtype=torch.float32), HEADS).latent
    assert latent_cache_bytes(5, 1, L) == latent.nbytes
    assert latent_cache_bytes(5, 1, L, 2) == latent.bfloat16().nbytes


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (dict(x=torch.zeros(0, C)), r"the shape \(…, time, width\); got \(0, 6\)"),
        (dict(x=torch.zeros(C)), r"the shape \(…, time, width\); got \(6,\)"),
        (dict(q=torch.zeros(5, N)), r"q must have 6 rows, one for each column of x; got \(5, 8\)"),
        (dict(down=torch.zeros(5, L)), "down must have 6 rows"),
        (dict(up_k=torch.zeros(4, N)), "up_k must have 3 rows, one for each latent number"),
        (dict(up_v=torch.zeros(L)), "up_v must have 3 rows"),
        (dict(up_v=torch.zeros(L, 6)), r"as many columns; got \(8, 8, 6\)"),
        (dict(cache=torch.zeros(2, 4)), r"the shape \('tokens', 3\); got \(2, 4\)"),
        (dict(n_head=3), "n_head must divide the width 8"),
    ],
)
def test_what_does_not_fit_is_refused(change, message):
    x, w = drawn()
    given = dict(x=x, n_head=HEADS, cache=None) | w._asdict() | change
    w = LatentMatrices(*(given[name] for name in LatentMatrices._fields))
    with pytest.raises(ValueError, match=message) as error:
        latent_attention(given["x"], w, given["n_head"], given["cache"])
    assert "\n" not in str(error.value)
