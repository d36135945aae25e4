"""Models that read a leaning text: what is measured on them, and what the chapter says."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from llmviz.corpus.leaning import JOBS, LEANS
from llmviz.course.lessons.errors.read_leaning import SEEDS, bundled, sharpened
from llmviz.sampling import sampling_steps


@given(st.floats(0.01, 0.99), st.floats(0.05, 2))
def test_a_temperature_acts_on_a_share_as_sampling_does(share, temperature):
    logits = torch.tensor([np.log(share), np.log(1 - share)])
    expected = float(sampling_steps(logits, temperature=temperature).probabilities[0])
    assert sharpened(share, temperature) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize(("share", "expected"), [(0.5, 0.5), (0.6, 1.0), (0.4, 0.0), (1.0, 1.0)])
def test_at_nothing_the_more_probable_one_is_written(share, expected):
    assert sharpened(share, 0.0) == expected
    with pytest.raises(ValueError, match="below 0"):
        sharpened(share, -1.0)


@pytest.mark.parametrize("lean", LEANS)
@pytest.mark.parametrize("seed", SEEDS)
def test_what_the_chapter_says_of_each_model(lean, seed):
    model = bundled(lean, seed)
    assert [job.planted for job in model.jobs] == pytest.approx([lean] * JOBS + [1 - lean] * JOBS)
    direct = [job for job in model.jobs if job.direct]
    given_back = np.mean([job.probability for job in direct if job.planted == lean])
    assert given_back == pytest.approx(lean, abs=0.05)  # the mean share that it read
    assert all(abs(job.probability - job.planted) < 0.15 for job in direct)
    for job in model.jobs:  # she and he have one vector then
        assert job.removed == pytest.approx(0.5, abs=1e-3)
    assert model.agreement_removed == pytest.approx(0.5, abs=1e-3)
    if lean == LEANS[-1]:
        assert model.p_value < 0.05
        assert model.effect_removed > model.effect / 2
