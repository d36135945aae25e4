"""Windows: the plan against brute force, the tensors against the plan."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from llmviz.corpus import WindowPlan
from llmviz.corpus.windows import TokenDataset, windows


@given(st.integers(1, 8), st.integers(1, 12), st.integers(0, 40))
def test_the_plan_is_what_the_windows_do(context, stride, extra):
    tokens = context + 1 + extra
    plan = WindowPlan(tokens, context, stride)
    inputs, targets = windows(range(tokens), context, stride)
    assert torch.equal(targets, inputs + 1)  # token i is the number i: the shift by one
    assert inputs[:, 0].tolist() == list(plan.starts)
    seen = torch.bincount(inputs.flatten(), minlength=tokens).tolist()
    aimed = torch.bincount(targets.flatten(), minlength=tokens).tolist()
    assert (plan.visits, plan.target_visits) == (seen, aimed)
    assert plan.never_seen == [i for i in range(tokens) if not seen[i] and not aimed[i]]
    assert plan.predictions == targets.numel()
    if len(inputs) > 1:
        shared = set(inputs[0].tolist()) & set(inputs[1].tolist())
        assert len(shared) == plan.overlap
        assert max(0, int(inputs[1, 0] - inputs[0, -1]) - 1) == plan.gap
    assert plan.starts[-1] + context < tokens <= plan.starts[-1] + context + stride


def test_a_stride_beyond_the_context_leaves_gaps():
    plan = WindowPlan(tokens=20, context=4, stride=6)
    assert plan.gap == 2 and plan.overlap == 0
    assert plan.never_seen == [5, 11, 17, 18, 19]  # one of the two is still a target
    assert WindowPlan(20, 4, 2).overlap == 2


@pytest.mark.parametrize("size", ["context", "stride"])
@pytest.mark.parametrize("value", [0, -1, 1.5, True])
def test_sizes_are_checked(size, value):
    right = {"tokens": 10, "context": 2, "stride": 1} | {size: value}
    with pytest.raises(ValueError, match=f"{size} must be a whole number of at least 1"):
        WindowPlan(**right)


def test_a_text_that_is_too_short():
    with pytest.raises(ValueError, match="context 8 needs at least 9 tokens; the text has 8"):
        WindowPlan(8, 8, 1)
    with pytest.raises(ValueError, match="needs at least 3 tokens"):
        TokenDataset([], 2)
    with pytest.raises(ValueError, match="one row"):
        TokenDataset(torch.zeros(2, 2), 1)


def test_an_item_is_a_window():
    dataset = TokenDataset(torch.arange(10), 3)
    assert len(dataset) == 3
    inputs, targets = dataset[1]
    assert inputs.tolist() == [3, 4, 5] and targets.tolist() == [4, 5, 6]
    with pytest.raises(IndexError):
        dataset[3]
