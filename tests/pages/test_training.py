"""Runs and curves without a browser: what the page says is what the library computes."""

from __future__ import annotations

import dataclasses
import io
import json
import shutil
import string
import time
import zipfile

import numpy as np
import pytest
import streamlit as st

from llmviz.config import settings_of
from llmviz.course.components.curves.view import (
    OFFERED,
    Line,
    RunCurve,
    curves_payload,
    run_payload,
    step_of,
    view_of,
)
from llmviz.course.lessons.training import charted_runs, run_chart, run_film
from llmviz.course.lessons.training.curves import PARAMS as CURVES_PARAMS
from llmviz.course.lessons.training.curves import chapter as curves
from llmviz.course.lessons.training.curves import checkpoint
from llmviz.course.lessons.training.curves import words as curves_words
from llmviz.course.lessons.training.runs import (
    FIRST,
    chapter,
    form,
    plan_controls,
    presets,
    words,
)
from llmviz.course.lessons.training.runs import chapter as running
from llmviz.course.ui import engine, runs, step_time
from llmviz.course.ui.common import duration, percent
from llmviz.course.ui.state import PageState
from llmviz.models import MODELS
from llmviz.runs import store
from llmviz.runs.manager import RunManager
from llmviz.tokenizers import train_tokenizer
from llmviz.training import Diverged, TrainConfig
from llmviz.training.curves import AXES, CurveFile, in_unit, smooth
from llmviz.training.estimate import estimate, run_seconds, vocabulary
from llmviz.training.export import zipped
from llmviz.training.files import write_json
from llmviz.training.kept_weights import STEPS
from llmviz.training.plan import Plan, check_corpus, prepare
from llmviz.training.reading import WRONG, read_metrics, steps_saved
from llmviz.training.recipes import RECIPES
from llmviz.training.references import References, references_again
from llmviz.training.run_folder import load_trained, run_in_folder
from llmviz.training.samples import sampler
from llmviz.training.throughput import predict_seconds, throughput_of, work
from tests.pages import harness
from tests.pages.harness import fine, open_part
from tests.runs.test_manager import MADE, Pretender
from tests.training.small_plans import small_plan, small_training


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A folder of runs of its own, and a manager whose processes only pretend."""
    monkeypatch.setenv("LLMVIZ_RUNS", str(tmp_path / "runs"))
    monkeypatch.setattr(chapter, "FIRST_POINT", 0.01)
    MADE.clear()
    made = RunManager(limit=1, process=Pretender)
    monkeypatch.setattr(runs, "manager", lambda: made)
    monkeypatch.setattr(runs, "_managers", [made])
    monkeypatch.setattr(engine, "ready", lambda: True)
    step_time._MEASURED.clear()
    yield tmp_path / "runs"
    made.close(0)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A small run that was really trained, with checkpoints and samples."""
    folder = tmp_path_factory.mktemp("made") / "run"
    often = dict.fromkeys(("eval_every", "sample_every", "snapshot_every"), 10)
    train = small_training(steps=30, warmup_steps=2, eval_batches=1, sample_tokens=6, **often)
    run = prepare(small_plan(train, n_embd=8))
    list(run_in_folder(folder, run, sample=sampler(run)))
    return folder


def button(app, label: str):
    (found,) = (one for one in app.button if one.label == label)
    return found


def mine():
    """The runs that the page started, the newest first."""
    return list(reversed(runs.manager()._life.runs.values()))


def markdown(app) -> str:
    return " ".join(block.value for block in app.markdown)


def captions(app) -> str:
    return " ".join(caption.value for caption in app.caption)


# ---- starting runs


def test_the_first_screen_has_a_run_and_a_short_form_with_every_setting_behind_the_fold(home):
    app = harness.open_part("training", "runs")
    harness.fine(app)
    drawn = harness.sent(app, "curves")
    curve = CurveFile(engine.CHECKPOINTS / charted_runs.FIRST).read()
    assert np.allclose(drawn["runs"][0]["train"], curve.train, rtol=1e-6)
    assert drawn["weights"] == [0.8] and drawn["offered"] == []
    assert np.allclose(drawn["runs"][0]["means"], smooth(curve.train, 0.8), rtol=1e-6)
    assert drawn["runs"][0]["samples"] == [[int(curve.steps[i]), t] for i, t in curve.samples]
    assert drawn["hidden"] is None
    assert not button(app, "Start").disabled and "longer than the run" not in harness.boxes(app)
    (fold,) = (one for one in app.expander if one.label == words.settings)
    kinds = ("selectbox", "number_input", "select_slider", "checkbox")

    def settings(block) -> set[str]:
        keys = {one.key for kind in kinds for one in block.get(kind)}
        return {key.split(".", 1)[1].split("@")[0] for key in keys if "training.r_" in key}

    everything, behind = settings(app), settings(fold)
    assert everything - behind == {f"r_{name}" for name in ("corpus", *form.SHORT)}
    assert len(behind) > 20
    wanted = {one.key for one in plan_controls.plan_params(presets.values_of(FIRST))}
    assert everything <= wanted
    app.number_input(key="_training.r_steps@training").set_value(77).run()
    harness.fine(app)
    assert app.query_params["r_steps"] in ("77", ["77"])


@pytest.mark.parametrize("preset", presets.PRESETS)
def test_every_preset_says_what_it_costs_and_can_be_started(home, preset):
    app = harness.open_part("training", "runs")
    (menu,) = (box for box in app.selectbox if box.label == words.preset)
    menu.set_value(preset).run()
    harness.fine(app)
    button(app, "Start").click().run()
    harness.fine(app)
    plan, values = Plan.from_dict(MADE[0].sent[-1]["plan"]), presets.values_of(preset)
    assert plan.model == values["model"] and plan.train.steps == values["steps"]
    assert plan.train.threads == 1 and plan.train.log_every == 1
    documents, _ = check_corpus(plan, mine()[0].folder)
    guess = estimate(plan, vocabulary(plan, documents))
    assert f"{guess.parameters:,} parameters" in harness.prose_of(app)


def test_a_click_counts_though_the_page_starts_over_above_the_button(home, monkeypatch):
    monkeypatch.setattr(running, "_time_unknown", lambda state: True)
    app = harness.open_part("training", "runs")
    answers = [True, False]  # how long a step takes becomes known just then
    monkeypatch.setattr(running, "_time_unknown", lambda state: bool(answers) and answers.pop(0))
    button(app, "Start").click().run()
    harness.fine(app)
    assert not answers and len(mine()) == 1


def test_a_late_message_does_not_bring_another_run_back(home, trained):
    app = harness.open_part("training", "runs", run="names-gru")
    late = app._tree  # a browser that has not heard of the start yet, and looks each second
    next(box for box in late.selectbox if box.label == words.show).set_value(charted_runs.FIRST)
    app.run()
    button(app, "Start").click().run()
    (run,) = mine()
    late.run()
    app.run()
    harness.fine(app)
    assert app.session_state["training.run"] == f"run:{run.name}"
    shown_run = next(box for box in app.selectbox if box.label == words.show)
    assert shown_run.value == f"run:{run.name}"
    shown_run.set_value("names-gru").run()
    assert app.session_state["training.run"] == "names-gru"
    # The same for the runs on a chart, which a fork changes.
    shutil.copytree(trained, run.folder, dirs_exist_ok=True)
    app = harness.open_part("training", "curves", runs="names-gru")
    late = app._tree
    late.multiselect[0].set_value(["names-gru"])
    app.run()
    button(app, "Start the fork").click().run()
    late.run()
    app.run()
    harness.fine(app)
    drawn = [one["name"] for one in harness.sent(app, "curves")["runs"]]
    assert drawn[0] == "names-gru" and len(drawn) == 2


def test_a_pause_counts_while_the_page_changes_elsewhere(home, trained):
    app = harness.open_part("training", "runs")
    button(app, "Start").click().run()
    (run,) = mine()
    shutil.copytree(trained, run.folder, dirs_exist_ok=True)
    MADE[0].says("begun", step=1)
    app.run()
    button(app, "Pause").click()
    app.query_params["r_seed"] = "5"
    app.session_state[chapter.PROBLEM] = "something else"
    app.run()
    harness.fine(app)
    assert MADE[0].sent[-1] == {"do": "stop"} and "saving" in markdown(app)


def test_a_click_that_nothing_answers_is_forgotten(home, monkeypatch):
    app = harness.open_part("training", "overfitting", failing="heart")
    (again,) = (one for one in app.button if one.key == "wrong.heart")
    app.session_state["_clicked.wrong.heart"] = time.monotonic() - 11
    app.run()
    assert mine() == []
    again.click().run()
    harness.fine(app)
    assert len(mine()) == 2


def test_a_started_run_is_in_the_link_and_shows_its_state(home, trained):
    app = harness.open_part("training", "runs")
    button(app, "Start").click().run()
    harness.fine(app)
    (run,) = mine()
    assert app.session_state["training.run"] == f"run:{run.name}"
    assert "preparing" in markdown(app)
    shutil.copytree(trained, run.folder, dirs_exist_ok=True)
    MADE[0].says("begun", step=1)
    app.run()
    harness.fine(app)
    assert harness.sent(app, "curves")["runs"][0]["label"] == "1 · gpt on names"
    button(app, "Pause").click().run()
    assert MADE[0].sent[-1] == {"do": "stop"}
    MADE[0].ends("stopped")
    app.run()
    assert "paused" in markdown(app)
    button(app, "Go on").click().run()
    harness.fine(app)
    assert MADE[0].sent[-1]["out"] == str(run.folder) and "plan" not in MADE[0].sent[-1]
    MADE[0].says("begun", step=2)
    MADE[0].ends("diverged", "the loss is not finite at step 7 (learning rate 9)")
    app.run()
    harness.fine(app)
    assert "not finite at step 7" in harness.boxes(app)
    assert len(harness.sent(app, "curves")["runs"][0]["train"]) == 30  # the curve stays


def test_a_queue_shows_its_length_and_too_many_starts_one_line(home):
    app = harness.open_part("training", "runs")
    for seed in range(6):
        app.query_params["r_seed"] = str(seed)
        app.run()
        button(app, "Start").click().run()
        harness.fine(app)
    assert "4 of your runs are training or waiting" in harness.boxes(app)
    assert len(mine()) == 4 and runs.manager().waiting == 3
    assert "3 runs in the queue" in captions(app)
    assert "waiting: 2 runs before it, 3 in the queue" in markdown(app)


def test_the_time_of_a_text_of_ones_own_is_measured_without_it(home):
    text = "the cat sat on the mat. " * 20
    app = harness.open_part("training", "runs", r_corpus="mine", text=text)
    assert "is being measured" in harness.prose_of(app)
    MADE[0].says("ready")
    app.run()
    harness.fine(app)
    job = MADE[0].sent[-1]
    assert job["do"] == "time" and job["plan"]["corpus"] == "corpus.txt"
    assert job["vocab_size"] == train_tokenizer("char", [text]).vocab_size
    MADE[0].says("timed", key=job["key"], seconds=0.05)
    MADE[0].says("ready")
    app.run()
    assert "50 ms per step, measured here" in harness.prose_of(app)


def test_while_the_process_is_busy_the_time_is_estimated_from_what_was_measured(home):
    app = harness.open_part("training", "runs", r_model="gpt")
    button(app, "Start").click().run()
    MADE[0].says("begun", step=1)
    assert "no gpt was measured here before" in harness.prose_of(app.run())
    MADE[0].ends()
    app.run()
    MADE[0].says("timed", key=MADE[0].sent[-1]["key"], seconds=0.05)
    MADE[0].says("ready")
    assert "50 ms per step, measured here" in harness.prose_of(app.run())
    button(app, "Start").click().run()
    app.query_params["r_n_layer"] = "3"
    app.run()
    harness.fine(app)
    (known,) = step_time._MEASURED.values()
    plan = Plan.from_dict(mine()[0].plan)
    plan = dataclasses.replace(plan, model_options={**plan.model_options, "n_layer": 3})
    guess = estimate(plan, vocabulary(plan, check_corpus(plan)[0]))
    step = predict_seconds(plan, guess.parameters, [known])
    assert step == pytest.approx(0.05 * work(plan, guess.parameters) / known.work)
    said = harness.prose_of(app)
    assert f"About {duration(run_seconds(plan.train, step))}" in said
    assert "estimated from the speed of a gpt here" in said


def test_while_the_process_is_busy_the_time_is_estimated_from_its_speed(home, trained):
    app = harness.open_part("training", "runs", r_model="gpt")
    button(app, "Start").click().run()
    (run,) = mine()
    assert "no gpt was measured here before" in harness.prose_of(app)
    shutil.copytree(trained, run.folder, dirs_exist_ok=True)
    MADE[0].says("begun", step=1)
    plan = Plan.from_dict(run.plan)
    about = json.loads((run.folder / "config.json").read_text("utf-8"))
    about["parameters"] = 10 * about["parameters"]
    (run.folder / "config.json").write_text(json.dumps(about), "utf-8")
    app.run()
    harness.fine(app)
    pace = throughput_of(plan, run.folder)
    guess = estimate(plan, vocabulary(plan, check_corpus(plan)[0]))
    step = predict_seconds(plan, guess.parameters, [pace])
    assert step == pytest.approx(pace.seconds * work(plan, guess.parameters) / pace.work)
    said = harness.prose_of(app)
    assert f"About {duration(run_seconds(plan.train, step))}" in said
    assert "estimated from the speed of a gpt here" in said


def test_a_warm_up_longer_than_the_run_is_said(home):
    told = harness.boxes(harness.open_part("training", "runs", r_steps="100", r_warmup_steps="400"))
    assert "The warm-up (400 steps) is longer than the run (100)" in told


@pytest.mark.parametrize(
    ("link", "words"),
    [
        ({"r_n_head": "5"}, "n_head must divide n_embd; got n_embd=48, n_head=5"),
        ({"r_min_lr": "0.5"}, "min_lr must not exceed learning_rate"),
        ({"r_accumulate": "64"}, "accumulate must not exceed batch_size"),
        ({"r_model": "wavenet", "r_n_layer": "20"}, "n_layer must be at most 12"),
        ({"r_model": "seq2seq"}, "must be pairs of sentences; got names"),
        ({"r_tokenizer": "bpe", "r_vocab_size": "100"}, "must be at least 257"),
        ({"r_corpus": "file"}, words.no_file),
        ({"r_corpus": "mine", "text": ""}, "there is no text of yours yet"),
        (
            dict(r_corpus="mine", text="too short", r_context_length="64", r_windows="random"),
            "longer than the context",
        ),
        ({"r_n_embd": "2048", "r_n_head": "32", "r_n_layer": "48"}, "are free here"),
    ],
)
def test_settings_that_cannot_work_are_refused_before_the_start(home, monkeypatch, link, words):
    memory = type("Memory", (), {"available": 2 * 10**9})
    monkeypatch.setattr("psutil.virtual_memory", lambda: memory)
    app = harness.open_part("training", "runs", **link)
    harness.fine(app)
    assert words in harness.boxes(app)
    assert button(app, "Start").disabled
    for key, value in link.items():  # nothing of what was asked for is lost
        if key != "text":
            kept = app.session_state[f"training.{key}"]
            assert str(kept) == value or f"{kept:g}" == value


def test_a_setting_of_the_server_that_is_no_number_is_one_line(monkeypatch):
    monkeypatch.setenv("LLMVIZ_MAX_RUNS", "many")
    runs.manager.clear()
    app = harness.open_part("training", "runs")
    harness.fine(app)
    assert "LLMVIZ_MAX_RUNS must be a whole number" in harness.boxes(app)
    monkeypatch.delenv("LLMVIZ_MAX_RUNS")
    runs.manager.clear()


def test_each_models_settings_are_those_of_its_class():
    for name, entry in MODELS.items():
        offered = set(settings_of(entry.config)) & set(plan_controls.OPTION_FIELDS)
        assert set(plan_controls.options_of(name)) == offered - set(entry.not_in_forms), name
    assert set(plan_controls.TRAIN_FIELDS) <= {
        field.name for field in dataclasses.fields(TrainConfig)
    }


def test_an_uploaded_text_goes_with_the_run_and_one_that_nothing_learns_from_is_refused(home):
    app = harness.open_part("training", "runs", r_corpus="file", r_context_length="8")

    def upload(content: bytes) -> None:
        file = ("a *b*.txt", content, "text/plain")
        app.get("file_uploader")[0].set_value(file).run()
        harness.fine(app)

    for content, rule in (
        (b"\xff\xfe\x00binary", "not valid UTF-8 text: byte 0"),
        (b"   \n ", "no file is there yet"),
        (b"a" * (plan_controls.LARGEST_TEXT + 1), "may have 5,000,000 characters"),
    ):
        upload(content)
        assert rule in harness.boxes(app) and button(app, "Start").disabled
    text = "the cat sat on the mat. " * 20
    upload(text.encode())
    button(app, "Start").click().run()
    harness.fine(app)
    (run,) = mine()
    assert (run.folder / "corpus.txt").read_text("utf-8") == text


def test_an_upload_comes_first_below_ones_own_text_and_nothing_is_refused_before(home):
    app = harness.open_part("training", "runs", r_corpus="mine", r_context_length="8")
    assert len(app.get("file_uploader")) == 1 and not app.error
    text = "the cat sat on the mat. " * 20
    app.get("file_uploader")[0].set_value(("cats.txt", text.encode(), "text/plain")).run()
    harness.fine(app)
    assert app.session_state["training.r_corpus"] == "file"
    assert not button(app, "Start").disabled and "cats" in captions(app)
    app = harness.open_part("training", "runs", r_corpus="file")
    assert not app.error and words.no_file in harness.boxes(app)


def test_the_weights_of_a_run_are_a_file_that_loads_again(home, trained, tmp_path):
    shutil.copytree(trained, home / "own")
    app = harness.open_part("training", "runs", run="run:own")
    harness.fine(app)
    labels = [found.proto.label for found in app.get("download_button")]
    assert words.weights in labels
    with zipfile.ZipFile(io.BytesIO(zipped(home / "own"))) as packed:
        assert {"model.safetensors", "config.json", "tokenizer.json"} <= set(packed.namelist())
        packed.extractall(tmp_path / "again")
    before, after = (load_trained(folder) for folder in (trained, tmp_path / "again"))
    for name, tensor in before.model.state_dict().items():
        assert (tensor == after.model.state_dict()[name]).all()
    app = harness.open_part("training", "runs", run="names-gpt")
    assert words.weights not in [found.proto.label for found in app.get("download_button")]


@pytest.mark.parametrize(
    "name", ["../../../escaped.txt", "/escaped.txt", "..\\escaped.txt", "<b>.txt"]
)
def test_the_name_of_an_upload_is_no_path_and_its_kind_is_looked_at(home, name):
    app = harness.open_part("training", "runs", r_corpus="file", r_context_length="8")
    for content in (
        b"\x89PNG\r\n\x1a\n\0\0",
        b"PK\x03\x04" + b"\0\xff" * 99,
        b"the cat sat. " * 40,
    ):
        app.get("file_uploader")[0].set_value((name, content, "text/plain")).run()
        harness.fine(app)
        assert button(app, "Start").disabled == (not content.startswith(b"the"))
    button(app, "Start").click().run()
    harness.fine(app)
    (run,) = mine()
    assert (run.folder / "corpus.txt").is_file() and not list(home.parent.parent.rglob("*escaped*"))


def test_a_models_own_settings_come_with_it_and_go_with_it(home):
    app = harness.open_part("training", "runs", r_recompute="2")

    def choose(model: str) -> None:
        menu = next(box for box in app.selectbox if box.label == words.labels["model"])
        menu.set_value(model).run()
        harness.fine(app)

    def recomputing() -> list[int]:
        title = words.labels["recompute"]
        return [one.value for one in app.number_input if one.label.startswith(title)]

    assert recomputing() == [2]
    choose("bigram")
    assert recomputing() == [] and not button(app, "Start").disabled
    choose("word2vec")
    assert app.session_state["training.r_tokenizer"] == "word"
    assert app.session_state["training.r_learning_rate"] == 0.03
    assert "parameters" in harness.prose_of(app) and not button(app, "Start").disabled
    choose("gru")
    assert app.session_state["training.r_tokenizer"] == "char"
    names = presets.values_of("names")
    assert app.session_state["training.r_learning_rate"] == names["learning_rate"]
    assert app.session_state["training.r_weight_decay"] == names["weight_decay"]


def test_word2vec_counts_pairs_and_its_vectors_are_shown_elsewhere(home):
    train = TrainConfig(
        steps=12, batch_size=8, warmup_steps=2, eval_every=6, eval_batches=1, weight_decay=0.0,
        learning_rate=0.03, device="cpu", dtype="float32", threads=1,
    )  # fmt: skip
    options = {"n_embd": 8, "window": 2, "negatives": 4}
    plan = Plan("word2vec", options, "tiny-world-sample", tokenizer="word", train=train)
    list(run_in_folder(home / "vectors", prepare(plan)))
    app = harness.open_part("training", "runs", run="run:vectors")
    harness.fine(app)
    drawn = harness.sent(app, "curves")
    assert drawn["axes"]["y"]["nats"] == "loss, nats per pair of words"
    assert drawn["lines"][0]["value"] == pytest.approx(5 * np.log(2))
    said = harness.prose_of(app)
    assert "</strong> per pair." in said and "5 × ln 2 = 3.466" in said
    app = harness.open_part("training", "curves", runs="run:vectors,names-gpt")
    harness.fine(app)
    drawn = harness.sent(app, "curves")
    assert "token or pair" in drawn["axes"]["y"]["nats"] and drawn["notes"]["counted"]
    button(app, "Embeddings").click().run()
    harness.fine(app)
    assert app.session_state["embeddings.model"] == "run:vectors@12"
    harness.sent(app, "vector_table")  # its rows are drawn there


# ---- kept runs


def test_a_kept_run_is_listed_watched_and_resumed(home, trained):
    shutil.copytree(trained, home / "exp" / "first")
    description = json.loads((home / "exp/first/config.json").read_text("utf-8"))
    for part in (description["train"], description["plan"]["train"]):
        part["steps"] = 60
    (home / "exp/first/config.json").write_text(json.dumps(description), "utf-8")
    app = harness.open_part("training", "runs", run="run:exp/first")
    harness.fine(app)
    assert harness.sent(app, "curves")["runs"][0]["label"] == "exp/first"
    assert "not running" in markdown(app)
    button(app, "Go on").click().run()
    harness.fine(app)
    assert MADE[0].sent[-1] == {"do": "train", "out": str(home / "exp/first")}


@pytest.mark.parametrize("name", ["run:../x", "run:nowhere", "nothing", "run:my-" + "a" * 26])
def test_a_link_to_no_run_is_one_line(home, name):
    for part, link in (("runs", {"run": name}), ("curves", {"runs": f"{name},names-bigram"})):
        app = harness.open_part("training", part, **link)
        harness.fine(app)
        assert len(app.error) == 1
    assert [run["name"] for run in harness.sent(app, "curves")["runs"]] == ["names-bigram"]


def test_a_run_that_went_wrong_or_is_damaged_says_so_in_a_line(home, trained):
    def told(part: str = "runs", **link: str) -> str:
        app = harness.open_part("training", part, **link or {"run": "run:gone"})
        harness.fine(app)
        return harness.boxes(app)

    shutil.copytree(trained, home / "gone")
    line = str(Diverged(7, 6, 2.5, 0.1, tensor="head.weight holds NaN: 3 of its 9 values"))
    write_json(home / "gone" / WRONG, {"step": 7, "line": line})
    assert line in told() and "at step 7" in line and "head.weight holds NaN" in line
    write_json(home / "gone" / WRONG, {"step": 7})
    assert "does not say what went wrong" in told()
    (home / "gone" / WRONG).unlink()
    (home / "gone/metrics.jsonl").write_text('{"step": \n', "utf-8")
    assert "damaged" in told()
    (home / "gone/config.json").write_text("[]", "utf-8")
    assert "does not hold a JSON object" in told("curves", runs="run:gone,names-gpt")


# ---- curves


def test_the_chart_is_sent_the_runs_over_every_axis_with_every_mean(home):
    link = {"axis": "tokens", "unit": "bits", "mean": "0.95", "logx": "1"}
    app = harness.open_part("training", "curves", runs="names-gru,names-bigram", **link)
    harness.fine(app)
    drawn = harness.sent(app, "curves")
    view = {"axis": "tokens", "unit": "bits", "mean": 0.95, "logx": True, "logy": False}
    assert drawn["view"] == view and set(drawn["offered"]) == set(view)
    assert drawn["weights"] == [0.5, 0.8, 0.9, 0.95, 0.98, 0.99]
    for run in drawn["runs"]:
        curve = CurveFile(engine.CHECKPOINTS / run["name"]).read()
        found = charted_runs.references_of(charted_runs.read(run["name"]))[0]
        assert run["bits"] == pytest.approx(in_unit(1.0, "bits", found.tokens_per_byte))
        assert np.allclose(run["train"], curve.train, rtol=1e-6)
        for weight, mean in zip(drawn["weights"], run["means"], strict=True):
            assert np.allclose(mean, smooth(curve.train, weight), rtol=1e-5)
        measured = ~np.isnan(curve.validation)
        assert np.allclose(run["validation"], curve.validation[measured], rtol=1e-6)
        for axis in AXES:
            assert np.allclose(run[axis], curve.column(axis), rtol=1e-6)
            assert np.allclose(run[f"v_{axis}"], curve.column(axis)[measured], rtol=1e-6)
        assert np.allclose(run["lr"], curve.lr, rtol=1e-6)
        assert np.allclose(run["grad"], curve.grad_norm, rtol=1e-5)
    own = charted_runs.references_of(charted_runs.read("names-gru"))[0]
    values = [line["value"] for line in drawn["lines"]]
    assert values == pytest.approx([own.uniform, own.unigram, own.bigram])


def test_what_the_hand_chose_on_a_chart_comes_into_the_link(home, monkeypatch):
    state = PageState("training", [*CURVES_PARAMS])
    said = {"axis": "tokens", "unit": "dots", "mean": 0.5, "logx": True, "logy": [], "more": 1}
    monkeypatch.setattr(st, "session_state", {curves.KEY: {"view": said}})
    monkeypatch.setattr(PageState, "write_address", lambda self: None)
    run_chart.take_view(state, curves.KEY, {name: name for name in OFFERED})
    taken = {name: state[name] for name in OFFERED}
    assert taken == {"axis": "tokens", "unit": "nats", "mean": 0.5, "logx": True, "logy": False}
    monkeypatch.setattr(st, "session_state", {curves.KEY: {"view": "?", "at": "x"}})
    assert view_of(curves.KEY) == {} and step_of(curves.KEY) == -1


def test_runs_that_the_hand_hid_stay_hidden_with_the_link(home, monkeypatch):
    link = {"runs": "names-gru,names-bigram,names-gpt"}
    app = harness.open_part("training", "curves", hide="names-gru,names-gpt,nobody", **link)
    harness.fine(app)
    drawn = harness.sent(app, "curves")
    assert len(drawn["runs"]) == 3  # they are there, so that a click shows them at once
    assert drawn["hidden"] == ["names-gpt"]  # the first one is what the scrubber goes through
    state = PageState("training", [*CURVES_PARAMS])
    said = {"hidden": ["names-gpt", "nobody", 3]}
    monkeypatch.setattr(
        st, "session_state", {curves.KEY: said, "training.runs": link["runs"].split(",")}
    )
    monkeypatch.setattr(PageState, "write_address", lambda self: None)
    curves._hide(state)
    assert state["hide"] == ["names-gpt"]
    st.session_state[curves.KEY] = {"hidden": "names-gpt"}
    curves._hide(state)
    assert state["hide"] == []


def test_the_lines_are_counted_on_the_runs_corpus_and_the_floor_is_the_cards(home):
    app = harness.open_part("training", "curves", runs="names-gpt")
    said = harness.prose_of(app)
    known, _ = references_again(
        charted_runs.read("names-gpt").description["plan"], engine.tokenizer("names-gpt")
    )
    for value in (known.unigram, known.bigram):
        assert f"{value:.2f}" in said
    app = harness.open_part("training", "curves", runs="tiny-world-gpt")
    (floor,) = (line for line in harness.sent(app, "curves")["lines"] if line["floor"])
    card = engine.card("tiny-world-gpt")
    assert floor["value"] == pytest.approx(card["floor"]["nats_per_token"])
    assert f"{card['score']['documents']} held-out texts" in harness.prose_of(app)


def test_many_long_runs_are_thinned_and_it_is_said(home, trained):
    record = json.loads((trained / "metrics.jsonl").read_text("utf-8").splitlines()[0])
    line = lambda i, more: json.dumps({**record, "step": i, "train_loss": 3 - i / 5000 + more})  # noqa: E731
    names, lines = [], [line(i, 0) for i in range(1, 5001)]
    for number in range(20):
        folder = home / f"long-{number}"
        shutil.copytree(trained, folder)
        lines[2344] = line(2345, number)
        (folder / "metrics.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
        names.append(f"run:long-{number}")
    app = harness.open_part("training", "curves", runs=",".join(names))
    harness.fine(app)
    drawn = harness.sent(app, "curves")
    assert len(drawn["runs"]) == 20
    assert "has up to 5,000 points" in drawn["notes"]["thinned"]
    for number, run in enumerate(drawn["runs"]):
        assert len(run["train"]) <= 2000
        if number > 1:  # the one odd point is there, in every run
            assert run["train"].max() == pytest.approx(3 - 2345 / 5000 + number)
    assert app.button and len(set(run["colour"] for run in drawn["runs"])) == 20
    app = harness.open_part("training", "curves", runs="run:long-3")
    drawn = harness.sent(app, "curves")
    assert not drawn["notes"]["thinned"] and len(drawn["runs"][0]["train"]) == 5000


def test_the_question_and_the_snippet_are_about_the_first_run(home, trained):
    shutil.copytree(trained, home / "own")
    app = harness.open_part("training", "curves", runs="names-bigram,run:own", mean="0.5")
    harness.fine(app)
    assert "names-bigram" in harness.prose_of(app)
    app = harness.open_part("training", "curves", runs="run:own,names-gpt", mean="0.5")
    ((snippet, prints),) = harness.snippets(app)
    assert harness.run_snippet(snippet).strip() == prints.strip()


# ---- checkpoints and forks


def test_a_run_has_the_lines_it_noted_and_a_step_leads_to_the_nearest_checkpoint(home, trained):
    shutil.copytree(trained, home / "own")
    app = harness.open_part("training", "curves", runs="run:own", at="14")
    harness.fine(app)
    drawn = harness.sent(app, "curves")
    assert drawn["at"] == 14
    noted = References.from_dict(charted_runs.read("run:own").description["data"]["references"])
    values = [line["value"] for line in drawn["lines"]]
    assert np.allclose(values, [noted.uniform, noted.unigram, noted.bigram])
    assert "model of step 10, the checkpoint nearest to step 14" in captions(app)
    button(app, "Sampling").click().run()
    harness.fine(app)
    assert app.session_state["shared.model"] == "run:own@10"
    assert engine.load("run:own@10").card["steps"] == 10
    assert checkpoint.nearest([10, 20, 30], 25) == 20


def test_a_fork_starts_where_the_scrubber_stands(home, trained):
    shutil.copytree(trained, home / "own")
    app = harness.open_part("training", "curves", runs="run:own", at="20")
    rate = next(box for box in app.number_input if box.label == "Learning rate")
    rate.set_value(0.5)
    button(app, "Start the fork").click().run()
    harness.fine(app)
    (run,) = mine()
    about = json.loads((run.folder / "config.json").read_text("utf-8"))
    assert about["fork"] == {"of": "own", "step": 20, "changes": {"learning_rate": 0.5}}
    drawn = harness.sent(app, "curves")["runs"]
    assert [one["name"] for one in drawn] == ["run:own", f"run:{run.name}"]
    assert len(drawn[1]["train"]) == 20
    app = harness.open_part("training", "curves", runs=f"run:{run.name}")
    assert "fork of <code>own</code> at step 20" in harness.prose_of(app)
    assert "Learning rate 0.5" in harness.prose_of(app)


def test_a_bundled_model_is_forked_at_its_end_and_that_is_said(home):
    app = harness.open_part("training", "curves", runs="names-gpt", at="3000")
    assert "only the model of the last step" in captions(app)
    assert "and a new optimizer" in captions(app)
    last = int(CurveFile(engine.CHECKPOINTS / "names-gpt").read().steps[-1])
    steps = next(box for box in app.number_input if box.label == "Steps")
    assert steps.value == 2 * last
    button(app, "Start the fork").click().run()
    harness.fine(app)
    (run,) = mine()
    about = json.loads((run.folder / "config.json").read_text("utf-8"))
    changes = {"steps": 2 * last}
    fork = {"of": "names-gpt", "step": last, "changes": changes, "fresh": True}
    assert about["fork"] == fork and steps_saved(run.folder)[0][0] == last
    app = harness.open_part("training", "curves", runs=f"run:{run.name}")
    assert "with a new optimizer" in harness.prose_of(app)
    assert len(harness.sent(app, "curves")["runs"][0]["train"]) == len(read_metrics(run.folder))


def test_each_part_of_a_model_made_in_parts_is_told():
    recipe = RECIPES["tiny-world-gpt"]
    told = harness.prose_of(harness.open_part("training", "curves", runs="tiny-world-gpt"))
    ends = [recipe.plan.train.steps, *(part["steps"] for part in recipe.then[:-1])]
    for ordinal, step in zip(("first", "second", "third"), ends, strict=True):
        assert f"{ordinal} part</code> at step {step:,}" in told
    for part in recipe.then:
        assert f"From there on {percent(part['exercises'])} of the steps are exercises" in told
    assert told.count("ask who has what. Only") == 1
    assert told.count("ask how big a thing is") == told.count("ask who has what, how big") == 1


# ---- the component's own checks


def column(n):
    return np.arange(n, dtype=float)


def made(**changes):
    run = RunCurve(
        "a", "a", 0, 1.0, *(column(4) for _ in range(4)), column(8).reshape(2, 4),
        {"steps": column(2)}, column(2), *(column(4) for _ in range(3)),
    )  # fmt: skip
    return dataclasses.replace(run, **changes)


@pytest.mark.parametrize(
    "changes", [{"train": column(3)}, {"means": column(4)}, {"validation": column(1)}]
)
def test_arrays_that_do_not_fit_are_refused(changes):
    with pytest.raises(ValueError):
        run_payload(made(**changes), 2)
    with pytest.raises(ValueError, match="main must name"):
        curves_payload([made()], {}, {}, main=1, weights=(0.5, 0.9))
    with pytest.raises(ValueError, match="a chart offers"):
        curves_payload([made()], {}, {}, offered=("colour",))


def test_a_number_beyond_float32_can_be_sent():
    beyond = made(grad_norm=np.array([1, 2, np.inf, 1e300]))
    lines = [Line("floor", 1.0, True)]
    payload = curves_payload([beyond], {}, {}, lines=lines, weights=(0.5, 0.9))
    assert np.isfinite(run_payload(beyond, 2)["grad"]).all()
    assert payload["lines"] == [{"label": "floor", "value": 1.0, "floor": True}]


def test_private_runs_of_others_are_not_listed(home, trained):
    other = store.new_private_folder()
    shutil.copytree(trained, other)
    assert not any(other.name in name for name in charted_runs.available())
    app = harness.open_part("training", "curves", runs=f"run:{other.name}")
    harness.fine(app)  # who has the link can look at it
    assert harness.sent(app, "curves")["runs"][0]["label"] == "a visitor's run"


def test_a_chart_that_was_watched_is_not_covered_when_its_run_ends(ready, covers, monkeypatch):
    app = harness.open_part("training", "curves")
    assert not harness.unpack_all(app, "curves")  # never watched, it waits for the answer
    with monkeypatch.context() as training:
        training.setattr(charted_runs, "is_growing", lambda name: name == "names-gpt")
        app.run()
        assert harness.unpack_all(app, "curves")
    app.run()
    assert harness.unpack_all(app, "curves") and not harness.unpack_all(app, "draw_on")


def test_a_run_that_cannot_work_is_found_out_once(monkeypatch):
    """Its corpus is 20,000 pairs of sentences, which another rerun does not make again."""
    from llmviz.training import plan

    made, own = [], plan.documents_of
    monkeypatch.setattr(plan, "documents_of", lambda *a, **k: made.append(a) or own(*a, **k))
    link = {"r_model": "seq2seq-rnn", "r_corpus": "pairs", "r_tokenizer": "bpe"}
    app = harness.open_part("training", "runs", **link, r_steps="17")
    assert any("translation needs the tokenizer" in one.value for one in app.error)
    first = len(made)
    app.run()
    assert any("translation needs the tokenizer" in one.value for one in app.error)
    assert len(made) == first <= 1


# ---- what a model was along its training


def test_the_film_stands_beside_a_run_that_kept_weights(home, trained):
    app = harness.open_part("training", "runs", film_text="anna", film_head="3", film_asking="2")
    harness.fine(app)
    film = harness.sent(app, "run_film")
    assert film["steps"] == list(STEPS) and (film["head"], film["asking"]) == (3, 2)
    assert film["tokens"] == ["⏎", *"anna"] and len(film["names"]) == 8
    shape = (len(STEPS), 8, 5, 5)
    assert film["cells"].shape == shape
    assert np.abs(film["cells"].astype(int).sum(-1) - 255).max() <= 3  # rounded shares
    assert set(film["labels"]) == set(string.ascii_lowercase)
    assert film["points"].shape == (len(STEPS), 26, 2)
    assert [len(texts) for texts in film["texts"]] == [run_film.TEXTS] * len(STEPS)
    shown = harness.snippets(app)
    assert len(shown) == 2
    for code, output in shown:
        assert harness.run_snippet(code).strip() == output.strip()
    (store.root() / "mine").parent.mkdir(parents=True, exist_ok=True)
    shutil.copytree(trained, store.root() / "mine")
    app = harness.open_part("training", "runs", run="run:mine", film_head="99")
    harness.fine(app)
    film = harness.sent(app, "run_film")
    assert film["steps"] == [10, 20, 30] and film["head"] == 0
    assert film["asking"] == len(film["tokens"]) - 1
    app = harness.open_part("training", "runs", run="names-gru")  # it kept its last weights alone
    harness.fine(app)
    assert not harness.unpack_all(app, "run_film")


@pytest.mark.parametrize("text", ["", "ß 🙂", "a" * 99, "<b>x</b>"])
def test_heads_read_what_was_typed_as_far_as_they_can(home, text):
    app = harness.open_part("training", "curves", show="1", film_text=text)
    harness.fine(app)
    film = harness.sent(app, "run_film")
    assert 1 < len(film["tokens"]) <= run_film.LONGEST


ANN, BOB = "ann", "bob"
ACTS = (words.pause, words.stop, words.go_on, words.keep_button, words.delete)


@pytest.fixture
def looks(home, monkeypatch):
    """Returns what a visitor is offered on the page of a run, and reads beside it."""

    def offered(visitor: str, name: str) -> tuple[set[str], str]:
        monkeypatch.setattr(runs, "visitor", lambda: visitor)
        app = open_part("training", "runs", run=store.PREFIX + name)
        fine(app)
        labels = {button.label for button in app.button}
        return labels & set(ACTS), " ".join(block.value for block in app.caption)

    return offered


def test_a_run_offers_each_visitor_only_buttons_that_work(home, trained, looks):
    manager = runs.manager()
    manager._life.visitors.here = lambda owner: True  # both have their window open
    run = manager.start(ANN, small_plan(small_training(steps=60)))
    shutil.copytree(trained, run.folder, dirs_exist_ok=True)
    MADE[0].says("begun", step=1)
    assert looks(ANN, run.name)[0] == {words.pause, words.stop, words.keep_button}
    buttons, captions = looks(BOB, run.name)
    assert buttons == set() and words.watching in captions
    manager.keep(run.name, ANN, "kept")
    MADE[0].ends("stopped")
    assert manager.run("kept").active

    assert looks(ANN, "kept")[0] == {words.pause, words.stop}
    buttons, captions = looks(BOB, "kept")
    assert buttons == set() and words.watching_kept in captions

    manager.pause("kept", ANN)
    assert looks(ANN, "kept")[0] == set()  # it is being saved
    MADE[0].ends("stopped")
    for visitor in (ANN, BOB):
        assert looks(visitor, "kept")[0] == {words.go_on}

    manager.resume("kept", BOB)  # who continues it, has it
    assert looks(BOB, "kept")[0] == {words.pause, words.stop}
    buttons, captions = looks(ANN, "kept")
    assert buttons == set() and words.watching_kept in captions

    folder = store.new_private_folder()  # of a visit that the server does not know
    shutil.copytree(trained, folder)
    assert looks(BOB, folder.name)[0] == set()


def test_another_visitors_run_is_forked_only_once_it_is_kept(home, trained, monkeypatch):
    run = runs.manager().start(ANN, small_plan(small_training(steps=60)))
    shutil.copytree(trained, run.folder, dirs_exist_ok=True)

    def forks(visitor: str, name: str) -> bool:
        monkeypatch.setattr(runs, "visitor", lambda: visitor)
        app = open_part("training", "curves", runs=store.PREFIX + name)
        fine(app)
        return curves_words.fork_start in {button.label for button in app.button}

    assert forks(ANN, run.name) and not forks(BOB, run.name)
    shutil.copytree(trained, home / "kept")
    assert forks(BOB, "kept")
