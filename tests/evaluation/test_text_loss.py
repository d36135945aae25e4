"""The loss of a text: its steps against torch."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from llmviz.evaluation import text_loss

TARGETS = (1, 0, 3, 1, 2)
LOGITS = np.random.default_rng(0).normal(size=(len(TARGETS), 4)) * 3


def test_the_logits_are_those_before_each_target():
    table = torch.arange(12.0).reshape(4, 3)

    def model(ids: torch.Tensor) -> tuple[torch.Tensor]:
        return (table[ids],)

    logits = text_loss.target_logits(model, [2, 0, 3])
    assert logits.dtype == np.float64 and np.array_equal(logits, table[[2, 0]].numpy())


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("smoothing", [0.0, 0.3])
@pytest.mark.parametrize("token", [None, 1])
@pytest.mark.parametrize("skipped", [(), (0, 3)])
def test_the_steps_end_where_torch_does(reduction, smoothing, token, skipped):
    settings = text_loss.LossSettings(reduction, skipped, token, 2.5, smoothing)
    ours = text_loss.loss_steps(LOGITS, TARGETS, settings).loss.numpy()
    assert np.allclose(ours, text_loss.torch_loss(LOGITS, TARGETS, settings), atol=1e-12)


def test_a_token_counts_as_often_as_its_weight_says():
    """Weight 3 for a token is each of its positions three times."""
    places = [i for i, token in enumerate(TARGETS) for _ in range(3 if token == 1 else 1)]
    often = text_loss.loss_steps(LOGITS[places], [TARGETS[i] for i in places]).loss
    for of in (lambda *given: text_loss.loss_steps(*given).loss, text_loss.torch_loss):
        assert float(
            of(LOGITS, TARGETS, text_loss.LossSettings(token=1, weight=3.0))
        ) == pytest.approx(float(often))


def test_a_mean_over_nothing_is_refused():
    with pytest.raises(ValueError):
        text_loss.loss_steps(
            LOGITS, TARGETS, text_loss.LossSettings(skipped=tuple(range(len(TARGETS))))
        )
