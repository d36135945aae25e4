"""The chapter on one step: every cell is its arithmetic, every question has one right answer."""

from __future__ import annotations

import dataclasses
import inspect
import re

import numpy as np
import pytest
import torch

from llmviz.course.components.matrix_view.view import matrix_payload
from llmviz.course.lessons.training.step import chapter as step_chapter
from llmviz.course.lessons.training.step import pictures, words
from llmviz.course.lessons.training.step.one_step import STEPS, StepChoice, one_step, update
from llmviz.course.lessons.training.step.step_calls import calls
from tests.pages import harness
from tests.pages.cells import work_out

pytestmark = pytest.mark.usefixtures("ready")

TEXT = "The cat sat on the mat. The kitten slept."


def asked_variants():
    for optimizer in ("sgd", "adamw"):
        for step, clip in ((1, 0.5), (1, 0.0), (7, 5.0), (STEPS, 0.2)):
            yield StepChoice(TEXT, 2, 3, step, optimizer, clip)
    yield StepChoice("ab", 3, 4)
    yield StepChoice(TEXT, 1, 2)


@pytest.mark.parametrize("asked", list(asked_variants()), ids=str)
def test_every_cell_is_what_its_arithmetic_gives(asked):
    step = one_step(asked)
    names = [pictures.step_name(step, token) for token in range(len(step.names))]
    token = int(np.abs(step.gradient).max(axis=1).argmax())
    for picture in (pictures.forward(step, names), pictures.update(step, asked, token)):
        cells = {one.name: np.asarray(one.values, dtype=np.float64) for one in picture.matrices}
        opened = 0
        for matrix in picture.matrices:
            if matrix.op is not None:
                opened += 1
                gives = work_out(matrix.op, cells)
                assert np.allclose(cells[matrix.name], gives, rtol=2e-4, atol=2e-7), matrix.name
        assert opened > 5
        assert {name for shown, _ in picture.steps for name in shown} == set(cells)
        windows = pictures.windows_of(step)
        used = {name for one in picture.matrices for name in one.windows if name}
        more = {"numbers": True, "windows": windows if used else None}
        matrix_payload(picture.matrices, None, picture.steps, **more)


@pytest.mark.parametrize("asked", list(asked_variants()), ids=str)
def test_the_numbers_of_one_weight_fit_to_the_last_digit_but_one(asked):
    step = one_step(asked)
    for token, column in np.ndindex(step.gradient.shape):
        told = step_chapter.one_weight(step, asked, token, column, "a").replace("−", "-")
        assert (" after clipping" in told) == (step.factor < 1)
        sum_, after = re.search(r"weight: (.*) = (-?[\d.]+)\.$", told).groups()
        terms = re.fullmatch(
            r"(\S+) ([-+]) (\S+) ([×+]) (\S+)", sum_.replace("(", "").replace(")", "")
        )
        a, sign, b, then, c = terms.groups()
        if asked.optimizer == "sgd":
            assert (sign, then) == ("-", "×")
            new = float(a) - float(b) * float(c)
        else:
            assert (sign, then) == ("+", "+")
            new = float(a) + float(b) + float(c)
        assert new == pytest.approx(float(after), abs=2.1e-6)
        assert float(after) == pytest.approx(step.after[token, column], abs=5.1e-7)


def test_dropout_divides_what_it_keeps_as_is_said():
    ones = torch.nn.functional.dropout(torch.ones(1000), 0.2, training=True)
    assert set(ones.tolist()) == {0.0, 1 / (1 - 0.2)}
    assert "divides the others by 1 − p" in " ".join(words.how_dropout.split())


def test_the_table_of_calls_has_each_call_of_the_function_above_it():
    source = inspect.getsource(update)
    told = list(words.calls.values())
    for call in ("loss.backward", "clip_grad_norm_", "optimizer.step", "optimizer.zero_grad"):
        assert f"{call}(" in source and any(one.startswith(f"{call}(") for one in told)
    assert list(words.calls) == [one.name for one in calls(StepChoice(TEXT))]


def test_the_page_says_the_steps_numbers_and_shows_saving_once_it_is_asked_for():
    app = harness.open_part("training", "step", text=TEXT, batch_step="2", batch_opt="adamw")
    harness.fine(app)
    step = one_step(StepChoice(TEXT, step=2, optimizer="adamw"))
    text = harness.prose_of(app)
    for number in (f"{step.loss:.4f}", f"{step.loss_after:.4f}", f"{step.untrained_loss:.3f}"):
        assert number in text
    ((snippet, prints),) = harness.snippets(app)
    assert harness.run_snippet(snippet).strip() == prints.strip()
    assert any("optimizer.zero_grad()" in block.value for block in app.code)
    assert words.resume_equal not in text
    next(one for one in app.button if one.label == words.resume_button).click().run()
    harness.fine(app)
    said = harness.prose_of(app)
    assert words.resume_equal in said and "optimizer.safetensors" in said
    assert app.query_params["batch_resume"] in ("1", ["1"])


def test_a_token_that_this_text_does_not_have_gives_way():
    app = harness.open_part("training", "step", text="ab", batch_token="999")
    harness.fine(app)
    assert app.session_state["training.batch_token"] == -1


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("asked", list(asked_variants()), ids=str)
def test_where_a_step_puts_a_weight_is_asked_with_answers_that_are_apart(asked, seed):
    asked = dataclasses.replace(asked, seed=seed)
    step = one_step(asked)
    names = [pictures.step_name(step, token) for token in range(len(step.names))]
    token, column = at = step_chapter.steepest(step)
    assert abs(step.gradient[token, column]) == np.abs(step.gradient).max()
    question = step_chapter.question(step, asked, names)
    move = step.after[at] - step.head[at]
    if question is None:
        against = move * step.gradient[at] < 0
        size = abs(step.gradient[at] * step.factor)
        ways = sorted([0, 2 * abs(move), abs(move) + size])
        assert not against or min(np.diff(ways)) < 0.1 * max(size, abs(move))
        return
    before = float(step.head[at])
    values = [value - before for (value,) in question.values]
    right = values.pop(question.right)
    along, whole = values
    assert right == pytest.approx(move) and right * step.gradient[at] < 0
    assert along == pytest.approx(-right)
    assert whole == pytest.approx(-float(step.gradient[at]) * min(1.0, step.factor), rel=1e-3)
    assert len({question.write(value) for (value,) in question.values}) == 3
    assert ("above rises" in question.text) == (step.gradient[at] > 0)


def test_before_a_guess_the_new_weight_and_the_second_loss_are_not_told(covers):
    app = harness.open_part("training", "step", text=TEXT)
    harness.fine(app)
    step = one_step(StepChoice(TEXT))
    assert f"{step.loss:.3f}" in harness.prose_of(app)
    assert f"{step.loss_after:.4f}" not in harness.prose_of(app)
    (line,) = (
        one
        for one in harness.unpack_all(app, "case_rows")
        if one["mark"] == "dot" and one["rows"][1]["role"] == "query"
    )
    assert line["rows"][1]["value"] is None


@pytest.mark.parametrize("before, after, rate", [(2, 1, 1), (1, 2, 1), (1, 1, 1), (1, 1, 0)])
def test_what_is_said_of_the_loss_is_what_became_of_it(before, after, rate):
    class Step:
        loss, loss_after = before, after

    Step.rate = rate
    text = step_chapter.loss_after(Step)
    assert ("lower." in text) == (after < before)
    assert ("higher." in text) == (after > before)
    assert ("no weight changed" in text) == (rate == 0)
