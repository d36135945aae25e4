"""The lesson "Discoveries you can repeat": what its sentences say at any setting."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmviz.course.lessons.discoveries.scaling import chapter as scaling
from llmviz.course.lessons.discoveries.scaling import laws, scaling_fit, scaling_runs
from llmviz.course.lessons.discoveries.scaling.scaling_fit import Taken
from llmviz.course.lessons.discoveries.superposition import chapter
from llmviz.course.lessons.discoveries.superposition import model as record
from llmviz.course.lessons.discoveries.superposition.chapter import report
from llmviz.course.lessons.discoveries.superposition.model import Learned, Moment, Toy, learn
from tests.pages.finished_job import FakeJob
from tests.pages.harness import fine, fine_part, prose_of, sent


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
    assert ("no feature has an arrow" in said) == (not kept)
    every = shared == learned.toy.features > learned.toy.dimensions
    assert ("at right angles" in said) == (kept > 0 and not shared)
    assert ("every feature has an arrow" in said) == every
    assert (f"{shared} of them overlap" in said) == (shared > 0 and not every)
    assert ("Neighbours stand" in said) == (learned.toy.dimensions == 2 and kept > 1)


@pytest.mark.parametrize("on", ["", "1", "2,4", "1,2,3,4,5"])
@pytest.mark.parametrize("density", ["1", "0.05"])
def test_any_features_may_be_on(on, density):
    page = fine_part(
        "discoveries", "superposition", toyon=on, toydensity=density, toyseed="2", show="1"
    )
    said = prose_of(page)
    learned = record.film(float(density), 2)
    x = np.array([str(one + 1) in on.split(",") for one in range(5)], float)
    read = learned.last.read(x)
    if on:
        assert f"{read[x > 0][0]:.2f}" in said
    assert ("All are off" in said) == (not on)
    assert ("None is off" in said) == (on == "1,2,3,4,5")
    assert ("takes a little off every sum" in said) == bool((learned.last.bias < 0).all())
    matrices = {one["name"]: one["values"] for one in sent(page, "matrix_view")["matrices"]}
    assert matrices["x′"] == pytest.approx(read[None], abs=1e-5)
    w = matrices["W"]
    assert matrices["Wᵀ·W"] == pytest.approx(w.T @ w, abs=1e-5)


@pytest.mark.parametrize("state", ["running", "done"])
@pytest.mark.parametrize("dimensions", [2, 3])
def test_a_toy_of_the_learners_is_shown_while_it_learns_and_after(monkeypatch, state, dimensions):
    toy = Toy(3, dimensions, 1.0, 1.0, 5)
    moments = list(learn(toy, steps=40))
    monkeypatch.setattr(chapter, "job_of", lambda _: FakeJob(moments, state))
    link = {"ownfeatures": "3", "owndims": str(dimensions), "owndensity": "1", "ownseed": "5"}
    page = fine_part("discoveries", "superposition", owntoy="1", show="1", **link)
    said = prose_of(page)
    assert report(Learned(toy, moments)).partition(", and that is")[0] in said
    assert f"of {dimensions} dimensions" in said
    assert ("the loss is" in said) == (state == "running")


def test_arrows_are_guessed_and_each_wrong_count_is_its_misconception(covers):
    asked = chapter.question()
    values = [count for (count,) in asked.values]
    assert values[:2] == [chapter.DIMENSIONS, 2 * chapter.DIMENSIONS]
    assert len(set(values)) == 3
    assert values[asked.right] == record.film(chapter.SPARSE).kept.sum()
    page = fine_part("discoveries", "superposition", toydensity="0.02")
    points = sent(page, "scatter_film")["points"][-1]
    assert points == pytest.approx(record.film(1.0).last.directions.T, abs=1e-5)
    rows = sent(page, "case_rows")["rows"]
    told = [row["value"] is not None for row in rows]
    assert told == [density == 1 for density in record.DENSITIES]


def test_what_the_looks_say_is_so_in_each_of_them():
    for seed in record.SEEDS:
        dense, half, sparse = (record.film(density, seed) for density in (1.0, 0.5, 0.05))
        assert (dense.kept.sum(), half.kept.sum(), sparse.kept.sum()) == (2, 4, 5)
        assert half.gaps == pytest.approx([90.0] * 4, abs=3), "two on each of two axes"
        assert sparse.gaps.min() > 60, "a star"


@pytest.mark.parametrize("counted", [scaling_fit.ALL, scaling_fit.BLOCKS])
@pytest.mark.parametrize(("smallest", "shortest"), [(0, 0), (2, 0), (5, 2), (7, 0), (0, 4), (6, 3)])
def test_a_law_is_read_out_or_its_runs_are_refused(counted, smallest, shortest):
    link = {"counted": counted, "smallest": str(smallest), "shortest": str(shortest)}
    page = fine_part("discoveries", "scaling", show="1", **link)
    said = prose_of(page)
    taken = scaling_fit.Taken(counted, smallest, shortest)
    if taken.name not in scaling_fit.recorded():
        assert not page.exception
        assert any("needs at least" in error.value for error in page.error)
        assert "The fit puts the floor at" not in said
        return
    fine(page)
    found, floor = scaling_fit.recorded()[taken.name], scaling_runs.recorded()[0]
    assert f"The fit puts the floor at {found.law.e:.3f}" in said
    assert ("too low" in said) == (found.high[0] < floor.entropy)
    assert ("four times the money" in said) == (counted == scaling_fit.ALL)
    law = laws.law_with_floor(taken, floor.entropy)
    assert law.e == pytest.approx(floor.entropy)
    assert law.left >= found.law.left * 0.999


def test_each_choice_of_runs_has_its_law_and_all_others_are_refused():
    every = [
        scaling_fit.Taken(counted, smallest, shortest)
        for counted in (scaling_fit.ALL, scaling_fit.BLOCKS)
        for smallest in range(len(scaling_runs.SIZES))
        for shortest in range(len(scaling_runs.AMOUNTS))
    ]
    for taken in every:
        if taken.name in scaling_fit.recorded():
            assert laws.fit_of(taken).law.left > 0
        else:
            with pytest.raises(ValueError, match="needs at least"):
                laws.fit_of(taken)


def test_the_eighth_model_is_held_against_a_law_of_the_others():
    losses = [run.loss for run in laws.longest()]
    assert losses == sorted(losses, reverse=True), "as the chapter says: each was better"
    steps = -np.diff(losses)
    assert steps[-1] < steps[-2], "a ruler along the last two points goes too deep"
    asked, told = scaling.next_question(), scaling.next_numbers()
    assert asked.values[asked.right] == (losses[-1],) and len(set(asked.answers)) == 3
    taken, largest = Taken(), laws.longest()[-1]
    others = [run for run in laws.runs()[1] if run.width != largest.width]
    n, d, measured = taken.numbers(others)
    law = laws.without_largest()
    assert np.abs(law.loss(n, d) / measured - 1).mean() < 0.1  # it fits what it was made from
    assert told["said"] == pytest.approx(float(law.loss(largest.parameters, largest.tokens)))
    assert told["floor"] < told["loss"] < losses[-2]


def test_equal_compute_reads_between_measured_amounts():
    for cost, points in scaling.equal_compute().items():
        assert len(points) >= 3
        for point in points:
            runs = next(
                every
                for every in map(laws.of_width, (size.width for size in scaling_runs.SIZES))
                if every[0].parameters == point.parameters
            )
            around = [one.loss for one in runs]
            assert runs[0].tokens <= cost / 6 / point.parameters <= runs[-1].tokens
            assert min(around) <= point.loss <= max(around)


@pytest.mark.parametrize("shown", ["0", "1"])
def test_a_run_of_the_learners_joins_the_chart(monkeypatch, shown, covers):
    run = replace(scaling_runs.recorded()[1][0], seed=5, loss=5.4321)
    going = scaling_runs.Going(96, 96, run.tokens, 5.6, run)
    monkeypatch.setattr(scaling, "job_of", lambda *_: FakeJob([replace(going, run=None), going]))
    link = {"ownwidth": str(run.width), "ownstories": str(run.stories), "scaleseed": "5"}
    page = fine_part("discoveries", "scaling", ownscale="1", show=shown, **link)
    said = prose_of(page)
    assert "Your run has a loss of 5.432 on" in said
    assert ("law of the settings above" in said) == (shown == "1")
