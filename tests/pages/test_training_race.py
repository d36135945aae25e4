"""The race, and the runs that go wrong: the page shows the runs' own numbers."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest

from llmviz.course.document.marks import as_markdown
from llmviz.course.lessons.training import charted_runs
from llmviz.course.lessons.training import started_runs as started
from llmviz.course.lessons.training.curves import race
from llmviz.course.lessons.training.curves import words as race_words
from llmviz.course.lessons.training.overfitting import chapter as overfitting
from llmviz.course.lessons.training.overfitting import words as wrong_words
from llmviz.course.ui import engine
from llmviz.training import mistakes
from llmviz.training.curves import CurveFile
from llmviz.training.mistakes import EXPERIMENTS, PLANS
from tests.pages import harness

THERE = [name for name in race_words.racers if name in engine.names()]
bundled_models = pytest.mark.skipif(len(THERE) < 7, reason="bundled models of names are missing")


def curve(name: str):
    return CurveFile(engine.CHECKPOINTS / name).read()


@bundled_models
def test_the_race_ends_where_the_cards_of_its_models_say():
    app = harness.open_part("training", "curves")
    harness.fine(app)
    cards = {race_words.racers[name]: engine.card(name) for name in THERE}
    told = {row["label"][0][0]: row for row in harness.sent(app, "case_rows")["rows"]}
    assert told.keys() == cards.keys()
    for title, row in told.items():
        assert row["value"] == pytest.approx(cards[title]["validation_loss"], abs=1e-6)
    assert [row["value"] for row in told.values()] == sorted(row["value"] for row in told.values())


@bundled_models
def test_before_the_guess_no_loss_after_step_500_is_told(covers):
    app = harness.open_part("training", "curves")
    harness.fine(app)
    asked, *rows = harness.sent(app, "case_rows")["rows"]
    assert asked["value"] is None and not asked["dots"]
    at = {race_words.racers[name]: curve(name) for name in THERE}
    for row in rows:
        own = at[row["label"][0][0]]
        assert row["value"] == pytest.approx(own.validation[own.steps == 500][0], abs=1e-6)
    assert "What you have seen" not in [header.value for header in app.header]


@bundled_models
def test_looks_at_the_race_say_what_its_runs_did():
    own = curve("names-wavenet")
    known = ~np.isnan(own.validation)
    best = own.steps[known][own.validation[known].argmin()]
    assert abs(own.validation[known].min() - own.validation[own.steps == 2000][0]) < race.TIE
    assert own.train[-1] < own.train[own.steps == 2000][0] - 0.1 and best < 6000
    ends = {name: curve(name).last_validation for name in THERE}
    assert min(ends.values()) < own.last_validation - race.TIE


@bundled_models
def test_the_report_names_who_is_ahead():
    full = [started.titled(charted_runs.read(name), race_words.racers[name]) for name in THERE]
    ends = {one.title: curve(one.name).last_validation for one in full}
    order = sorted(ends, key=ends.__getitem__)
    said = as_markdown(race.report(full, 6000))
    assert f"**{order[0]}** is least surprised by new names, with {ends[order[0]]:.3f}" in said
    assert f"{order[-1]} has the highest loss, {ends[order[-1]]:.3f}" in said
    # Before anything was measured there is no order, and nothing breaks.
    assert math.isnan(race.loss_by(full[0], 0))
    assert "nan" not in race.report(full, 0)


@bundled_models
def test_the_picture_goes_back_to_an_earlier_step():
    app = harness.open_part("training", "curves", rstep="2000")
    harness.fine(app)
    own = curve("names-gru")
    rows = harness.sent(app, "case_rows")["rows"]
    (row,) = (row for row in rows if row["label"][0][0] == "GRU")
    assert row["value"] == pytest.approx(own.validation[own.steps == 2000][0], abs=1e-6)


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


def test_what_was_learned_by_heart_is_counted():
    app = harness.open_part("training", "overfitting", failing="heart", by_heart="400")
    own = CurveFile(mistakes.bundled("heart")).read()
    names = overfitting.training_names(overfitting._bundled("heart", "heart"))
    assert len(names) == 80
    known, new = mistakes.copied(dict(own.samples)[len(own) - 1], names)
    said = (
        f"It wrote {len(known) + len(new)} names. <strong>{len(known)}</strong> of them are copies"
    )
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
