"""The chapter on LoRA: cells that are the adapter's own, ranks, counts, a race and its end."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from llmviz.course.components import Window, unpack
from llmviz.course.lessons.finetuning.lora import matrices, race, ranks, words
from llmviz.course.lessons.finetuning.lora.lora_race import SQUARE, RaceEnd, RaceStep
from llmviz.course.ui.common import percent
from llmviz.course.ui.matrix_picture import read_windows
from llmviz.finetuning.adapted import Spectrum, studied
from llmviz.finetuning.adapters import PREFIX, A, B
from llmviz.paths import CHECKPOINTS, TUNED
from llmviz.training.tensors import load_tensors
from tests.pages.finished_job import FakeJob
from tests.pages.harness import boxes, charts, fine, open_part, prose_of

PATH = "blocks.2.mlp.output"


def views(app) -> list[dict]:
    """What both views of matrices were sent: the linked matrices, then the ranks."""
    parts = (one.proto for one in app.get("bidi_component"))
    return [unpack(one.bytes) for one in parts if one.component_name == "llmviz_matrix_view"]


@pytest.fixture(scope="module")
def stored():
    """A and B of the chosen matrix as the file has them, and W as the base's file has it."""
    adapter = load_tensors(TUNED / "few-shot" / "adapter_model.safetensors")
    base = load_tensors(CHECKPOINTS / "tiny-world-gpt" / "model.safetensors")
    pair = (adapter[f"{PREFIX}{PATH}{end}"].float().numpy() for end in (A, B))
    return *pair, base[f"{PATH}.weight"].float().numpy()


@pytest.fixture(scope="module")
def opened():
    return open_part(
        "finetuning", "lora", adapter="few-shot", adapterlayer="2", matrix="mlp.output",
        fromrow="100", fromcolumn="700",
    )  # fmt: skip


def test_the_cells_are_those_of_the_files(opened, stored):
    fine(opened)
    a, b, w = stored
    linked, _ = views(opened)
    values = {one["name"]: one["values"] for one in linked["matrices"]}
    rows, columns = slice(100, 100 + matrices.SIZE), slice(700, 700 + matrices.SIZE)
    np.testing.assert_allclose(values["W"], w[rows, columns], atol=1e-6)
    np.testing.assert_array_equal(values["A"], a[:, columns])
    np.testing.assert_array_equal(values["B"], b[rows])
    change = 2.0 * b.astype(float) @ a  # α = 16, r = 8
    np.testing.assert_allclose(values["added"], change[rows, columns], atol=1e-5)
    np.testing.assert_allclose(values["sum"], (w + change)[rows, columns], atol=1e-5)
    assert linked["matrices"][0]["rowLabels"][0] == "100"
    share = np.linalg.norm(change) / np.linalg.norm(w)
    assert f"{100 * share:.3g}"[:3] in prose_of(opened)


def test_each_rank_is_the_nearest_matrix_and_what_is_left_of_the_change(opened, stored):
    a, b, _ = stored
    change = 2.0 * b.astype(float) @ a
    u, s, v = np.linalg.svd(change, full_matrices=False)
    _, stages = views(opened)
    assert len(stages["stages"]) == 16
    values = {one["name"]: one["values"] for one in stages["matrices"]}
    row, column = (int(stages["matrices"][0][key][0]) for key in ("rowLabels", "colLabels"))
    part = slice(row, row + SQUARE), slice(column, column + SQUARE)
    for rank in (1, 5, 8):
        nearest = (u[:, :rank] * s[:rank]) @ v[:rank]
        np.testing.assert_allclose(values[f"part{rank}"], nearest[part], atol=1e-5)
        np.testing.assert_allclose(values[f"left{rank}"], (change - nearest)[part], atol=1e-5)
        held = np.square(s[:rank]).sum() / np.square(s).sum()
        assert f"{100 * held:.1f}" in stages["stages"][rank - 1]["title"]
    np.testing.assert_allclose(values["left8"], 0, atol=1e-5)
    (spectrum,) = charts(opened)
    np.testing.assert_allclose(spectrum["data"][0]["y"][:8], s[:8] / s[0], rtol=1e-4)


def test_a_link_restores_rank_cell_and_step():
    app = open_part("finetuning", "lora", keptrank="5", lorastep="2", loracell="BA.3.4")
    fine(app)
    linked, stages = views(app)
    assert linked["step"] == 2 and linked["pinned"] == ["BA", 3, 4] and stages["step"] == 4
    seen = dict.fromkeys("RC", 0) | dict(linked["window"])  # the kept cell is among what is seen
    assert all(
        0 <= place - seen[axis] < matrices.SEEN for axis, place in zip("RC", (3, 4), strict=True)
    )
    app = open_part("finetuning", "lora", loracell="BA.99.99", fromrow="999999", adapter="few-shot")
    fine(app)


def test_the_part_that_is_seen_is_in_the_link_and_only_where_it_was_moved():
    link = dict(adapter="few-shot", fromrow="0", fromcolumn="0")
    app = open_part("finetuning", "lora", loraseen="R.7,C.99,N.3,x", **link)
    fine(app)
    assert views(app)[0]["window"] == [["C", matrices.SIZE - matrices.SEEN], ["R", 7]]
    largest = views(open_part("finetuning", "lora", **link))[0]
    size, show = matrices.SIZE, matrices.SEEN
    windows = {axis: Window(size, show, dict(largest["window"]).get(axis, 0)) for axis in "RC"}
    assert matrices.seen(largest["window"], windows) == ""  # not moved


@given(*[some.integers(0, 26)] * 4)
def test_windows_come_back_from_a_link_where_they_were(row, column, now_row, now_column):
    size, show = matrices.SIZE, matrices.SEEN
    windows = {"R": Window(size, show, row), "C": Window(size, show, column)}
    now = {"R": now_row, "C": now_column}
    reported = [(name, at) for name, at in now.items() if at]  # as the picture does
    found = read_windows(matrices.seen(reported, windows), windows)
    assert {name: one.at for name, one in found.items()} == now


@pytest.mark.usefixtures("bundle")
def test_an_adapter_of_another_base_is_refused_in_one_line():
    for part in ("lora", "fewshot"):
        app = open_part("finetuning", part)
        fine(app)
        assert "belongs to another base" in boxes(app) or "which this model lacks" in boxes(app)


@given(some.integers(1, 4000), some.integers(1, 4000), some.integers(1, 64))
def test_the_count_has_one_right_answer(rows, columns, rank):
    question = matrices.question(rows, columns, rank)
    right = f"{rank * (rows + columns):,}"
    assert [answer == right for answer in question.answers] == [
        i == question.right for i in range(len(question.answers))
    ]


@given(some.lists(some.floats(0, 1), min_size=1, max_size=20), some.integers(1, 20))
def test_what_rank_1_holds_is_asked_with_one_right_answer(parts, rank):
    values = np.sort(np.array([1.0, *parts]))[::-1]
    question = ranks.rank_question(Spectrum(np.empty(0), values, np.empty(0)), rank)
    if rank == 1:
        assert question is None
        return
    right = percent(1 / float((values**2).sum()))
    assert question.answers[question.right] == right and len(set(question.answers)) == 3
    assert all(right in reason for reason in question.reasons)


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
        RaceEnd("lora", 0.9, 100, 100_000, 3.0, {PATH: studied(changes["lora"], 12, 16)}),
        RaceEnd("all", 0.8, 100, 2_000_000, 4.0, {PATH: studied(changes["all"], 12, 16)}),
    ]
    return FakeJob([*steps, *ends])


def test_a_race_that_has_ended_is_told_and_its_changes_can_be_chosen(monkeypatch):
    job = fake_race()
    monkeypatch.setattr(race, "race_of", lambda *given: job)
    link = dict(adapterlayer="2", matrix="mlp.output", updates="10", rank="2", race="1")
    app = open_part("finetuning", "lora", change="all", **link)
    fine(app)
    text = prose_of(app)
    assert "90.0\u00a0% of 100 new stories right, 100,000 numbers trained" in text
    assert "0.75 times as long" in text and "5.00\u00a0% of the numbers" in text
    spectrum, curves = charts(app)
    assert len(spectrum["data"]) == 3 and len(curves["data"]) == 4
    expected = np.linalg.svd(full_change(), compute_uv=False)[:32]
    np.testing.assert_allclose(spectrum["data"][2]["y"], expected / expected[0], rtol=1e-4)
    _, stages = views(app)
    held = np.square(expected[0]) / np.square(full_change()).sum()
    assert f"{100 * held:.2f}" in stages["stages"][0]["title"]


def test_a_race_that_goes_on_can_be_stopped_and_begun_again(monkeypatch):
    jobs = []

    def race_of(*given):
        jobs.append(FakeJob(fake_race().results[:6], state="running"))
        return jobs[-1]

    race_of.forget = lambda *given: None
    monkeypatch.setattr(race, "race_of", race_of)
    app = open_part("finetuning", "lora", updates="10", race="1")
    fine(app)
    (stop,) = (one for one in app.button if one.label == "Stop")
    stop.click().run()
    fine(app)
    assert len(jobs) == 1 and jobs[0].state == "stopped" and "stopped" in boxes(app)
    (again,) = (one for one in app.button if one.label == "Train again")
    again.click().run()
    fine(app)
    assert len(jobs) == 2 and jobs[1].state == "running"


def test_a_visitor_does_not_get_a_race_that_another_one_stopped(monkeypatch):
    jobs = [FakeJob([], state="stopped"), fake_race()]

    def race_of(*given):
        return jobs[0]

    race_of.forget = lambda *given: jobs.pop(0)
    monkeypatch.setattr(race, "race_of", race_of)
    link = dict(adapterlayer="2", matrix="mlp.output", updates="10", race="1")
    app = open_part("finetuning", "lora", **link)
    fine(app)
    assert len(jobs) == 1 and "of 100 new stories right" in prose_of(app)


def test_another_task_takes_the_race_back_and_its_button_comes_again(monkeypatch):
    asked = []
    monkeypatch.setattr(race, "race_of", lambda *given: asked.append(given) or fake_race())
    link = dict(adapterlayer="2", matrix="mlp.output", updates="10", race="1")
    app = open_part("finetuning", "lora", **link)
    fine(app)
    (task,) = (one for one in app.selectbox if one.label == words.task)
    task.select("about").run()
    fine(app)
    (begin,) = (one for one in app.button if one.label == words.race_start)
    begin.click().run()
    fine(app)
    assert asked[-1] == ("about", 10, 8)


def test_three_models_write_behind_one_text_and_memory_is_counted(opened):
    text = prose_of(opened)
    base = load_tensors(CHECKPOINTS / "tiny-world-gpt" / "model.safetensors")
    numbers = 2_418_816
    assert f"{numbers:,}" in text and base
    adapter = load_tensors(TUNED / "few-shot" / "adapter_model.safetensors")
    each = sum(one.numel() for one in adapter.values())
    assert f"{each:,}" in text and f"{1 + 2 * each / numbers:.2f} times" in text
    kept, subtracted = words.merge_back.split("{subtracted}")[0], "would leave rounding behind, in"
    assert kept.strip() in text and subtracted in text
