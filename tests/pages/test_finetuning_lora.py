"""The chapter on LoRA: cells that are the adapter's own, ranks, counts, a race and its end."""

from __future__ import annotations

import base64

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from llmviz.course.lessons.finetuning.lora import chapter, words
from llmviz.course.lessons.finetuning.lora.lora_race import RaceEnd, RaceStep
from llmviz.course.lessons.finetuning.lora.whole_change import recorded
from llmviz.course.ui import guess_given
from llmviz.course.ui.common import percent
from llmviz.course.ui.question import APART
from llmviz.files.paths import CHECKPOINTS, TUNED
from llmviz.finetuning.adapters import PREFIX, A, B
from llmviz.training.tensors import load_tensors
from tests.pages.finished_job import FakeJob
from tests.pages.harness import boxes, charts, fine, fine_part, press, prose_of, unpack_all

PATH = "blocks.2.mlp.output"


@pytest.fixture(scope="module")
def stored():
    """A and B of the chosen matrix as the file has them, and W as the base's file has it."""
    adapter = load_tensors(TUNED / "few-shot" / "adapter_model.safetensors")
    base = load_tensors(CHECKPOINTS / "tiny-world-gpt" / "model.safetensors")
    pair = (adapter[f"{PREFIX}{PATH}{end}"].float().numpy() for end in (A, B))
    return *pair, base[f"{PATH}.weight"].float().numpy()


@pytest.fixture(scope="module")
def opened():
    return fine_part(
        "finetuning", "lora", adapter="few-shot", adapterlayer="2", matrix="mlp.output"
    )


def test_the_cells_are_those_of_the_files(opened, stored):
    a, b, w = stored
    (linked,) = unpack_all(opened, "matrix_view")
    shown = {each["name"]: each for each in linked["matrices"]}
    row, column = int(shown["W"]["rowLabels"][0]), int(shown["W"]["colLabels"][0])
    rows, columns = slice(row, row + chapter.SIZE), slice(column, column + chapter.SIZE)
    np.testing.assert_allclose(shown["W"]["values"], w[rows, columns], atol=1e-6)
    np.testing.assert_array_equal(shown["A"]["values"], a[:, columns])
    np.testing.assert_array_equal(shown["B"]["values"], b[rows])
    change = 2.0 * b.astype(float) @ a  # α = 16, r = 8
    np.testing.assert_allclose(shown["added"]["values"], change[rows, columns], atol=1e-5)
    np.testing.assert_allclose(shown["sum"]["values"], (w + change)[rows, columns], atol=1e-5)
    assert np.abs(change).max() == pytest.approx(np.abs(shown["added"]["values"]).max(), abs=1e-5)
    share = np.linalg.norm(change) / np.linalg.norm(w)
    assert f"{100 * share:.3g}"[:3] in prose_of(opened)


def cells(sent: dict) -> np.ndarray:
    """The bytes of a picture as it was sent."""
    assert sent["dtype"] == "i1"
    values = np.frombuffer(base64.b64decode(sent["bdata"]), np.int8)
    return values.reshape([int(side) for side in sent["shape"].split(",")])


def test_the_field_is_the_nearest_matrix_of_the_rank_and_the_caption_says_what_it_holds(stored):
    app = fine_part(
        "finetuning",
        "lora",
        adapter="few-shot",
        adapterlayer="2",
        matrix="mlp.output",
        keptrank="2",
    )
    a, b, _ = stored
    u, s, v = np.linalg.svd(2.0 * b.astype(float) @ a, full_matrices=False)
    held = np.square(s).cumsum() / np.square(s).sum()
    left, top, field = (cells(trace["z"]) for trace in charts(app)[0]["data"])
    assert left.shape == (192, 2) and top.shape == (2, 768) and field.shape == (192, 768)
    nearest = (u[:, :2] * s[:2]) @ v[:2]
    limit = 3 * np.sqrt(np.mean(nearest**2))
    np.testing.assert_allclose(field / 127, np.clip(nearest / limit, -1, 1), atol=0.005)
    assert f"With 2 of its patterns, {percent(held[1])}" in prose_of(app)
    whole, adapter = charts(app)[1]["data"]
    np.testing.assert_allclose(adapter["y"][:8], s[:8] / s[0], rtol=1e-4)
    values = recorded().values["blocks.2.mlp.output"]
    np.testing.assert_allclose(whole["y"], values / values[0], rtol=1e-4)


def test_before_the_answer_no_patterns_say_what_they_are_worth(monkeypatch):
    monkeypatch.setattr(guess_given, "COVERS", True)
    app = fine_part("finetuning", "lora")
    rows = unpack_all(app, "case_rows")[0]["rows"]
    told = recorded()
    assert [row["value"] for row in rows] == [told.all, None, None, None, None]
    press(app, "Show me without an answer")
    rows = unpack_all(app, "case_rows")[0]["rows"]
    right = [told.all, *(told.right[rank] for rank in (8, 4, 2, 1))]
    assert [row["value"] for row in rows[:-1]] == pytest.approx(right)


def test_a_link_restores_cell_and_step():
    app = fine_part("finetuning", "lora", lorastep="2", loracell="BA.3.4")
    (linked,) = unpack_all(app, "matrix_view")
    assert linked["step"] == 2 and linked["pinned"] == ["BA", 3, 4]
    fine_part("finetuning", "lora", loracell="BA.99.99", keptrank="16", adapter="few-shot")


@given(some.floats(0, 1))
def test_what_few_patterns_are_worth_is_asked_where_they_are_worth_much(right):
    asked = chapter.question(right)
    if asked is None:
        assert right < 0.5 + APART
        return
    assert asked.values[asked.right] == (right,) and len(asked.answers) == 3
    assert asked.values[0][0] == pytest.approx(98_304 / 1_769_472)  # of the numbers


def singular(matrix) -> np.ndarray:
    return np.linalg.svd(matrix, compute_uv=False)


def full_change():
    """A change of the size of the chosen matrix."""
    return np.random.default_rng(0).normal(size=(192, 768)).astype(np.float32)


def fake_race(updates: int = 10) -> FakeJob:
    """A race that is over, with changes of the sizes of the real matrices."""
    base = load_tensors(CHECKPOINTS / "tiny-world-gpt" / "model.safetensors")
    shape = base[f"{PATH}.weight"].shape
    generator, full = np.random.default_rng(1), full_change()
    thin = generator.normal(size=(shape[0], 2)) @ generator.normal(size=(2, shape[1]))
    changes = {"all": full, "lora": thin.astype(np.float32)}
    steps = [
        RaceStep(way, step, 0.7 / step, 0.6 / step if step % 5 == 0 else None, 0.1 * step)
        for step in range(1, updates + 1)
        for way in ("lora", "all")
    ]
    ends = [
        RaceEnd("lora", 0.9, 100, 100_000, 3.0, {PATH: singular(changes["lora"])}),
        RaceEnd("all", 0.8, 100, 2_000_000, 4.0, {PATH: singular(changes["all"])}),
    ]
    return FakeJob([*steps, *ends])


def test_a_race_that_has_ended_is_told_and_its_changes_are_drawn(monkeypatch):
    job = fake_race()
    monkeypatch.setattr(chapter, "race_of", lambda *given: job)
    link = dict(adapterlayer="2", matrix="mlp.output", updates="10", rank="2", race="1")
    app = fine_part("finetuning", "lora", **link)
    text = prose_of(app)
    ends = unpack_all(app, "case_rows")[2]["rows"]
    assert [row["value"] for row in ends] == [0.9, 0.8]
    assert "0.75 times as long" in text and "5.00\u00a0% of the numbers" in text
    _, curves, spectrum = charts(app)
    assert len(spectrum["data"]) == 4 and len(curves["data"]) == 4
    expected = singular(full_change())[:32]
    np.testing.assert_allclose(spectrum["data"][3]["y"], expected / expected[0], rtol=1e-4)


def test_a_race_that_goes_on_can_be_stopped_and_begun_again(monkeypatch):
    jobs = []

    def race_of(*given):
        jobs.append(FakeJob(fake_race().results[:6], state="running"))
        return jobs[-1]

    race_of.forget = lambda *given: None
    monkeypatch.setattr(chapter, "race_of", race_of)
    app = fine_part("finetuning", "lora", updates="10", race="1")
    press(app, "Stop")
    assert len(jobs) == 1 and jobs[0].state == "stopped" and "stopped" in boxes(app)
    press(app, "Train again")
    assert len(jobs) == 2 and jobs[1].state == "running"


def test_a_visitor_does_not_get_a_race_that_another_one_stopped(monkeypatch):
    jobs = [FakeJob([], state="stopped"), fake_race()]

    def race_of(*given):
        return jobs[0]

    race_of.forget = lambda *given: jobs.pop(0)
    monkeypatch.setattr(chapter, "race_of", race_of)
    link = dict(adapterlayer="2", matrix="mlp.output", updates="10", race="1")
    app = fine_part("finetuning", "lora", **link)
    assert len(jobs) == 1 and "times as long" in prose_of(app)


def test_another_task_takes_the_race_back_and_its_button_comes_again(monkeypatch):
    asked = []
    monkeypatch.setattr(chapter, "race_of", lambda *given: asked.append(given) or fake_race())
    link = dict(adapterlayer="2", matrix="mlp.output", updates="10", race="1")
    app = fine_part("finetuning", "lora", **link)
    (task,) = (one for one in app.selectbox if one.label == words.task)
    task.select("about").run()
    fine(app)
    press(app, words.race_start)
    assert asked[-1] == ("about", 10, 8)


def test_three_models_write_behind_one_text_and_memory_is_counted(opened):
    text = prose_of(opened)
    base = load_tensors(CHECKPOINTS / "tiny-world-gpt" / "model.safetensors")
    numbers = 2_418_816
    assert f"{numbers:,}" in text and base
    adapter = load_tensors(TUNED / "few-shot" / "adapter_model.safetensors")
    each = sum(one.numel() for one in adapter.values())
    assert f"{each:,}" in text and f"{1 + 2 * each / numbers:.2f} times" in text
    assert words.merge_back in text and "that is rounding" in text
