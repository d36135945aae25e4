"""What the form of a new run sets when another model is chosen."""

import pytest

from llmviz.course.lessons.training.runs import FIRST, plan_controls, presets, words
from llmviz.models import MODELS

SUITED = {
    name: {**entry.suited_plan, **entry.suited_training}
    for name, entry in MODELS.items()
    if entry.suited_plan or entry.suited_training
}


def form(preset):
    values = presets.values_of(preset)
    return {
        "preset": preset,
        **{plan_controls.MARK + name: value for name, value in values.items()},
    }


def choose(state, *models):
    for model in models:
        state[plan_controls.MARK + "model"] = model
        presets.suit(state)
    return {name: state[plan_controls.MARK + name] for name in SUITED[models[-1]]}


@pytest.mark.parametrize("preset", ["names", "words"])
def test_each_model_gets_what_suits_it_and_the_next_one_what_was_there(preset):
    state = form(preset)
    for model, suited in SUITED.items():
        assert choose(state, model) == suited
    assert choose(state, "word2vec", "seq2seq", "word2vec")["tokenizer"] == "word"
    assert state["r_corpus"] == presets.values_of(preset)["corpus"]  # not the pairs
    state["r_model"] = "rnn"
    presets.suit(state)
    assert state == form(preset) | {"r_model": "rnn"}


def test_what_the_learner_changed_stays():
    state = form("names")
    choose(state, "word2vec")
    state["r_learning_rate"] = 0.5
    state["r_model"] = "gru"
    presets.suit(state)
    assert state["r_learning_rate"] == 0.5


def test_every_option_of_the_form_has_a_control():
    controls = {param.key for param in plan_controls.plan_params(presets.values_of(FIRST))}
    for model in MODELS:
        offered = {plan_controls.MARK + option for option in plan_controls.options_of(model)}
        assert offered <= controls, model
    assert "window" not in plan_controls.options_of("gpt")  # else an MLP's would be taken for it


def test_every_starting_point_has_its_name_and_its_sentence():
    assert list(words.presets) == list(words.preset_texts) == list(presets.PRESETS)


@pytest.mark.parametrize("model", MODELS)
def test_what_is_computed_again_comes_into_the_plan_of_a_model_that_can(model):
    state = form("names") | {"r_model": model, "r_recompute": 1}
    presets.suit(state)
    plan, _ = plan_controls.plan_of(state)
    assert plan.train.recompute == (1 if MODELS[model].recomputes else 0)
