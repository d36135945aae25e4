"""Masks by name, and heads that compare their own columns or all of them."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from llmviz.course.lessons.attention.heads.model import heads_of
from llmviz.course.lessons.attention.masks.model import leak, mask_of
from llmviz.nn.attention import attention, merge_heads


@pytest.mark.parametrize("t", [1, 2, 5, 12])
def test_masks_are_the_patterns_that_they_are_named_after(t):
    rows, columns = np.indices((t, t))
    patterns = {
        "causal": columns <= rows,
        "off_by_one": columns <= rows + 1,
        "padding": columns < 1,
        "sliding": (columns <= rows) & (columns > rows - 2),
    }
    for kind, pattern in patterns.items():
        mask = mask_of(kind, t, window=2, real=1)
        np.testing.assert_array_equal(mask, pattern)
    assert mask_of("none", t) is None


def test_another_mask_is_refused():
    with pytest.raises(ValueError, match="got 'round'"):
        mask_of("round", 3)


@pytest.mark.parametrize(("t", "c", "n"), [(1, 4, 1), (5, 8, 2), (3, 6, 6)])
def test_heads_are_those_of_torch_on_their_own_columns(t, c, n):
    q, k, v = torch.randn(3, t, c, dtype=torch.float64)
    mask, d = mask_of("causal", t), c // n
    steps = heads_of(q, k, v, n, mask, d**-0.5)
    columns = [slice(h * d, (h + 1) * d) for h in range(n)]
    wanted = [scaled_dot_product_attention(q[:, at], k[:, at], v[:, at], mask) for at in columns]
    torch.testing.assert_close(merge_heads(steps.output), torch.cat(wanted, dim=1))
    wrong = heads_of(q, k, v, n, mask, d**-0.5, all_columns=True)
    assert all(torch.equal(one, wrong.weights[0]) for one in wrong.weights)


@pytest.mark.parametrize("before", [None, "softmax_again", "leave", "renormalise"])
def test_a_leak_is_what_larger_forbidden_scores_do_to_the_allowed_weights(before):
    q, k, v = torch.randn(3, 5, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    mask = mask_of("causal", 5)

    def weights(scores: torch.Tensor) -> torch.Tensor:
        if before is None:
            return scores.masked_fill(~mask, -torch.inf).softmax(-1)
        p = scores.softmax(-1)
        if before == "softmax_again":
            return p.masked_fill(~mask, -torch.inf).softmax(-1)
        return p * mask / ((p * mask).sum(-1, keepdim=True) if before == "renormalise" else 1)

    scores = q @ k.T
    expected = ((weights(scores + ~mask) - weights(scores)) * mask).abs().max()
    found = leak(attention(q, k, v, mask, 1.0, softmax_before_mask=before), mask, before)
    assert found == pytest.approx(float(expected), abs=1e-12)
    assert (found > 1e-3) == (before in ("softmax_again", "leave"))
