"""The lesson "Discoveries you can repeat": what its sentences say at any setting."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmviz.lessons.discoveries.superposition import chapter, own
from llmviz.lessons.discoveries.superposition.directions import report
from llmviz.study import superposition_record as record
from llmviz.study.superposition import Learned, Moment, Toy
from tests.pages.harness import fine, open_part, prose_of, sent


@st.composite
def toys(draw) -> Learned:
    """A model of any size with any directions, some of them 0."""
    n, m = draw(st.integers(1, 6)), draw(st.integers(1, 4))
    w = np.random.default_rng(draw(st.integers(0, 999))).normal(size=(m, n))
    w *= np.array(draw(st.lists(st.sampled_from([0.0, 0.1, 1.0]), min_size=n, max_size=n)))
    return Learned(Toy(n, m), [Moment(7, 9, 0.5, w, np.zeros(n))])


@settings(deadline=None)
@given(toys())
def test_the_sentence_on_a_training_counts_what_it_keeps(learned):
    said = report(learned)
    kept, shared = int(learned.kept.sum()), int(learned.shared.sum())
    assert "After step 7" in said
    assert ("no feature has a direction" in said) == (not kept)
    assert ("at right angles to each other" in said) == (kept > 0 and not shared)
    assert (f"{shared} of them overlap" in said) == (shared > 0)
    assert ("Between neighbours" in said) == (learned.toy.dimensions == 2 and kept > 1)


@pytest.mark.parametrize("on", ["", "1", "2,4", "1,2,3,4,5"])
@pytest.mark.parametrize("density", ["1", "0.05"])
def test_any_features_may_be_on(on, density):
    page = open_part(
        "discoveries", "superposition", toyon=on, toydensity=density, toyseed="2", show="1"
    )
    fine(page)
    said = prose_of(page)
    learned = record.film(float(density), 2)
    x = np.array([str(one + 1) in on.split(",") for one in range(5)], float)
    read = learned.last.read(x)
    if on:
        assert f"{read[x > 0][0]:.2f}" in said
    assert ("All are off" in said) == (not on)
    assert ("None is off" in said) == (on == "1,2,3,4,5")
    assert ("All numbers of b are below 0" in said) == bool((learned.last.bias < 0).all())
    matrices = {one["name"]: one["values"] for one in sent(page, "matrix_view")["matrices"]}
    assert matrices["x′"] == pytest.approx(read[None], abs=1e-5)
    w = matrices["W"]
    assert matrices["Wᵀ·W"] == pytest.approx(w.T @ w, abs=1e-5)


@pytest.mark.parametrize("d", [0, 18, 24])
@pytest.mark.parametrize("i", [0, 12, 24])
def test_a_cell_of_the_chart_is_read_out(d, i):
    page = open_part(
        "discoveries", "superposition", phasedensity=str(d), phaseweight=str(i), show="1"
    )
    fine(page)
    chart, said = record.phase_chart(), prose_of(page)
    kind = int(chart.kinds[d, i])
    how = {record.FIRST: "drops the second", record.SECOND: "drops the first"}
    assert how.get(kind, "both features share") in said
    assert f"Its loss is {chart.losses[d, i]:.4f}" in said
    least = min(1.0, record.PHASE_IMPORTANCES[i]) * chapter.variance(record.PHASE_DENSITIES[d])
    assert chart.losses[d, i] <= least * 1.01
    if kind != record.BOTH:
        assert chart.losses[d, i] == pytest.approx(least, rel=0.05)


def test_a_toy_of_the_learners_is_trained_behind_the_page():
    link = {"ownfeatures": "3", "owndims": "3", "owndensity": "1", "ownseed": "5"}
    toy = Toy(3, 3, 1.0, 1.0, 5)
    job = own.job_of(toy)
    while not job.over:
        time.sleep(0.05)
    page = open_part("discoveries", "superposition", owntoy="1", **link)
    fine(page)
    learned = Learned(toy, list(job.results))
    assert report(learned) in prose_of(page)
    assert "of 3 dimensions" in prose_of(page)


def test_a_copy_without_the_bundled_trainings_names_the_command(monkeypatch):
    def missing(*_: object) -> None:
        raise ValueError("no")

    monkeypatch.setattr(chapter, "film", missing)
    page = open_part("discoveries", "superposition")
    fine(page)
    assert any(record.COMMAND in one.value for one in page.code)
