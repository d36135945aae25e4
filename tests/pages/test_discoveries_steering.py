"""The chapter "Steering": what its sentences say at any setting."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments import steering as make_steering
from llmviz.corpus.states import RULES
from llmviz.course.lessons.discoveries.steering import chapter, doses, removal
from llmviz.course.lessons.discoveries.steering import model as record
from llmviz.interpretability.steering import HIJACKED, Written
from tests.pages.finished_job import FakeJob
from tests.pages.harness import boxes, fine, open_part, prose_of, sent


def test_the_answers_that_are_marked_are_those_of_the_numbers():
    steered = record.recorded().by_choice[record.Choice()]
    asked = chapter.dose_question()
    assert asked.answers[asked.right].startswith("Such words fill the text")
    assert steered.of("share")[:, -1].min() > 0.5
    assert steered.of("kept")[:, -1].max() < 0.2
    assert steered.of("share")[:, 0].mean() <= steered.of("share")[:, 1].mean()
    found, row = record.recorded().removals, RULES.index(removal.TARGET)
    assert found.rises.mean(0)[row].argmax() == row
    assert found.rises[:, row, row].min() > 1
    assert np.abs(found.rises[:, row, -1]).max() < 0.05


@pytest.mark.parametrize("choice", make_steering.CHOICES)
def test_each_bundled_choice_is_read_out(choice):
    link = {
        "steerkind": choice.kind,
        "steertarget": choice.target,
        "steerlayer": str(choice.layer),
        "steerhead": str(choice.head),
    }
    page = open_part("discoveries", "steering", show="1", **link)
    fine(page)
    said, steered = prose_of(page), record.recorded().by_choice[choice]
    assert doses.label_of(choice.target) in said
    taken = doses.hijacked_from(steered)
    assert ("hijacks" in said) == (taken is not None)
    assert ("In every set that is more" in said) == (doses.best_dose(steered) is not None)
    assert not [one for one in page.button if "Write and measure" in one.label]


@st.composite
def measured(draw) -> record.Steered:
    """What any measurement may give."""
    count = len(record.DOSES)

    def one() -> Written:
        words = draw(st.integers(0, 50))
        share = draw(st.floats(0, 1)) if words else 0.0
        most = draw(st.floats(0.02, 1)) if words else 0.0
        return Written(words, share, draw(st.floats(0, 1)), 0.0, "the" if words else "", most)

    rows = tuple(tuple(one() for _ in range(count)) for _ in range(record.SETS))
    losses = tuple(
        tuple(draw(st.lists(st.floats(0, 9), min_size=count, max_size=count)))
        for _ in range(record.SETS)
    )
    texts = tuple([""] * count)
    known = draw(st.booleans())
    return record.Steered(record.Choice(), "x", record.DOSES, rows, losses, texts, known)


@given(measured())
def test_what_is_said_of_any_measurement_holds(steered):
    said, rows = doses.read_out(steered), doses.rows(steered)
    assert len(rows) == len(record.DOSES)
    if not steered.of("words").any():
        assert "wrote no word" in said
        return
    share = steered.of("share")
    best = doses.best_dose(steered)
    if best is not None:
        assert (share[:, best] > share[:, 1]).all()
        assert f"at a dose of {record.DOSES[best]:g}".replace("-", "−") in said
    assert ("cannot have written this beginning" in said) == (not steered.known)
    above = steered.of("most_share")[:, np.array(record.DOSES) > 0] > HIJACKED
    assert ("hijacks" in said) == above.any()


@pytest.mark.parametrize("state", ["running", "done"])
def test_a_choice_of_the_learners_is_measured_behind_the_page(monkeypatch, state):
    known = record.recorded().by_choice[record.Choice()]
    choice = record.Choice(record.MEANS, "word food", 1)
    own = replace(known, choice=choice)
    going = [record.Going(0.0), record.Going(0.5)]
    steps = going if state == "running" else [*going, record.Going(1.0, own)]
    monkeypatch.setattr(doses, "job_of", lambda *_: FakeJob(steps, state))
    link = {"steertarget": "word food", "steerlayer": "1", "steerrun": "1", "show": "1"}
    page = open_part("discoveries", "steering", **link)
    fine(page)
    assert ("In three sets of" in prose_of(page)) == (state == "done")


def test_a_beginning_that_is_empty_is_told():
    page = open_part("discoveries", "steering", steerprompt="", show="1")
    fine(page)
    assert "There is no beginning yet" in boxes(page)


@pytest.mark.parametrize("cell", ["", "0.3", "13.14", "14.2", "99.0", "x", "3"])
@pytest.mark.parametrize("how", ["means", "feature"])
def test_any_cell_of_the_grid_is_read_out(cell, how):
    page = open_part("discoveries", "steering", steercell=cell, steerout=how, show="1")
    fine(page)
    found = record.recorded().removals
    row, column = removal.cell_of(cell)
    grid = sent(page, "cell_grid")
    assert np.shape(grid["values"]) == (len(RULES) + 1,) * 2
    taken = found.rises if how == "means" else found.by_feature
    own = taken[:, row, column] if row < len(RULES) else found.random.mean(1)[:, column]
    assert f"For {removal.own_largest(how)} of 14 rules" in prose_of(page)
    less = sum(
        all(a[r, r] < b[r, r] for a, b in zip(found.by_feature, found.rises, strict=True))
        for r in range(len(RULES))
    )
    assert (f"For {less} of 14 rules, the rise at" in prose_of(page)) == (how == "feature")
    assert np.asarray(grid["values"])[row, column] == pytest.approx(own.mean(), abs=1e-5)
    assert doses.three(own) in prose_of(page)


def test_a_copy_without_the_measurements_names_the_command(monkeypatch):
    def missing(*_: object) -> None:
        raise ValueError("no")

    monkeypatch.setattr(chapter, "recorded", missing)
    page = open_part("discoveries", "steering")
    fine(page)
    assert any(record.COMMAND in block.value for block in page.code)


def test_a_copy_with_another_story_model_names_the_command(monkeypatch):
    other = replace(record.recorded(), weights="another")
    monkeypatch.setattr(chapter, "recorded", lambda: other)
    page = open_part("discoveries", "steering")
    fine(page)
    assert "other weights" in boxes(page)
