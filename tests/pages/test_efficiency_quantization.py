"""The chapter on quantization: sentences at their edges, and what jobs are made of."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from experiments.quantization import BITS
from llmviz.course.lessons.efficiency.quantization import (
    layers,
    loss,
    setting,
    speed,
    staircase,
    texts,
    training,
    words,
)
from llmviz.course.lessons.efficiency.quantization.quantization_curves import (
    WAYS,
    Curves,
    Point,
    curves,
)
from llmviz.course.lessons.efficiency.quantization.quantization_errors import MatrixError
from llmviz.course.lessons.efficiency.quantization.quantized_loss import LossSoFar
from llmviz.course.ui.kept import Kept
from llmviz.quantization.quantization_aware import KINDS, Checked
from llmviz.quantization.quantized_speed import KINDS as SPEED_KINDS
from llmviz.quantization.quantized_speed import Speed
from llmviz.quantization.scheme import PER, Scheme
from tests.pages.finished_job import FakeJob
from tests.pages.harness import (
    ODD_TEXTS,
    fine,
    open_part,
    prose_of,
    run_snippet,
    snippets,
)
from tests.pages.quantization_chapter import opened, schemes


@pytest.mark.parametrize("method", ["rounding", "awq"])
def test_both_models_write_and_every_matrix_has_its_bars(bundle, method):
    link = dict(qview="model", qtext="Mila found a ball.", qmethod=method)
    app = opened(qper="group", qgroup="8", qbits="2", **link)
    fine(app)
    text = prose_of(app)
    compared = (words.same, *(line.split("{")[0] for line in words.different.values()))
    assert any(line in text for line in compared)
    ids = tuple(bundle.tokenizer.encode_from_start("Mila found a ball."))
    found = layers.errors_of(bundle, Scheme(2, group=8), method, ids)
    assert len(found) == 8 and all(0 < one.outputs < 2 for one in found)


@settings(max_examples=40, deadline=None)
@given(schemes)
def test_the_question_about_values_has_one_right_answer(scheme):
    question = setting.question(scheme)
    assert int(question.answers[question.right]) == scheme.codes
    assert str(2**scheme.bits) in question.reasons[question.right]


def test_the_question_about_size_is_the_division_of_two_sizes(bundle):
    for bits in (2, 4, 8):
        for per in ("tensor", "channel"):
            question = loss.size_question(Scheme(bits, per=per))
            reason = question.reasons[question.right]
            before, after = re.findall(r"([\d,]+) ÷ ([\d,]+)", reason)[0]
            times = int(before.replace(",", "")) / int(after.replace(",", ""))
            assert question.answers[question.right] == f"{times:.2f} times"
            assert 1 < times < 16 / bits


@pytest.mark.parametrize("bits", [2, 3, 4])
def test_the_question_about_the_gradient_is_what_the_engine_gives(bits):
    import torch

    from llmviz.course.lessons.efficiency.quantization.straight_through import (
        BEYOND,
        picture_scheme,
    )
    from llmviz.quantization.qat import fake_quantize

    question = staircase.question(bits)
    weight = staircase.ASKED[bits]
    assert abs(weight) < BEYOND
    w = torch.tensor([[BEYOND, -BEYOND, weight]], requires_grad=True)
    fake_quantize(w, picture_scheme(bits)).backward(torch.full_like(w, staircase.GRADIENT))
    assert question.answers[question.right] == f"{w.grad[0, -1].item():.2g}"


@settings(max_examples=30, deadline=None)
@given(some.sampled_from([2, 3, 4]), some.floats(0.02, 0.5))
def test_the_walk_is_told_as_its_numbers_go(bits, rate):
    found = staircase.walk_of(bits, rate)
    first, second = found[:2]
    assert first.at_rounded == first.at_weight == pytest.approx(first.rounded - staircase.TARGET)
    assert first.slope == 0
    moved = first.weight - rate * first.at_weight
    assert second.weight == pytest.approx(moved, abs=1e-6)
    line = staircase.report(found, rate)
    assert "{" not in line and f"{found[-1].rounded:.2f}".replace("-", "−") in line


def known(*losses: float) -> Curves:
    """Curves whose ways have these losses at every number of bits."""
    points = {
        way.key: tuple(Point(bits, one, 10, 5) for bits in BITS)
        for way, one in zip(WAYS, losses, strict=True)
    }
    return Curves(10, 100, 1.2, 1.1, 40, 20, points)


@settings(max_examples=60, deadline=None)
@given(some.lists(some.floats(1, 12), min_size=len(WAYS), max_size=len(WAYS)))
def test_the_sentence_about_the_ways_names_the_lowest_and_the_highest(losses):
    found = known(*losses)
    line = loss.report(found, 4, "symmetric")
    assert f"is {min(losses):.4f} nats" in line and f"highest is {max(losses):.4f}" in line
    plain = round(losses[[way.key for way in WAYS].index("symmetric-group-rounding")], 4)
    scaled = round(losses[[way.key for way in WAYS].index("symmetric-group-awq")], 4)
    assert ("lowers the loss" in line) == (scaled < plain)
    assert ("does not help" in line) == (scaled > plain)


def test_the_bundled_curves_hold_what_the_chart_promises():
    found = curves()
    assert found.floor < found.loss
    for way in WAYS:
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
@given(
    some.lists(some.tuples(some.floats(0, 2), some.floats(0, 2), some.floats(0, 99)), min_size=1)
)
def test_the_sentence_about_matrices_holds_for_ties_and_one_matrix(numbers):
    found = tuple(
        MatrixError(f"blocks.{i}.attn.qkv", (3, 4), *one, 0, 0) for i, one in enumerate(numbers)
    )
    line = layers.report(found, layers.largest_of(found))
    assert "{" not in line and f"{max(one.largest for one in found):.1f} times" in line


@settings(max_examples=50, deadline=None)
@given(some.text("ab ", max_size=6), some.text("ab ", max_size=6))
def test_two_texts_are_compared_letter_by_letter(one, other):
    line = texts.compared(one, other)
    assert (line == words.same) == (one == other)
    if one != other:
        same = max(i for i in range(7) if one[:i] == other[:i] and i <= min(len(one), len(other)))
        expected = {0: words.different["none"], 1: words.different["one"]}
        assert line == expected.get(same, f"The first {same} characters are the same.")


def test_a_measurement_is_told(bundle, monkeypatch):
    job = FakeJob([LossSoFar(4, 500, 1.25, 1.5, 1.125, 1_000_000, 600_000)])
    monkeypatch.setattr(loss, "measured", lambda *given: job)
    app = opened(qview="model", qmeasured="1")
    fine(app)
    text = prose_of(app)
    assert "<strong>1.5000 nats per token</strong>" in text and "1.2500 with nothing" in text


@settings(max_examples=40, deadline=None)
@given(some.floats(1, 3), some.floats(1, 3), some.floats(1, 3), some.floats(1, 3))
def test_what_training_on_the_grid_did_is_said_either_way(a, b, c, d):
    first = {0: Checked(0, 0, a, 0.0), 2: Checked(2, 0, b, 0.0)}
    last = {0: Checked(0, 9, c, 1.0), 2: Checked(2, 9, d, 1.0)}
    line = training.report(first, last, 2)
    assert ("did not lower" in line) == (round(d - c, 3) >= round(b - a, 3))
    assert " -" not in line and "−0.000" not in line


def test_a_race_that_has_ended_is_drawn_and_told(bundle, monkeypatch):
    steps = [Checked(bits, step, 2.0 - step / 100, 0.1) for step in (0, 50) for bits in KINDS]
    monkeypatch.setattr(training, "race_of", lambda *given: FakeJob(steps))
    monkeypatch.setattr(training.engine, "names", lambda: ["tiny-world-gpt", "names-gpt"])
    monkeypatch.setattr(training.engine, "load", lambda name: bundle)
    app = opened(qview="training", qattrained="1", qatupdates="50")
    fine(app)
    assert "These updates did not lower the difference" in prose_of(app)
    names = {"4 bits", "3 bits", "2 bits", "not rounded"}
    assert any(names <= set(one.value.iloc[:, 0]) for one in app.dataframe)


def test_speeds_are_told_with_and_without_a_kernel():
    found = tuple(Speed(kind, 256, 1e-3 / (1 + i)) for i, kind in enumerate(SPEED_KINDS))
    assert "int8 0.500 ms (2.00 times as fast)" in speed.report(found)
    assert "int4 has no kernel" in speed.report((*found[:2], Speed("int4", 256, None)))


@pytest.mark.parametrize("view", words.views)
def test_what_each_view_says_that_its_code_prints_it_prints(view):
    app = opened(qview=view, qper="group", qbits="3", qform="asymmetric")
    fine(app)
    found = snippets(app)
    assert found
    for snippet, prints in found:
        assert run_snippet(snippet).strip() == prints.strip()


@pytest.mark.parametrize("text", ODD_TEXTS)
def test_odd_texts_are_read_or_refused_in_one_line(bundle, text):
    fine(opened(qview="model", qgroup="8", qtext=ODD_TEXTS[text]))


@pytest.mark.parametrize("view", words.views)
def test_a_view_is_computed_once_and_is_not_too_long(bundle, view, monkeypatch):
    from llmviz.course.ui.code import OPENED
    from tests.pages.test_reruns import MOST_ELEMENTS, elements

    app = opened(qview=view, qgroup="8")
    fine(app)
    filled = []
    fill = Kept._fill
    monkeypatch.setattr(
        Kept, "_fill", lambda self, *given: filled.append(self) or fill(self, *given)
    )
    app.session_state[OPENED] = False
    app.run()
    assert filled == []
    assert elements(app.main) <= MOST_ELEMENTS


@pytest.mark.parametrize("view", ["row", "model", "training"])
def test_each_view_ends_with_numbers_of_its_own(view):
    app = open_part("efficiency", "quantization", qview=view, qbits="2", stairbits="2")
    fine(app)
    told = prose_of(app)
    assert "2 bits" in told[told.index("What it costs in loss") - 700 :]
