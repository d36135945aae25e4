"""What was measured of the bundled models and of small ones: identities, some measured again."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from torch import nn

from experiments.beyond_context import losses_by_position
from experiments.model_errors import MODELS, to_json
from experiments.smoothed import summed_up
from llmviz.corpus import generate
from llmviz.course.lessons.errors import model_errors
from llmviz.course.lessons.errors.asked import beyond_context
from llmviz.course.lessons.errors.asked.beyond_context import BIN, POSITIONS, TIMES
from llmviz.course.lessons.errors.calibration import model as smoothed_runs
from llmviz.course.lessons.errors.calibration.model import SEEDS, SMOOTHING
from llmviz.course.lessons.errors.model_errors import recorded as measurements
from llmviz.evaluation.calibration import TEMPERATURES, guesses_of, reliability
from llmviz.evaluation.longer_texts import long_texts
from llmviz.pretrained import load_bundled
from llmviz.records import typed

TEXTS = [story.text for story in generate(3, seed=20_000)]


def test_every_recorded_model_has_parts_that_add_up():
    known = model_errors.recorded()
    assert list(known) == [*MODELS, *model_errors.TUNED]
    for measured in known.values():
        corpus = measured.corpus
        assert corpus.stories == model_errors.STORIES
        parts = corpus.entropy.value + corpus.divergence.value + corpus.dice.value
        assert parts == pytest.approx(corpus.loss.value, abs=1e-6)
        assert measured.loss(1.0) == pytest.approx(corpus.loss.value, abs=1e-4)
        assert abs(corpus.dice.value) < 4 * corpus.dice.error, "the dice have a mean of 0"
        assert (measured.counts.sum(-1) == corpus.tokens).all()
        missed = corpus.by_dice.value + corpus.by_divergence.value
        assert 1 - measured.right[0].sum() / corpus.tokens == pytest.approx(missed, abs=1e-5)
        lowest = TEMPERATURES[measured.losses.argmin()]  # the fit has other stories
        assert abs(lowest - measured.fitted) < 0.1


def test_models_with_the_same_tokens_share_the_worlds_chance():
    known = model_errors.recorded()
    for one, other in (
        ("tiny-world-gpt", "drafts/tiny-world"),
        ("words-gpt", "since-2017/learned"),
    ):
        assert known[one].corpus.entropy == known[other].corpus.entropy


def test_a_measurement_is_what_its_parts_compute_and_survives_its_file():
    model, tokenizer, _ = load_bundled("drafts/tiny-world")
    *counted, found = model_errors.measure(model, tokenizer, TEXTS, TEXTS[:1])
    assert counted == [1, 2, 3, 4]
    guesses = guesses_of(model, tokenizer, TEXTS)
    for against, held in ((model_errors.CAME, guesses.right), (model_errors.TRUE, guesses.true)):
        for temperature in (0.5, 1.0, 1.7):
            ours = found.reliability(temperature, against)
            plain = reliability(guesses.confidence[guesses.at(temperature)], held)
            assert ours.counts.tolist() == plain.counts.tolist()
            assert ours.error == pytest.approx(plain.error)
            assert ours.overconfident == pytest.approx(plain.overconfident)
            assert found.spread(temperature, against) > 0
    assert found.losses == pytest.approx(guesses.losses.mean(-1))
    again = typed(json.loads(json.dumps(to_json(found))), model_errors.ModelErrors)
    assert isinstance(again, model_errors.ModelErrors)
    assert again.corpus == found.corpus
    assert again.confidence == pytest.approx(found.confidence, abs=1e-4)


@pytest.mark.parametrize("name", ["errors/by-heart", "tiny-world-gpt"])
def test_what_is_kept_of_a_measurement_is_what_it_says(name):
    found = measurements()[name]
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
    found = losses_by_position(model, tokenizer, 4)
    ids = long_texts(tokenizer, TIMES * model.context_length, 4)
    with torch.inference_mode():
        logits = model(ids[:, : model.context_length])[0]
        nll = nn.functional.cross_entropy(
            logits.transpose(1, 2), ids[:, 1 : model.context_length + 1], reduction="none"
        )
    inside = [float(part.mean()) for part in nll.split(BIN, 1)]
    assert found[: len(inside)] == pytest.approx(inside, abs=1e-3)
    assert len(found) == TIMES * model.context_length // BIN
