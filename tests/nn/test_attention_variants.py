"""The variants of attention against worked examples, and each against the variant below."""

import pytest
import torch

from llmviz.nn.attention import MultiHeadAttention, causal_mask
from llmviz.nn.attention.variants import causal_head, multi_head, simplified, single_head
from tests.nn.reference import JOURNEY, W_K, W_Q, W_V, X, agrees


def test_simplified_worked_example():
    steps = simplified(JOURNEY)
    assert agrees(steps.weights[1], [0.1385, 0.2379, 0.2333, 0.1240, 0.1082, 0.1581], 4)
    assert agrees(steps.output[1], [0.4419, 0.6515, 0.5683], 4)


def test_single_head_worked_example():
    head = single_head(X, W_Q, W_K, W_V)
    assert agrees(
        head.q, [[0.5, 0.31, 0.54, 0.46], [0.53, 0.31, 0.49, 0.45], [0.365, 0.235, 0.275, 0.275]], 3
    )
    assert agrees(
        head.k, [[0.3, 0.38, 0.3, 0.19], [0.29, 0.4, 0.29, 0.19], [0.205, 0.225, 0.22, 0.175]], 3
    )
    assert agrees(
        head.v, [[0.07, 0.32, 0.32, 0.27], [0.09, 0.31, 0.31, 0.26], [0.08, 0.18, 0.195, 0.22]], 3
    )
    assert agrees(
        head.attention.scores,
        [[0.5172, 0.5130, 0.37155], [0.5093, 0.5053, 0.36495], [0.33355, 0.33185, 0.236325]],
        5,
    )
    assert agrees(
        head.attention.weights,
        [[0.3416, 0.3409, 0.3176], [0.3415, 0.3408, 0.3177], [0.3388, 0.3385, 0.3227]],
        4,
    )
    assert agrees(
        head.output,
        [
            [0.08, 0.2721, 0.2769, 0.2507],
            [0.08, 0.2721, 0.2769, 0.2507],
            [0.08, 0.2714, 0.2763, 0.2505],
        ],
        4,
    )


def test_causal_head_worked_example():
    head = causal_head(X, W_Q, W_K, W_V)
    assert agrees(
        head.attention.weights, [[1, 0, 0], [0.5005, 0.4995, 0], [0.3388, 0.3385, 0.3227]], 4
    )
    assert agrees(
        head.output,
        [[0.07, 0.32, 0.32, 0.27], [0.08, 0.315, 0.315, 0.265], [0.08, 0.2714, 0.2763, 0.2505]],
        4,
    )


def test_two_heads_worked_example():
    heads = multi_head(X, W_Q, W_K, W_V, n_head=2, mask=causal_mask(3))
    assert agrees(
        heads.attention.scores[0],
        [[0.2678, 0.2690, 0.1722], [0.2768, 0.2777, 0.1784], [0.1988, 0.1998, 0.1277]],
        4,
    )
    assert torch.allclose(heads.attention.scaled, heads.attention.scores / 2**0.5)
    assert agrees(heads.attention.output[0], [[0.07, 0.32], [0.08, 0.315], [0.08, 0.2715]], 4)
    assert agrees(heads.attention.output[1], [[0.32, 0.27], [0.315, 0.265], [0.2755, 0.2502]], 4)


def test_identity_matrices_without_scale_are_the_simplified_rung():
    one = torch.eye(3, dtype=torch.float64)
    head = single_head(JOURNEY, one, one, one, scale=1.0)
    assert torch.equal(head.output, simplified(JOURNEY).output)


def test_last_causal_row_is_the_unmasked_one():
    causal, unmasked = causal_head(X, W_Q, W_K, W_V), single_head(X, W_Q, W_K, W_V)
    assert torch.allclose(causal.output[-1], unmasked.output[-1])


def test_one_head_is_the_causal_rung():
    one = multi_head(X, W_Q, W_K, W_V, n_head=1, mask=causal_mask(3))
    assert torch.allclose(one.output, causal_head(X, W_Q, W_K, W_V).output)


def test_every_head_is_a_causal_head_on_its_columns():
    heads = multi_head(X, W_Q, W_K, W_V, n_head=2, mask=causal_mask(3))
    for h in range(2):
        columns = slice(2 * h, 2 * h + 2)
        alone = causal_head(X, W_Q[:, columns], W_K[:, columns], W_V[:, columns])
        assert torch.allclose(heads.attention.output[h], alone.output)


def test_multi_head_is_the_layer_that_models_use():
    torch.manual_seed(0)
    layer = MultiHeadAttention(4, 2, bias=False, qkv_bias=False).double()
    w_q, w_k, w_v = (part.T for part in layer.qkv.weight.detach().chunk(3))
    mask = causal_mask(3)
    steps = multi_head(X, w_q, w_k, w_v, 2, layer.projection.weight.T, mask)
    assert torch.allclose(steps.output, layer(X[None], mask)[0])
    for h in range(2):
        for whole, part in zip((w_q, w_k, w_v), layer.projections(h), strict=True):
            assert torch.equal(whole[:, 2 * h : 2 * h + 2], part)


def test_a_head_that_is_off_gives_zero_columns():
    on = multi_head(X, W_Q, W_K, W_V, n_head=2)
    off = multi_head(X, W_Q, W_K, W_V, n_head=2, off={1})
    assert torch.equal(off.concat[:, :2], on.concat[:, :2])
    assert not off.concat[:, 2:].any()


def test_shuffled_tokens_shuffle_the_output():
    order = torch.tensor([2, 0, 1])
    shuffled = single_head(X[order], W_Q, W_K, W_V)
    assert torch.allclose(shuffled.output, single_head(X, W_Q, W_K, W_V).output[order])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (dict(w_q=W_Q[:3]), "W_Q must have 4 rows"),
        (dict(w_q=W_Q[:, :2]), "same number of columns"),
        (dict(x=X[0]), "shape"),
        (dict(mask=torch.tensor([[True] * 3, [False] * 3, [True] * 3])), "row 1 of the mask"),
    ],
)
def test_what_does_not_fit_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        single_head(**(dict(x=X, w_q=W_Q, w_k=W_K, w_v=W_V) | change))


def test_one_token_attends_to_itself():
    assert torch.equal(causal_head(X[:1], W_Q, W_K, W_V).attention.weights, X.new_ones(1, 1))
