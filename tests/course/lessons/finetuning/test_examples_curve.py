"""The bundled curves of accuracy against examples: whole, in order, and made by what is here."""

from __future__ import annotations

import json

import pytest

from experiments import labelled_texts as make_labelled_texts
from llmviz.course.lessons.finetuning.classifier import examples_curve as curve
from llmviz.paths import EXPERIMENT_FOLDER


def test_the_bundled_curves_are_whole_and_of_these_settings():
    found = curve.measured()
    about = json.loads((EXPERIMENT_FOLDER / curve.FILE).read_text("utf-8"))
    assert about["command"] == curve.COMMAND and about["steps"] == curve.STEPS
    assert len(about["accuracy"]) == len(list(curve.runs()))
    assert [band.way for band in found.bands] == list(curve.STEPS)
    for band in found.bands:
        for low, mean, high in zip(band.lowest, band.mean, band.highest, strict=True):
            assert 0 <= low <= mean <= high <= 1
    assert 0.5 <= found.guess < 0.6  # two classes, about as many of each


def test_a_file_that_lacks_a_training_is_refused_with_its_name(tmp_path):
    about = json.loads((EXPERIMENT_FOLDER / curve.FILE).read_text("utf-8"))
    key = next(iter(curve.runs())).key
    del about["accuracy"][key]
    (tmp_path / curve.FILE).write_text(json.dumps(about), "utf-8")
    with pytest.raises(ValueError, match=f"lacks 1 trainings, such as '{key}'"):
        curve.measured(tmp_path)


def test_texts_that_are_trained_on_are_not_tested():
    pool, test = make_labelled_texts.texts()
    assert (
        len(pool.texts) >= curve.COUNTS[-1]
        and abs(len(test.texts) - make_labelled_texts.TESTED) <= 2
    )
    small, large = pool.first(10, 0), pool.first(300, 0)
    assert set(small.texts) <= set(large.texts)


def test_what_is_measured_already_is_not_measured_again(tmp_path, monkeypatch):
    monkeypatch.setattr(curve, "COUNTS", (2, 4))
    monkeypatch.setattr(curve, "SEEDS", (0,))
    monkeypatch.setattr(make_labelled_texts, "TESTED", 6)
    done = []
    monkeypatch.setattr(make_labelled_texts, "measure", lambda run, *_: done.append(run.key) or 0.5)
    monkeypatch.setattr(make_labelled_texts, "features", lambda *_: None)
    assert make_labelled_texts.make(tmp_path, most=3) == len(list(curve.runs())) - 3
    assert make_labelled_texts.make(tmp_path) == 0
    assert done == [run.key for run in curve.runs()]
    assert curve.measured(tmp_path).bands[0].mean == (0.5, 0.5)
