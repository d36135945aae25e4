"""The bundled short runs: what they show is what their own curves say, and they can be remade."""

import json

import numpy as np
import pytest

from llmviz.corpus import load_corpus
from llmviz.training.config import Plan
from llmviz.training.curves import CurveFile
from llmviz.training.mistakes import EXPERIMENTS, PLANS, bundled, copied, make, read_card
from llmviz.training.reading import read_description

CURVES = {name: CurveFile(bundled(name)).read() for name in PLANS}


@pytest.mark.parametrize("name", sorted(PLANS))
def test_each_bundled_run_was_made_by_its_plan(name):
    description, card = read_description(bundled(name)), read_card(name)
    plan = PLANS[name].to_dict()
    assert Plan.from_dict(description["plan"]).to_dict() == plan
    assert description["command"] == card["command"]
    assert card["seconds"] < 60
    assert card["steps"] == CURVES[name].steps[-1]
    assert (card["ended"] == "done") == (card["steps"] == plan["train"]["steps"])


def test_every_comparison_has_its_runs():
    assert {run for one in EXPERIMENTS.values() for run in one.runs} == set(PLANS)


def test_the_rates_do_what_they_are_for():
    end = {name: CURVES[name].last_validation for name in ("right", "rate-small", "rate-large")}
    assert end["right"] < end["rate-large"] - 0.3 and end["right"] < end["rate-small"] - 0.3
    assert CURVES["rate-large"].train.max() > 10 > CURVES["rate-small"].train.max()
    assert read_card("rate-gone")["ended"] == "diverged"
    assert "not finite at step 7" in read_card("rate-gone")["line"]


def test_few_names_are_learned_by_heart_and_many_are_not():
    few, many = CURVES["heart"], CURVES["heart-all"]
    assert few.last_validation - few.train[-1] > 3
    assert abs(many.last_validation - many.train[-1]) < 0.2
    assert np.nanmin(few.validation) < few.last_validation - 1
    plan = PLANS["heart"]
    names = list(load_corpus("names").split(plan.fraction, plan.split_seed)[0])
    known, new = copied(few.samples[-1][1], names)
    assert len(known) > 3 * len(new)
    # Nobody who knows the list can do better than not to know which name comes next.
    letters = np.mean([len(name) + 1 for name in names])
    assert few.train[-1] > np.log(len(names)) / letters - 0.02


def test_shift_warmup_and_dropout_show_what_they_are_for():
    assert CURVES["no-shift"].last_validation < 0.01
    assert CURVES["cold"].last_validation > CURVES["warm"].last_validation + 0.3
    assert CURVES["cold"].grad_norm.max() > 3 * CURVES["warm"].grad_norm.max()
    assert CURVES["no-dropout"].train[-1] < CURVES["dropout"].train[-1]
    assert CURVES["no-dropout"].last_validation > CURVES["dropout"].last_validation + 0.5


def test_a_run_that_diverges_is_made_again_to_the_same_numbers(tmp_path):
    card = make("rate-gone", tmp_path)
    assert card["ended"] == "diverged"
    again = CurveFile(tmp_path / "rate-gone").read()
    assert np.allclose(again.train[:3], CURVES["rate-gone"].train[:3], rtol=1e-3)
    assert json.loads((tmp_path / "rate-gone" / "card.json").read_text("utf-8")) == card


def test_copies_are_counted_line_by_line():
    assert copied("anna\n\nbob\ncarl\nanna", ["anna", "carl"]) == (
        ["anna", "carl", "anna"],
        ["bob"],
    )


def test_unknown_names_are_refused():
    with pytest.raises(ValueError, match="the run must be one of right"):
        make("wrong")
    with pytest.raises(ValueError, match="not in this copy"):
        bundled("wrong")
