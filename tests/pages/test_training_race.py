"""The race, and the runs that go wrong: the page shows the runs' own numbers."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from llmviz.corpus import load_corpus
from llmviz.course.document.marks import as_markdown
from llmviz.course.lessons.training import charted_runs
from llmviz.course.lessons.training import started_runs as started
from llmviz.course.lessons.training.overfitting import chapter as overfitting
from llmviz.course.lessons.training.overfitting import words as wrong_words
from llmviz.course.lessons.training.race import chapter as race
from llmviz.course.lessons.training.race import standings
from llmviz.course.lessons.training.race import words as race_words
from llmviz.course.ui import engine
from llmviz.pretrained import load_bundled
from llmviz.sampling import generate
from llmviz.training import mistakes
from llmviz.training.curves import CurveFile
from llmviz.training.mistakes import EXPERIMENTS, PLANS
from tests.pages import harness
from tests.pages.conftest import load_torch, use

THERE = [name for name in race_words.models if name in engine.names()]
bundled_models = pytest.mark.skipif(len(THERE) < 7, reason="bundled models of names are missing")


def curve(name: str):
    return CurveFile(engine.CHECKPOINTS / name).read()


@bundled_models
def test_the_race_draws_the_bundled_runs():
    app = harness.open_part("training", "race", raxis="seconds")
    harness.fine(app)
    drawn = harness.sent(app, "curves")
    assert drawn["view"]["axis"] == "seconds" and drawn["offered"] == ["axis", "unit"]
    assert [run["label"] for run in drawn["runs"]] == [race_words.models[n][0] for n in THERE]
    for run, name in zip(drawn["runs"], THERE, strict=True):
        own = curve(name)
        assert np.allclose(run["validation"], own.validation[~np.isnan(own.validation)], atol=1e-5)
        assert run["seconds"][-1] == pytest.approx(own.seconds[-1], rel=1e-5)
    cards = {race_words.models[name][0]: engine.card(name) for name in THERE}
    told = {row["label"][0][0]: row for row in harness.sent(app, "case_rows")["rows"]}
    assert told.keys() == cards.keys()
    for title, row in told.items():
        assert row["value"] == pytest.approx(cards[title]["validation_loss"], abs=1e-6)
    assert [row["value"] for row in told.values()] == sorted(row["value"] for row in told.values())


@bundled_models
def test_before_the_guess_no_loss_after_step_500_is_told(covers):
    app = harness.open_part("training", "race")
    harness.fine(app)
    asked, *rows = harness.sent(app, "case_rows")["rows"]
    assert asked["value"] is None and not asked["dots"]
    at = {race_words.models[name][0]: curve(name) for name in THERE}
    for row in rows:
        own = at[row["label"][0][0]]
        assert row["value"] == pytest.approx(own.validation[own.steps == 500][0], abs=1e-6)
    assert "What you have seen" not in [header.value for header in app.header]


@bundled_models
def test_looks_at_the_race_say_what_its_runs_did():
    own = curve("names-wavenet")
    known = ~np.isnan(own.validation)
    best = own.steps[known][own.validation[known].argmin()]
    assert abs(own.validation[known].min() - own.validation[own.steps == 2000][0]) < standings.TIE
    assert own.train[-1] < own.train[own.steps == 2000][0] - 0.1 and best < 6000
    pairs = curve("names-bigram")
    at_500 = pairs.validation[pairs.steps == 500][0]
    assert abs(at_500 - pairs.last_validation) < standings.TIE


@bundled_models
def test_the_report_names_who_is_ahead():
    full = [started.titled(charted_runs.read(name), race_words.models[name][0]) for name in THERE]
    ends = {one.title: curve(one.name).last_validation for one in full}
    order = sorted(ends, key=ends.__getitem__)
    said = as_markdown(standings.report(full, 6000))
    assert f"**{order[0]}** has the lowest validation loss, {ends[order[0]]:.3f}" in said
    assert f"{order[-1]} has the highest loss, {ends[order[-1]]:.3f}" in said
    # Before anything was measured there is no order, and nothing breaks.
    assert math.isnan(standings.loss_by(full[0], 0))
    assert math.isnan(standings.after(full[0], 0.0))
    assert "nan" not in standings.report(full, 0)


@bundled_models
def test_the_picture_goes_back_to_an_earlier_step():
    app = harness.open_part("training", "race", rstep="2000", who="names-gru")
    harness.fine(app)
    own = curve("names-gru")
    rows = harness.sent(app, "case_rows")["rows"]
    (row,) = (row for row in rows if row["label"][0][0] == "GRU")
    assert row["value"] == pytest.approx(own.validation[own.steps == 2000][0], abs=1e-6)


@bundled_models
def test_the_names_are_written_by_the_models_now():
    app = harness.open_part("training", "race", inventing="7")
    harness.fine(app)
    model, tokenizer, _ = load_bundled("names-gpt")
    end = tokenizer.special_tokens["<|endoftext|>"]
    generator = torch.Generator().manual_seed(7)
    names = load_corpus("names").split(0.1, 0)[0]
    written = []
    for _ in range(8):
        tokens = generate(model, [end], 20, generator=generator, stop_id=end)
        written.append(tokenizer.decode([token.id for token in tokens if token.id != end]))
    line = harness.prose_of(app).split("<strong>GPT</strong>")[-1]
    assert all(f"<code>{name}</code>" in line for name in written)
    assert f"{sum(name in set(names) for name in written)} from the list" in line


def test_nobody_on_the_chart_and_missing_models_are_said(folder, monkeypatch):
    use(monkeypatch, folder)
    app = harness.open_part("training", "race")
    harness.fine(app)
    for line in ("not in this copy", "checkpoints make names-bigram", race_words.none_chosen):
        assert line in harness.boxes(app)


def test_plans_of_the_race_are_the_recipes_but_shorter():
    load_torch()
    from llmviz.training.recipes import plan_of

    plans = race.plans(list(race_words.models), 200)
    assert len(plans) == 7
    for name, plan in zip(race_words.models, plans.values(), strict=True):
        recipe = plan_of(name)
        assert plan.model_options == recipe.model_options and plan.corpus == recipe.corpus
        assert plan.train.learning_rate == recipe.train.learning_rate
        assert plan.train.steps == 200 and plan.train.seed == recipe.train.seed


# ---- when it goes wrong


@pytest.mark.parametrize("kind", list(EXPERIMENTS))
def test_each_failure_shows_its_curves_and_numbers(kind):
    app = harness.open_part("training", "overfitting", failing=kind)
    harness.fine(app)
    drawn = harness.sent(app, "curves")["runs"]
    names = EXPERIMENTS[kind].runs
    assert [run["label"] for run in drawn] == [overfitting.title_of(kind, n) for n in names]
    own = CurveFile(mistakes.bundled(names[0])).read()
    assert np.allclose(drawn[0]["train"], own.train, rtol=1e-5)
    for snippet, prints in harness.snippets(app):
        assert harness.run_snippet(snippet).strip() == prints.strip()
    told = harness.sent(app, "draw_on")
    own_losses = [line for line in told["lines"] if line["label"].startswith(drawn[0]["label"])]
    assert np.allclose(own_losses[-1]["y"], own.validation[~np.isnan(own.validation)])
    assert ("not finite at step 7" in harness.boxes(app)) == (kind == "rate")


def test_a_link_that_names_more_runs_than_may_be_started_is_refused():
    names = "names-gru,names-mlp,names-lstm,names-gpt,names-bigram"
    app = harness.open_part("training", "race", again=names)
    harness.fine(app)
    assert any("at most 4 names" in warning.value for warning in app.warning)


def test_what_was_learned_by_heart_is_counted():
    app = harness.open_part("training", "overfitting", failing="heart", by_heart="400")
    own = CurveFile(mistakes.bundled("heart")).read()
    names = overfitting.training_names(overfitting._bundled("heart", "heart"))
    assert len(names) == 80
    known, new = mistakes.copied(dict(own.samples)[len(own) - 1], names)
    said = f"Of its {len(known) + len(new)} names <strong>{len(known)}</strong> are copied"
    assert said in harness.prose_of(app)


def test_before_a_guess_no_later_loss_on_new_names_and_no_copy_is_told(covers):
    app = harness.open_part("training", "overfitting")
    harness.fine(app)
    (new,) = (
        line
        for line in harness.sent(app, "draw_on")["lines"]
        if line["label"].endswith("new names")
    )
    assert len(new["x"]) == overfitting.KNOWN["heart"]
    assert "copied" not in harness.prose_of(app) and not harness.unpack_all(app, "curves")


def test_missing_short_runs_are_said(monkeypatch, tmp_path):
    monkeypatch.setattr(mistakes, "EXPERIMENT_FOLDER", tmp_path)
    app = harness.open_part("training", "overfitting")
    harness.fine(app)
    assert wrong_words.missing in harness.boxes(app)
    assert any(block.value == wrong_words.missing_command for block in app.code)


def test_the_button_starts_real_runs(monkeypatch, tmp_path):
    """Two plans go to the manager as they are bundled; what it refuses is said in a line."""
    given = []

    def start(owner, plan):
        given.append(plan)
        if len(given) == 2:
            raise ValueError("no room for another run")
        return SimpleNamespace(name="my-run")

    nothing = dict.fromkeys(("wait", "run", "warm"), lambda *_: None)
    manager = SimpleNamespace(start=start, runs=lambda owner: [], **nothing)
    monkeypatch.setattr("llmviz.course.ui.runs.manager", lambda: manager)
    app = harness.open_part("training", "overfitting", failing="heart")
    next(button for button in app.button if button.label == "Train 2 runs here").click().run()
    harness.fine(app)
    assert given == [PLANS[name] for name in EXPERIMENTS["heart"].runs]
    assert "no room for another run" in harness.boxes(app)
