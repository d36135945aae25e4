"""The chapter on quantization: sentences at their edges, and what jobs are made of."""

from __future__ import annotations

import dataclasses
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from experiments.quantization import BITS
from llmviz.course.lessons.efficiency.quantization import chapter, model, row, training, words
from llmviz.course.lessons.efficiency.quantization.model import row_steps
from llmviz.course.ui.cached import Cached
from llmviz.course.ui.common import percent
from llmviz.evaluation.quantization_aware import KINDS, Checked
from llmviz.quantization.scheme import PER, Scheme
from tests.pages.finished_job import FakeJob
from tests.pages.harness import boxes, fine_part, prose_of, run_snippet, sent, snippets
from tests.pages.quantization_chapter import opened, schemes


@pytest.mark.parametrize("method", ["rounding", "awq"])
def test_both_models_write_and_every_matrix_has_its_bars(bundle, method):
    link = dict(qview="model", qtext="Mila found a ball.", qmethod=method)
    app = opened(qper="group", qgroup="8", qbits="2", **link)
    text = prose_of(app)
    compared = (words.same, *(line.split("{")[0] for line in words.different.values()))
    assert any(line in text for line in compared)
    ids = tuple(bundle.tokenizer.encode_from_start("Mila found a ball."))
    found = chapter.errors_of(bundle, Scheme(2, group=8), method, ids)
    assert len(found) == 8 and all(0 < one.outputs < 2 for one in found)


@settings(max_examples=30, deadline=None)
@given(some.sampled_from([2, 3, 4]), some.floats(0.02, 0.5))
def test_the_walk_is_told_as_its_numbers_go(bits, rate):
    found = training.walk_of(bits, rate)
    first, second = found[:2]
    assert first.at_rounded == first.at_weight == pytest.approx(first.rounded - training.TARGET)
    moved = first.weight - rate * first.at_weight
    assert second.weight == pytest.approx(moved, abs=1e-6)
    last = training.report(found, rate)["last"]
    assert last == f"{found[-1].rounded:.2f}".replace("-", "−")


@settings(max_examples=30, deadline=None)
@given(some.lists(some.integers(-3, 3), min_size=8, max_size=8), some.integers(2, 3))
def test_one_and_all_values_of_a_grid_have_words_of_their_own(weights, bits):
    import torch

    scheme = Scheme(bits, per="channel")
    found = row_steps(torch.tensor([weights], dtype=torch.float32), 0, scheme)
    line, used = row.line_read(found, row.Place("", 0, 0, 1, 8), scheme), len({*found.codes})
    assert ("a single value" in line) == (used == 1)
    assert (f"all {scheme.codes} values" in line) == (used == scheme.codes)


def known(*losses: float) -> model.Curves:
    """Curves whose ways have these losses at every number of bits."""
    points = {
        way.key: tuple(model.Point(bits, one, 10, 5) for bits in BITS)
        for way, one in zip(model.WAYS, losses, strict=True)
    }
    return model.Curves(10, 100, 1.2, 1.1, 40, 20, points)


def test_the_bundled_curves_hold_what_the_chart_promises():
    found = model.curves()
    assert found.floor < found.loss
    for way in model.WAYS:
        points = found.points[way.key]
        assert tuple(one.bits for one in points) == BITS
        assert [one.matrices for one in points] == sorted(
            (one.matrices for one in points), reverse=True
        )
        assert all(one.loss > found.floor for one in points)
        assert abs(points[0].loss - found.loss) < 0.005  # 8 bits
        fits = [way.scheme(one.bits) for one in points]
        assert len(set(fits)) == len(BITS)
    per = {per: found.points[f"symmetric-{per}-rounding"] for per in PER}
    four = {name: next(one.loss for one in points if one.bits == 4) for name, points in per.items()}
    assert four["group"] < four["channel"] < four["tensor"]


@settings(max_examples=60, deadline=None)
@given(some.lists(some.floats(1, 12), min_size=len(BITS), max_size=len(BITS)))
def test_the_question_about_the_curve_is_the_measured_one_and_its_answers_lie_apart(losses):
    points = tuple(model.Point(bits, loss, 10, 5) for bits, loss in zip(BITS, losses, strict=True))
    found = replace(known(*[1.5] * len(model.WAYS)), points={way.key: points for way in model.WAYS})
    asked = chapter.question(found, model.WAYS[0])
    if asked is not None:
        assert list(asked.values[asked.right]) == losses[chapter.KNOWN :]
        for line in asked.values[1:]:
            apart = np.abs(np.subtract(line, losses[chapter.KNOWN :])).max()
            assert apart >= chapter.APART


def test_the_bundled_curve_is_asked_about_and_its_end_does_not_travel(bundle, covers):
    asked = chapter.question(model.curves(), model.WAYS[2])
    assert asked is not None and asked.values[asked.right][0] < asked.values[asked.right][-1]
    app = fine_part("efficiency", "quantization")
    told = [line["y"] for line in sent(app, "draw_on")["lines"]]
    assert [len(line) for line in told] == [chapter.KNOWN]


@settings(max_examples=60, deadline=None)
@given(
    some.lists(some.tuples(some.floats(0, 2), some.floats(0, 2), some.floats(0, 99)), min_size=1)
)
def test_the_sentence_about_matrices_holds_for_ties_and_one_matrix(numbers):
    found = tuple(
        model.MatrixError(f"blocks.{i}.attn.qkv", (3, 4), *one, 0, 0)
        for i, one in enumerate(numbers)
    )
    line = chapter.report(found)
    assert "{" not in line and percent(max(one.outputs for one in found)) in line


@settings(max_examples=50, deadline=None)
@given(some.text("ab ", max_size=6), some.text("ab ", max_size=6))
def test_two_texts_are_compared_letter_by_letter(one, other):
    line = chapter.compared(one, other)
    assert (line == words.same) == (one == other)
    if one != other:
        same = max(i for i in range(7) if one[:i] == other[:i] and i <= min(len(one), len(other)))
        expected = {0: words.different["none"], 1: words.different["one"]}
        assert line == expected.get(same, f"The first {same} characters are the same.")


@settings(max_examples=40, deadline=None)
@given(some.floats(1, 3), some.floats(1, 3), some.floats(1, 3), some.floats(1, 3))
def test_what_training_on_the_grid_did_is_said_either_way(a, b, c, d):
    first = {0: Checked(0, 0, a, 0.0), 2: Checked(2, 0, b, 0.0)}
    last = {0: Checked(0, 9, c, 1.0), 2: Checked(2, 9, d, 1.0)}
    line = training.race_line(first, last, 2)
    assert ("did not lower" in line) == (round(d - c, 3) >= round(b - a, 3))
    assert " -" not in line


def test_a_race_that_has_ended_is_drawn_and_told(bundle, monkeypatch):
    steps = [Checked(bits, step, 2.0 - step / 100, 0.1) for step in (0, 50) for bits in KINDS]
    monkeypatch.setattr(training, "race_of", lambda *given: FakeJob(steps))
    monkeypatch.setattr(training.engine, "names", lambda: ["tiny-world-gpt", "names-gpt"])
    monkeypatch.setattr(training.engine, "load", lambda name: bundle)
    app = opened(qview="training", qattrained="1", qatupdates="50")
    assert "did not lower the difference" in prose_of(app)


@pytest.mark.parametrize("view", ["row", "training"])
def test_what_each_view_says_that_its_code_prints_it_prints(view):
    app = opened(qview=view, qper="group", qbits="3", qform="asymmetric")
    found = snippets(app)
    assert found
    for snippet, prints in found:
        assert run_snippet(snippet).strip() == prints.strip()


@pytest.mark.parametrize("view", words.views)
def test_a_view_is_computed_once_and_is_not_too_long(bundle, view, monkeypatch):
    from llmviz.course.ui.code import OPENED
    from tests.pages.test_reruns import MOST_ELEMENTS, elements

    app = opened(qview=view, qgroup="8")
    filled = []
    fill = Cached._fill
    monkeypatch.setattr(
        Cached, "_fill", lambda self, *given: filled.append(self) or fill(self, *given)
    )
    app.session_state[OPENED] = False
    app.run()
    assert filled == []
    assert elements(app.main) <= MOST_ELEMENTS


def number(text: str) -> float:
    return float(text.replace("−", "-"))


@pytest.mark.parametrize("form", words.forms)
def test_each_cell_follows_from_the_cells_above_it(bundle, form):
    app = opened(qform=form, qbits="3", qper="group", qgroup="8", qtimes="4")
    grid = sent(app, "cell_grid")
    written = dict(zip(grid["rowNames"], grid["texts"], strict=True))
    named = {
        name: [number(text) for text in written.get(words.steps[name], ())] for name in words.steps
    }
    assert ("shifted" in named) and bool(named["shifted"]) == (form == "asymmetric")
    codes = range(8) if form == "asymmetric" else range(-3, 4)
    for column, code in enumerate(named["codes"]):
        w, s = named["weights"][column], named["scale"][column]
        assert named["divided"][column] == pytest.approx(w / s, abs=0.02 + 1e-3 * abs(w / s))
        assert code in codes
        zero = 0
        if form == "asymmetric":
            zero = named["shifted"][column] - named["rounded"][column]
        assert named["restored"][column] == pytest.approx((code - zero) * s, abs=3e-4)
        assert abs(named["error"][column]) <= s / 2 + 2e-4
    # The line of a cell says what stands in it.
    notes = dict(zip(grid["rowNames"], grid["notes"], strict=True))
    for name, line in notes.items():
        for text, note in zip(written[name], line, strict=True):
            if name == words.steps["scale"]:  # one digit more, enough to divide by
                assert number(note.split(": ")[1]) == pytest.approx(number(text), abs=1e-5)
            else:
                assert text in note


steps_of_rows = some.builds(
    lambda seed, size, shape: shape(random_row(seed) * size),
    some.integers(0, 2**31),
    some.sampled_from([1e-5, 0.003, 0.1, 20.0]),
    some.sampled_from([np.array, np.abs, np.zeros_like, lambda w: w * 0 + w[0], np.round]),
)


def random_row(seed):
    return np.random.default_rng(seed).standard_normal(16)


@settings(max_examples=80, deadline=None)
@given(steps_of_rows, schemes, some.booleans())
def test_the_arithmetic_of_a_cell_is_true_as_it_is_written(weights, scheme, half):
    import torch

    if half:  # in symmetric codes of 2 bits, half the largest weight is half a step
        weights[1] = weights[0] / 2
    scheme = dataclasses.replace(scheme, group=8)
    found = row_steps(torch.tensor(weights[None], dtype=torch.float32), 0, scheme)
    here = row.Place("blocks.0.attn.qkv", 0, 3, 1, 16)
    notes = row.notes_of(found, here, scheme, range(16), 5)
    assert ("shifted" in notes) != scheme.symmetric
    for column in range(16):
        line = {name: notes[name][column] for name in notes}
        assert all("{" not in one and "-" not in one for one in line.values())
        assert not any(re.search(r"−0(\.0*)?(?![\d.])", one) for one in line.values())
        assert ("multiplied by 5" in line["weights"]) == (column == 3)
        w, s, divided = (number(one) for one in re.split(" [÷=] ", line["divided"])[2:])
        assert divided == pytest.approx(w / s, abs=0.03)
        nearest, whole = re.findall(r"−?[\d.]+", line["rounded"])[:2]
        assert abs(number(nearest) - number(whole)) <= 0.5
        assert (abs(number(nearest)) % 1 == 0.5) == ("halfway" in line["rounded"])
        *_, error, half_step = re.findall(r"−?[\d.]+", line["error"])
        assert abs(number(error)) <= number(half_step) * 1.02


def test_the_enlarged_weight_is_the_largest_and_its_neighbours_pay(bundle):
    app = opened(qper="channel", qtimes="30", qgroup="8")
    grid = sent(app, "cell_grid")
    (column,) = np.flatnonzero(np.reshape(grid["strong"], grid["values"].shape)[0])
    weights = [abs(number(text)) for text in grid["texts"][0]]
    assert column == int(np.argmax(weights))


def test_a_group_that_is_larger_than_a_row_is_refused_in_one_line(bundle):
    app = opened(qper="group", qgroup="32")
    assert "group must be at most 24, the weights of a row; got 32" in boxes(app)
