"""The chapter on what changed since 2017: pictures are the models', sentences are the cards'."""

from __future__ import annotations

import json
import re
import shutil
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as some

from llmviz.course.document.marks import as_markdown
from llmviz.course.lessons.transformer.since import chapter, pictures, words
from llmviz.course.lessons.transformer.since.model import (
    CHANGES,
    FAMILY,
    READINGS,
    Measured,
    checkpoint,
    measured,
)
from llmviz.course.ui import engine, live_job
from llmviz.evaluation.step_times import ROUNDS, StepTimes, step_times
from llmviz.files.paths import CHECKPOINTS
from llmviz.trace import record
from tests.pages.conftest import use
from tests.pages.finished_job import FakeJob
from tests.pages.harness import boxes, charts, fine, open_part, prose_of, sent, unpack_all

pytestmark = pytest.mark.usefixtures("ready")

TEXT = "Once Anna and Samir met at the market. Then"


def ids_of(text: str) -> list[int]:
    return engine.tokenizer(checkpoint("rotary")).encode_from_start(text)


def models(change: str):
    return [engine.load(name).model for name in pictures.names_in(change)]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("text", ["", "Anna", "zzz qqq", "so " * 400], ids=str.split)
def test_every_change_has_its_picture_at_the_edges(change, text):
    app = open_part("transformer", "since", change=change)
    app.session_state["shared.text"] = text
    app.run()
    fine(app)
    names = [part.proto.component_name for part in app.get("bidi_component")]
    assert bool(charts(app) or "llmviz_cell_grid" in names) == bool(text)
    if text.startswith("zzz"):
        assert "unknown to this model" in boxes(app)


def test_how_far_the_sizes_of_the_models_are_apart_is_what_their_cards_say():
    sizes = [engine.card(checkpoint(name))["parameters"] for name in FAMILY]
    told = prose_of(open_part("transformer", "since"))
    apart = float(re.search(r"equally large to within ([\d.]+)\s%", told)[1])
    assert apart == pytest.approx(100 * (max(sizes) - min(sizes)) / min(sizes), abs=0.0051)


@pytest.mark.parametrize("change", ["kind", "heads", "experts"])
def test_the_cells_are_what_the_models_compute(change):
    app = open_part("transformer", "since", change=change, text=TEXT)
    values = sent(app, "cell_grid")["values"]
    found = [READINGS[change](model, ids_of(TEXT)) for model in models(change)]
    if change == "experts":
        found = [layer.T for layer in found[0]]
        np.testing.assert_allclose(values.reshape(3, 4, -1).sum(1), 1, atol=1e-5)
    np.testing.assert_array_equal(values, torch.cat(found).numpy())


def test_the_lines_are_the_sizes_of_both_streams():
    (chart,) = charts(open_part("transformer", "since", change="place", text=TEXT))
    wanted = {
        side: READINGS["place"](model, ids_of(TEXT))
        for side, model in zip(words.sides["place"], models("place"), strict=True)
    }
    for line in chart["data"]:
        np.testing.assert_allclose(line["y"], wanted[line["name"]], rtol=1e-5)


def test_points_lie_where_the_activation_puts_them():
    gelu, gate = charts(open_part("transformer", "since", change="activation", text=TEXT))
    x, y = (np.array(gelu["data"][1][axis]) for axis in "xy")
    np.testing.assert_allclose(torch.nn.functional.gelu(torch.tensor(x)), y, atol=2e-3)
    x, y = (np.array(gate["data"][1][axis]) for axis in "xy")
    assert np.abs(torch.nn.functional.silu(torch.tensor(x)).numpy() - y).max() > 0.1


def test_tables_of_positions_are_the_models_own():
    found = charts(open_part("transformer", "since", change="positions", text=TEXT))
    for chart, model in zip(found, models("positions"), strict=True):
        wanted = READINGS["positions"](model, ids_of(TEXT)).numpy()
        np.testing.assert_allclose(chart["data"][0]["z"], wanted, atol=6e-5)


def test_the_window_is_drawn_on_a_text_that_reaches_over_it():
    app = open_part("transformer", "since", change="window", text=TEXT)
    whole, window = (np.array(c["data"][0]["z"], dtype=float) for c in charts(app))
    assert whole.shape == window.shape == (24, 24)
    later = np.triu(np.ones((24, 24), bool), 1)
    far = np.tril(np.ones((24, 24), bool), -16)
    np.testing.assert_array_equal(np.isnan(whole), later)
    np.testing.assert_array_equal(np.isnan(window), later | far)
    assert f"the window closes {far.sum()}" in prose_of(app)
    ids = pictures.read_ids("window", tuple(ids_of(TEXT)))
    assert list(ids[: len(ids_of(TEXT))]) == ids_of(TEXT)
    model = models("window")[1]
    with torch.inference_mode(), record("blocks.2.attn.weights") as trace:
        model(torch.tensor([list(ids)]))
    wanted = trace["blocks.2.attn.weights"][0].mean(0)
    np.testing.assert_allclose(np.nan_to_num(window), wanted, atol=6e-5)


def test_a_text_longer_than_the_window_is_not_written_on():
    app = open_part("transformer", "since", change="window", text="Anna and Samir met. " * 20)
    fine(app)
    assert "without a window continued" not in prose_of(app)


def test_the_dots_are_the_cards_and_the_one_that_is_asked_for_is_held_back(covers):
    def over(name: str) -> float:
        card = json.loads((CHECKPOINTS / checkpoint(name) / "card.json").read_text("utf-8"))
        return card["score"]["nats_per_token"] - card["floor"]["nats_per_token"]

    shares = {
        name: 1 - over(name) / over(names[0]) for names in CHANGES.values() for name in names[1:]
    }
    asked = unpack_all(open_part("transformer", "since"), "case_rows")[0]["rows"]
    assert [row["value"] is None for row in asked] == [False, True]
    assert sorted(asked[0]["dots"]) == pytest.approx(
        sorted(share for name, share in shares.items() if name != chapter.GUESSED), abs=0.01
    )
    link = {"change": "experts", "show": "1"}
    told = unpack_all(open_part("transformer", "since", **link), "case_rows")[0]["rows"]
    for row, name in zip(told[1:], (chapter.GUESSED, "experts"), strict=True):
        assert row["value"] == pytest.approx(shares[name], abs=0.01)


def test_a_copy_without_the_family_says_how_to_make_it(tmp_path, monkeypatch):
    shutil.copytree(CHECKPOINTS / checkpoint("rotary"), tmp_path / checkpoint("rotary"))
    use(monkeypatch, tmp_path)
    app = open_part("transformer", "since")
    fine(app)
    assert "post-norm is missing" in boxes(app)
    assert any("checkpoints make since-2017/post-norm" in block.value for block in app.code)


losses = some.floats(0.01, 3)


@given(some.fixed_dictionaries({name: losses for name in FAMILY}), some.sampled_from(list(CHANGES)))
def test_the_question_and_the_sentence_agree_with_the_losses(over, change):
    results = {n: Measured(n, 1 + loss, loss, 9, 8, 64.0) for n, loss in over.items()}
    asked, every = chapter.question(results), chapter.ways(results)
    if asked is not None:
        assert asked.values[asked.right] == (every["rotary"],)
        assert every["rotary"] == max(every.values()) and every["rotary"] < chapter.MUCH
    before, after = (over[CHANGES[change][end]] for end in (0, -1))
    line = chapter.effects_of(change, results).replace("\n", " ")
    if abs(after / before - 1) < 0.004:
        assert "stays where it was" in line
    elif abs(after / before - 1) > 0.006:
        told = "the model goes" if after < before else "the model falls back"
        assert told in line


def test_turning_goes_a_twelfth_of_the_way_and_the_others_hardly_move():
    cards = {name: engine.card(checkpoint(name)) for name in FAMILY}
    results = {name: measured(name, card) for name, card in cards.items()}
    every = chapter.ways(results)
    assert chapter.question(results) is not None
    assert max(abs(share) for name, share in every.items() if name != "rotary") < 0.05


def test_a_smaller_cache_is_said_where_it_is_smaller():
    cards = {name: engine.card(checkpoint(name)) for name in FAMILY}
    results = {name: measured(name, card) for name, card in cards.items()}
    told = {change: chapter.effects_of(change, results) for change in CHANGES}
    assert [one for one in told if "Its cache needs" in told[one]] == ["heads", "window"]
    assert "1/2" in told["heads"] and "1/4" in told["heads"]


# ---- how long a step takes


def measured_as(monkeypatch, job):
    started = []
    pool = SimpleNamespace(start=lambda target, names: started.append((target, names)) or job)
    monkeypatch.setattr(live_job, "training_jobs", lambda: pool)
    pictures.step_job.clear()
    link = {"timed": "1"} if job else {}
    app = open_part("transformer", "since", change="positions", text=TEXT, **link)
    assert set(started) == ({(f"{step_times.__module__}:step_times", ALL)} if job else set())
    pictures.step_job.clear()
    fine(app)
    return app


ALL = tuple(map(checkpoint, FAMILY))
TIMES = StepTimes(ROUNDS, {checkpoint(name): 100.0 + 10 * n for n, name in enumerate(FAMILY)})


def test_times_are_measured_when_asked_for(monkeypatch):
    app = measured_as(monkeypatch, None)
    assert words.measure in [one.label for one in app.button]
    app = measured_as(monkeypatch, FakeJob([StepTimes(2, TIMES.milliseconds)], "running"))
    (bar,) = app.get("progress")
    assert bar.proto.value == round(100 * 2 / ROUNDS) and not unpack_all(app, "case_rows")[1:]
    app = measured_as(monkeypatch, FakeJob([TIMES]))
    ms = {name: TIMES.milliseconds[checkpoint(name)] for name in FAMILY}
    for name in ("learned", "rotary"):
        assert f"{ms[name] / ms['rms-norm']:.2f} times" in prose_of(app)
    app = measured_as(monkeypatch, FakeJob([], "failed", "no such file"))
    assert "no such file" in boxes(app)
    assert words.measure in [one.label for one in app.button]


def test_each_change_has_its_sentence_about_times():
    for change in CHANGES:
        told = as_markdown(pictures.times_line(change, TIMES))
        assert told.count("times**") == len(CHANGES[change]) - 1
    assert len(pictures.ratios(TIMES)) == len(FAMILY) - 1
