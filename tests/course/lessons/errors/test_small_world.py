"""Small models of tiny-world: label smoothing, texts longer than their training."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from experiments.beyond_context import losses_by_place
from experiments.smoothed import summed_up
from llmviz.course.lessons.errors.asked import beyond_context
from llmviz.course.lessons.errors.asked.beyond_context import BIN, POSITIONS, TIMES
from llmviz.course.lessons.errors.calibration import model as smoothed_runs
from llmviz.course.lessons.errors.calibration.model import SEEDS, SMOOTHING
from llmviz.course.lessons.errors.model_errors import recorded as measured
from llmviz.evaluation.longer_texts import long_texts
from llmviz.pretrained import load_bundled


@pytest.mark.parametrize("name", ["errors/by-heart", "tiny-world-gpt"])
def test_what_is_kept_of_a_measurement_is_what_it_says(name):
    found = measured()[name]
    kept = summed_up(found, 0.1, 2)
    assert kept.apart == pytest.approx(found.reliability(1.0).overconfident)
    assert kept.true_error >= 0 and abs(kept.apart) <= kept.came_error + 1e-9
    assert kept.loss == found.loss(1.0) and (kept.smoothing, kept.seed) == (0.1, 2)


def test_the_recorded_runs_are_three_of_each_kind():
    known = smoothed_runs.recorded()
    assert [*known.runs] == [*SMOOTHING]
    for share, runs in known.runs.items():
        assert [run.seed for run in runs] == [*SEEDS]
        for run in runs:
            assert abs(run.apart) <= run.came_error + 1e-9 and run.divergence > 0
        mean, error = known.mean(share, "loss")
        values = [run.loss for run in runs]
        assert mean == pytest.approx(sum(values) / 3)
        assert error == pytest.approx(np.std(values, ddof=1) / 3**0.5)
    long = beyond_context.recorded()
    assert len(long.places) == TIMES * long.context // BIN
    for kind in POSITIONS:
        inside, behind = long.around_the_end(kind)
        rows = np.array(long.losses[kind])
        half, end = long.context // 2 // BIN, long.context // BIN
        assert inside == pytest.approx(rows[:, half:end].mean(1))
        assert behind == pytest.approx(rows[:, end : end + half].mean(1))


def test_the_loss_within_the_context_is_that_of_the_model_itself():
    model, tokenizer, _ = load_bundled("since-2017/rotary")
    found = losses_by_place(model, tokenizer, 4)
    ids = long_texts(tokenizer, TIMES * model.context_length, 4)
    with torch.inference_mode():
        logits = model(ids[:, : model.context_length])[0]
        nll = nn.functional.cross_entropy(
            logits.transpose(1, 2), ids[:, 1 : model.context_length + 1], reduction="none"
        )
    inside = [float(part.mean()) for part in nll.split(BIN, 1)]
    assert found[: len(inside)] == pytest.approx(inside, abs=1e-3)
    assert len(found) == TIMES * model.context_length // BIN
