"""Calibration against scikit-learn and scipy's minimum; guesses against plain loops."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from sklearn.calibration import calibration_curve
from sklearn.metrics import log_loss

from llmviz.corpus import generate
from llmviz.evaluation.calibration import fit_temperature, guesses_of, joined, reliability
from llmviz.evaluation.exact_loss import divide_loss, log_softmax
from llmviz.pretrained import load_bundled

CHANCE = np.random.default_rng(3)


def test_the_bins_are_those_of_scikit_learn_and_so_is_the_error():
    sure = CHANCE.beta(2, 1, 4000)
    right = CHANCE.random(4000) < sure**1.5
    ours = reliability(sure, right)
    shares, means = calibration_curve(right, sure, n_bins=10, strategy="uniform")
    assert ours.right[ours.counts > 0] == pytest.approx(shares)
    assert ours.confidence[ours.counts > 0] == pytest.approx(means)
    weights = np.histogram(sure, bins=10, range=(0, 1))[0]
    gap = np.abs(shares - means) @ weights[weights > 0] / 4000
    assert ours.error == pytest.approx(gap)
    assert ours.overconfident == pytest.approx(sure.mean() - right.mean())


def test_a_guess_at_the_edge_of_a_bin_is_in_one_bin():
    ours = reliability(np.array([0.0, 0.1, 0.100001, 1.0]), np.array([0, 1, 1, 1]))
    assert ours.counts.tolist() == [2, 1, *[0] * 7, 1]
    assert np.isnan(ours.confidence[5])
    with pytest.raises(ValueError, match="at least 1 guess"):
        reliability(np.zeros(0), np.zeros(0))


def test_who_is_sure_as_often_as_right_has_no_error_but_the_dice():
    sure = CHANCE.random(200_000)
    assert reliability(sure, sure).error == pytest.approx(0, abs=1e-12)
    assert reliability(sure, CHANCE.random(200_000) < sure).error < 0.01


def test_the_fitted_temperature_is_the_lowest_place_of_the_loss():
    truth = CHANCE.normal(size=(3000, 12))
    chances = np.exp(log_softmax(truth))
    targets = np.array([CHANCE.choice(12, p=row) for row in chances])
    for factor in (0.4, 1.0, 3.0):
        logits = truth * factor

        def loss(temperature, logits=logits):
            return log_loss(targets, np.exp(log_softmax(logits / temperature)), labels=range(12))

        ours = fit_temperature(logits, targets)
        theirs = minimize_scalar(loss, bounds=(0.1, 9), method="bounded", options={"xatol": 1e-7})
        assert ours == pytest.approx(theirs.x, abs=1e-4)
        assert ours == pytest.approx(factor, rel=0.1)
    with pytest.raises(ValueError, match="at least 1 token"):
        fit_temperature(np.zeros((0, 4)), np.zeros(0, int))


def test_a_model_that_is_always_right_is_fitted_at_the_end_of_the_range():
    logits = np.eye(4) * 3
    assert fit_temperature(logits, np.arange(4)) == pytest.approx(0.05, rel=1e-3)
    assert fit_temperature(logits, np.array([1, 2, 3, 0])) == pytest.approx(20, rel=1e-3)


def test_guesses_have_the_numbers_of_the_divided_loss_at_temperature_1():
    model, tokenizer, _ = load_bundled("drafts/tiny-world")
    texts = [story.text for story in generate(2, seed=20_000)]
    found = guesses_of(model, tokenizer, texts, (0.5, 1.0))
    parts = [divide_loss(model, tokenizer, text) for text in texts]
    at = found.at(1.0)
    assert found.losses[at] == pytest.approx(np.concatenate([one.loss for one in parts]), abs=1e-4)
    assert found.true == pytest.approx(np.concatenate([one.guess_true for one in parts]))
    assert np.array_equal(found.right, ~np.concatenate([one.missed for one in parts]))
    assert (found.confidence[0] >= found.confidence[1] - 1e-6).all()  # colder is surer
    both = joined([guesses_of(model, tokenizer, [text], (0.5, 1.0)) for text in texts])
    assert both.confidence == pytest.approx(found.confidence)
    assert np.array_equal(both.story, found.story)
