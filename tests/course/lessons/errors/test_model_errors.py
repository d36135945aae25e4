"""What was measured of the bundled models: identities, and one model measured again in part."""

from __future__ import annotations

import json

import pytest

from experiments.model_errors import MODELS, to_json
from llmviz.corpus import generate
from llmviz.course.lessons.errors import model_errors
from llmviz.evaluation.calibration import TEMPERATURES, guesses_of, reliability
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
