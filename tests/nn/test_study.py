"""Head summaries and the study of the scale, against plain loops and torch's own Jacobian."""

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from llmviz.nn.attention import causal_mask
from llmviz.nn.attention.study import (
    alignment_share,
    decision,
    loss_as_written,
    moved,
    row_entropy,
    scale_study,
    summarise_heads,
    weight_ahead,
)


def shift(t: int, back: int) -> torch.Tensor:
    """A head that looks `back` tokens back, at itself where there are none."""
    weights = torch.zeros(t, t)
    for i in range(t):
        weights[i, max(0, i - back)] = 1
    return weights


def test_heads_made_to_do_one_thing_are_told_apart():
    ids = [5, 6, 7, 5, 6, 7]
    induction = torch.eye(6)
    for i in range(3, 6):
        induction[i] = 0
        induction[i, i - 2] = 1  # what followed the token when it stood three before
    first = torch.zeros(6, 6)
    first[:, 0] = 1
    made = torch.stack([shift(6, 1), shift(6, 0), shift(6, 3), induction, first])
    summary = summarise_heads(made, ids)
    assert summary.previous[0] == 1 and summary.itself[1] == 1 and summary.first[4] == 1
    assert summary.repeat[2] == 1 and summary.induction[3] == 1
    assert torch.equal(summary.entropy, torch.zeros(5))
    assert summary.induction[1] == 0 and summary.previous[4] == 0


def test_summary_equals_plain_loops():
    generator = torch.Generator().manual_seed(3)
    ids = torch.randint(0, 4, (12,), generator=generator).tolist()
    scores = torch.randn(2, 3, 12, 12, generator=generator, dtype=torch.float64)
    weights = scores.masked_fill(~causal_mask(12), -math.inf).softmax(-1)
    summary = summarise_heads(weights, ids)
    for layer in range(2):
        for head in range(3):
            w = weights[layer, head].tolist()
            induced, repeated = [], []
            for i in range(12):
                before = [j for j in range(i) if ids[j] == ids[i]]
                if before:
                    repeated.append(sum(w[i][j] for j in before))
                if any(j + 1 < i for j in before):
                    induced.append(sum(w[i][j + 1] for j in before if j + 1 < i))
            mean = lambda values: sum(values) / len(values)  # noqa: E731
            expected = {
                "previous": mean([w[i][i - 1] for i in range(2, 12)]),
                "itself": mean([w[i][i] for i in range(2, 12)]),
                "first": mean([w[i][0] for i in range(2, 12)]),
                "repeat": mean(repeated),
                "induction": mean(induced),
                "entropy": mean([-sum(p * math.log(p) for p in row if p) for row in w]),
            }
            for name, value in expected.items():
                assert getattr(summary, name)[layer, head].item() == pytest.approx(value), name


def test_what_cannot_be_measured_is_nan_and_wrong_lengths_are_refused():
    summary = summarise_heads(torch.ones(1, 1, 1), [7])
    assert summary.previous.isnan().all() and summary.induction.isnan().all()
    assert summary.entropy.item() == 0
    with pytest.raises(ValueError, match="do not fit 3 tokens"):
        summarise_heads(torch.ones(2, 2), [1, 2, 3])


def test_alignment_share():
    weights = torch.tensor([[0.9, 0.1], [0.3, 0.7]])
    assert alignment_share(weights, [(0, 0), (1, 1)]).item() == pytest.approx(0.8)
    assert alignment_share(weights, [(1, 0)]).item() == pytest.approx(0.1)
    for bad in ([], [(2, 0)], [(0, 2)]):
        with pytest.raises(ValueError, match="2 source and 2 target"):
            alignment_share(weights, bad)


def test_the_gradient_is_that_of_the_softmax():
    study = scale_study([1, 8], scaled=False, keys=5, queries=4, seed=2)
    for place, d in enumerate((1, 8)):
        generator = torch.Generator().manual_seed(2 * 10_007 + d)
        q = torch.randn(4, d, generator=generator, dtype=torch.float64)
        k = torch.randn(5, d, generator=generator, dtype=torch.float64)
        norms = [
            torch.autograd.functional.jacobian(lambda s: s.softmax(-1), row).norm()
            for row in q @ k.T
        ]
        assert study.gradient[place].item() == pytest.approx(sum(norms).item() / 4)


def test_scaling_keeps_spread_entropy_and_gradient_where_size_would_take_them():
    sizes = [1, 4, 16, 64, 256, 512]
    with_scale = scale_study(sizes, scaled=True)
    without = scale_study(sizes, scaled=False)
    assert ((with_scale.deviation - 1).abs() < 0.25).all()
    assert torch.allclose(without.deviation, with_scale.deviation * torch.tensor(sizes).sqrt())
    assert without.entropy[-1] < 0.25 < 2 < with_scale.entropy[-1]
    assert without.gradient[-1] < with_scale.gradient[-1] / 3
    assert without.largest[-1] > 0.9 > with_scale.largest[-1]
    assert torch.equal(with_scale.entropy[:1], without.entropy[:1])  # √1 = 1


def test_entropy_of_even_and_certain_rows():
    rows = torch.tensor([[0.25] * 4, [1.0, 0, 0, 0]])
    assert row_entropy(rows).tolist() == pytest.approx([math.log(4), 0])


def test_a_model_without_a_look_ahead_has_the_same_loss_as_it_writes():
    torch.manual_seed(0)
    table = torch.randn(5, 5)
    rows = [[0, 1, 2, 3], [0, 4], [0, 2, 2]]

    def bigram(idx):
        return table[idx], None

    total = sum(
        F.cross_entropy(table[torch.tensor(row[:-1])], torch.tensor(row[1:]), reduction="sum")
        for row in rows
    )
    assert loss_as_written(bigram, rows) == pytest.approx(float(total) / 6, rel=1e-5)
    with pytest.raises(ValueError, match="two tokens"):
        loss_as_written(bigram, [[0]])


def test_a_model_that_copies_what_comes_next_is_lost_as_it_writes():
    def copies(idx):
        ahead = torch.cat([idx[:, 1:], idx[:, -1:]], dim=1)  # nothing stands ahead of the last
        return 20 * F.one_hot(ahead, 5).float(), None

    assert loss_as_written(copies, [[0, 1, 2, 3]]) > 10


def test_weight_ahead_is_the_upper_triangle_without_the_last_row():
    weights = torch.tensor([[0.5, 0.25, 0.25], [0.0, 0.4, 0.6], [0.2, 0.3, 0.5]])
    found = weight_ahead(torch.stack([weights, weights.tril()]))
    assert found.tolist() == pytest.approx([(0.5 + 0.6) / 2, 0])


def test_a_head_is_decided_by_what_it_gives_to_one_other_token():
    even = torch.full((2, 4, 4), 0.25)
    even[1, 2:] = torch.tensor([0.0, 1.0, 0.0, 0.0])
    assert decision(even).tolist() == [0.25, 1.0]
    itself, first = torch.eye(4), torch.zeros(4, 4)
    first[:, 0] = 1
    assert decision(torch.stack([itself, first])).tolist() == [0.0, 0.0]
    assert decision(torch.ones(3, 2, 2)).tolist() == [0.0] * 3


def test_weight_that_lies_elsewhere_is_what_moved():
    first = np.array([[0.5, 0.25, 0.25], [1.0, 0.0, 0.0]])
    second = np.array([[0.25, 0.5, 0.125, 0.125], [0.0, 0.0, 0.5, 0.5]])
    assert moved(first, second, 2).tolist() == [0.25, 0.5]
    assert moved(first, first, 3).tolist() == [0.0, 0.0]
    rows = np.random.default_rng(0).dirichlet(np.ones(6), size=(2, 3, 4))
    found = moved(rows[0], rows[1], 6)
    assert found.shape == (3, 4) and ((found >= 0) & (found <= 1)).all()
    gained = np.maximum(rows[1] - rows[0], 0).sum(-1)  # what one place gains another one loses
    assert np.allclose(found, gained)
    with pytest.raises(ValueError, match="4 tokens are not shared"):
        moved(first, second, 4)
