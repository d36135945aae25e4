"""The chapter on preferences: pairs, the loss in cells, and what a run is told to have done."""

from __future__ import annotations

import json
import math
import re
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as some

from llmviz.course.components import unpack
from llmviz.course.lessons.finetuning.preferences import chapter, pairs_of_rule, run, words
from llmviz.course.lessons.finetuning.training_cost import seconds_of
from llmviz.course.ui.common import percent
from llmviz.finetuning.adapted import pairs_of
from llmviz.finetuning.dpo import dpo_steps
from llmviz.finetuning.preference_run import Ending, Learned, Look
from llmviz.finetuning.preferences import RULES
from llmviz.finetuning.recipes import TUNINGS
from llmviz.paths import TUNED
from tests.pages.finished_job import FakeJob
from tests.pages.harness import boxes, fine, open_part, prose_of, sent


def test_before_training_every_pair_costs_ln_2(opened):
    fine(opened)
    board = sent(opened, "matrix_view")
    values = {one["name"]: one["values"] for one in board["matrices"]}
    assert not values["gain"].any() and not values["margin"].any()
    np.testing.assert_allclose(values["nats"], math.log(2), rtol=1e-6)
    np.testing.assert_array_equal(values["now"], values["before"])
    assert f"{math.log(2):.4f} nats" in prose_of(opened)


@pytest.fixture(scope="module")
def opened():
    return open_part("finetuning", "preferences", rule="place", pair="2", beta="0.3")


def test_the_pair_of_the_link_is_shown_and_open(opened):
    pair = pairs_of_rule.shown_pairs("place")[1]
    shown = [block.value for block in opened.code]
    assert pair.story in shown and pair.better in shown and pair.worse in shown
    score = RULES["place"]
    assert score(pair.better, pair.story) > score(pair.worse, pair.story)
    assert sent(opened, "matrix_view")["pinned"] == ["nats", 1, 0]


@given(some.floats(-200, 0), some.floats(-200, 0))
def test_the_sentence_about_a_pair_agrees_with_the_numbers_that_it_shows(better, worse):
    line = pairs_of_rule.thinks(better, worse)
    shown = f"{better:.2f}", f"{worse:.2f}"
    assert all(f"{one} nats".replace("-", "−") in line for one in shown)
    more = float(shown[0]) > float(shown[1])
    if float(shown[0]) == float(shown[1]):
        assert "both equally probable" in line
    else:
        assert ("the better one more probable" in line) == more


@pytest.mark.parametrize("beta", words.betas)
def test_the_margin_is_asked_with_one_right_answer(beta):
    for number in range(5):
        question = chapter.question(beta, number)
        told = re.search(r"ending (\d+) nats .* one (\d+) (nats?) ", question.text)
        up, down = map(int, told.groups()[:2])
        assert told[3] == ("nat" if down == 1 else "nats")
        gains = torch.tensor([float(up)]), torch.tensor([-float(down)])
        steps = dpo_steps(*gains, torch.zeros(1), torch.zeros(1), float(beta))
        right = float(steps.margin)
        near = [math.isclose(float(answer), right, rel_tol=1e-5) for answer in question.answers]
        assert near.count(True) == 1 and near[question.right]
        assert f"So the loss is {float(steps.loss):.3f} nats" in question.reasons[question.right]
        assert len(question.answers) > 2


def test_beta_is_on_a_slider_of_many_stops_and_old_links_still_say_it():
    stops = [float(one) for one in words.betas]
    assert stops == sorted(stops) and len(stops) >= 15
    assert {"0.01", "0.03", "0.1", "0.3", "1"} <= set(words.betas)
    assert all(b <= 1.5 * a + 1e-9 for a, b in pairwise(stops))
    app = open_part("finetuning", "preferences", beta="0.6")
    (slider,) = (one for one in app.select_slider if one.label == words.beta)
    assert slider.value == "0.6" and "× β = 0.6" in str(sent(app, "matrix_view")["matrices"])
    slider.set_value("0.03").run()
    fine(app)
    assert app.query_params["beta"] == "0.03"


def looks(shares, moved):
    endings = (Ending("A story.", "The end.", -2.0),) * 3
    return [
        Look(8 * i, 0.7, 0.1 * i, share, kl, endings, 1.5 * i)
        for i, (share, kl) in enumerate(zip(shares, moved, strict=True))
    ]


some_looks = some.lists(
    some.tuples(some.floats(0, 1), some.floats(0, 9)), min_size=1, max_size=9
).map(lambda pairs: looks(*zip(*pairs, strict=True)))


@given(some_looks)
def test_what_is_said_of_over_optimising_is_the_first_best_look_and_the_last(found):
    best = max(one.preferred for one in found)
    first = next(one for one in found if one.preferred == best)
    line = run.over(found)
    assert ("no held-out pair had a margin above 0 at any test" in line) == (best == 0)
    assert ("first seen at the end" in line) == (best > 0 and first is found[-1])
    assert f"{found[-1].divergence:.3f} nats per token" in line
    if best and first is not found[-1]:
        assert f"{percent(best)}, first at step {first.step}." in line
        assert f"from {first.divergence:.3f} to {found[-1].divergence:.3f}" in line


def fake_run(model) -> FakeJob:
    """A run that has ended with an adapter that changes nothing."""
    tensors = {path: (a, 0 * b) for path, (a, b) in pairs_of(model).items()}
    return FakeJob([*looks((0.0, 0.5, 0.75), (0.0, 0.1, 0.4)), Learned(tensors)])


def test_a_run_that_has_ended_is_drawn_told_and_used(monkeypatch):
    from llmviz.course.lessons.finetuning.lora.source import beside

    job = fake_run(beside("few-shot").model)
    monkeypatch.setattr(run, "run_of", lambda *given: job)
    link = dict(rule="shorter", preferupdates="16", beta="0.03", prefer="1")
    app = open_part("finetuning", "preferences", **link)
    fine(app)
    text = prose_of(app)
    assert "75.0\u00a0% of the held-out pairs" in text and "0.400 nats per token" in text
    assert f"{math.exp(0.4):.2f}" in text
    assert "After 16 updates (3 seconds)" in text
    assert len(app.get("plotly_chart")) == 3
    (table,) = app.table
    assert list(table.value["updates"]) == [0, 8, 16]
    assert list(table.value["score"]) == ["−2"] * 3
    # The adapter adds nothing, so both models write the same, and every pair still costs ln 2.
    written = [block.value for block in app.code]
    assert words.not_yet not in written
    values = {
        one["name"]: one["values"]
        for part in app.get("bidi_component")
        if part.proto.component_name == "llmviz_matrix_view"
        for one in unpack(part.proto.bytes)["matrices"]
    }
    np.testing.assert_allclose(values["nats"], math.log(2), atol=1e-4)


@pytest.mark.usefixtures("bundle")
def test_a_base_with_a_short_context_is_refused_in_one_line():
    app = open_part("finetuning", "preferences")
    fine(app)
    assert "tokens; the model reads 40 at most" in boxes(app)


def test_what_a_training_costs_is_the_bundled_curves_time_in_updates():
    lines = (TUNED / "instructions" / "metrics.jsonl").read_text("utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    spent, before = 0.0, 0
    for one in records:
        spent += (one["tokens"] - before) / one["tokens_per_second"]
        before = one["tokens"]
    assert spent < records[-1]["seconds"]  # which holds what was measured between updates
    each = spent / (records[-1]["step"] * TUNINGS["instructions"].plan.train.batch_size)
    assert seconds_of(10) == pytest.approx(10 * each)


def test_beta_is_explained_as_the_strength_of_the_tie_and_the_distance_as_of_its_own_texts():
    assert "how strongly the model is tied to the base" in words.beta_text
    assert "endings that the new model writes" in " ".join(words.read.split())
