"""The chapter on one step: every cell is its arithmetic, every question has one right answer."""

from __future__ import annotations

import inspect
import re

import numpy as np
import pytest
import torch

from llmviz.course.components.matrix_view.view import matrix_payload
from llmviz.course.lessons.training.step import chapter as step_chapter
from llmviz.course.lessons.training.step import pictures, questions, words
from llmviz.course.lessons.training.step.one_step import STEPS, Asked, one_step, update
from llmviz.course.lessons.training.step.step_calls import calls
from tests.pages import harness
from tests.pages.cells import work_out
from tests.pages.test_training_questions import numbers

pytestmark = pytest.mark.usefixtures("ready")

TEXT = "The cat sat on the mat. The kitten slept."


def asked_variants():
    for optimizer in ("sgd", "adamw"):
        for step, clip in ((1, 0.5), (1, 0.0), (7, 5.0), (STEPS, 0.2)):
            yield Asked(TEXT, 2, 3, step, optimizer, clip)
    yield Asked("ab", 3, 4)
    yield Asked(TEXT, 1, 2)


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
        matrix_payload(
            picture.matrices, None, picture.steps, numbers=True, windows=windows if used else None
        )


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
    assert "divides the others by 1 − p" in " ".join(words.modes_section.text.split())


def test_the_table_of_calls_has_each_call_of_the_function_above_it():
    source = inspect.getsource(update)
    told = [one for one, _ in words.calls.values()]
    for call in ("loss.backward", "clip_grad_norm_", "optimizer.step", "optimizer.zero_grad"):
        assert f"{call}(" in source and any(one.startswith(f"{call}(") for one in told)
    assert list(words.calls) == [one.name for one in calls(Asked(TEXT))]


def test_the_page_says_the_steps_numbers_and_its_snippet_prints_them():
    app = harness.open_part("training", "step", text=TEXT, batch_step="2", batch_opt="adamw")
    harness.fine(app)
    step = one_step(Asked(TEXT, step=2, optimizer="adamw"))
    text = harness.prose_of(app)
    for number in (f"{step.loss:.4f}", f"{step.loss_after:.4f}", f"{step.untrained_loss:.3f}"):
        assert number in text
    ((snippet, prints),) = harness.snippets(app)
    assert harness.run_snippet(snippet).strip() == prints.strip()
    assert any("optimizer.zero_grad()" in block.value for block in app.code)


def test_saving_and_going_on_is_shown_once_it_is_asked_for():
    app = harness.open_part("training", "step", text=TEXT)
    assert words.resume_equal not in harness.prose_of(app)
    next(one for one in app.button if one.label == words.resume_button).click().run()
    harness.fine(app)
    assert words.resume_equal in harness.prose_of(
        app
    ) and "optimizer.safetensors" in harness.prose_of(app)
    assert app.query_params["batch_resume"] in ("1", ["1"])


@pytest.mark.parametrize("name", list(harness.ODD_TEXTS))
def test_odd_texts_are_shown_or_refused(name):
    app = harness.open_part("training", "step", text=harness.ODD_TEXTS[name])
    harness.fine(app)
    if len(harness.ODD_TEXTS[name]) < 2:
        assert harness.boxes(app)


def test_a_token_that_this_text_does_not_have_gives_way():
    app = harness.open_part("training", "step", text="ab", batch_token="999")
    harness.fine(app)
    assert app.session_state["training.batch_token"] == -1


@pytest.mark.parametrize("clip", [0.0, 0.1, 0.5, 1.0, 5.0])
@pytest.mark.parametrize("norm", [0.0, 0.0004, 0.009, 0.01, 0.5, 0.51, 0.9, 1.0, 2.0, 100.0])
def test_clipping_is_asked_only_where_one_answer_is_right(norm, clip):
    question = questions.clipping(norm, clip)
    if question is None:
        assert not clip or norm < 0.01 or abs(norm - clip) <= 0.05 * max(norm, clip)
        return
    assert f"{norm:.3f}" in question.text and float(f"{norm:.3f}") > 0
    factor = min(1.0, clip / norm)
    values = [clip / norm, 1.0, norm / clip]
    right = [abs(value - factor) < 0.01 * value for value in values]
    assert right.index(True) == question.right and sum(right) == 1
    assert len(set(question.answers)) == 3
    assert ("shorter" in question.reasons[0]) == (norm < clip)
    assert ("shortened" in question.reasons[1]) == (norm > clip)


@pytest.mark.parametrize("norm", [0.0, 0.001, 0.01, 1.5, 300.0])
def test_a_second_backward_is_twice_the_gradient(norm):
    question = questions.twice(norm)
    if question is None:
        assert norm < 0.01
        return
    said = [numbers(answer)[0] for answer in question.answers]
    right = [abs(one - 2 * norm) < 1e-3 for one in said]
    assert right.index(True) == question.right and sum(right) == 1


@pytest.mark.parametrize("before, after, rate", [(2, 1, 1), (1, 2, 1), (1, 1, 1), (1, 1, 0)])
def test_what_is_said_of_the_loss_is_what_became_of_it(before, after, rate):
    class Step:
        loss, loss_after = before, after

    Step.rate = rate
    text = step_chapter.loss_after(Step)
    assert ("lower." in text) == (after < before)
    assert ("higher." in text) == (after > before)
    assert ("no weight changed" in text) == (rate == 0)
