"""Runs of one's own among the models: by name, private ones only to who knows them."""

from __future__ import annotations

import json
import os
import shutil
from types import SimpleNamespace

import pytest
import streamlit as st

from llmviz.course.ui import engine, runs, selectable_models
from llmviz.training import TrainConfig, run_folders
from llmviz.training.plan import Plan, prepare
from llmviz.training.runs import run_in_folder


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    settings = TrainConfig(steps=4, warmup_steps=1, snapshot_every=2, eval_batches=1, threads=1)
    plan = Plan(model="gru", model_options={"n_embd": 8}, corpus="names", train=settings)
    list(run_in_folder(folder / "kept", prepare(plan)))
    return folder


@pytest.fixture
def home(made, tmp_path, monkeypatch):
    home = tmp_path / "runs"
    shutil.copytree(made, home)
    monkeypatch.setenv("LLMVIZ_RUNS", str(home))
    return home


def test_own_runs_come_before_kept_ones_and_others_runs_do_not_show(home, monkeypatch):
    mine, other, empty = (run_folders.new_private_folder() for _ in range(3))
    for folder in (mine, other):
        shutil.copytree(home / "kept", folder)
    empty.mkdir()
    (home / "unfinished").mkdir()
    shutil.copy(home / "kept" / "config.json", home / "unfinished")
    monkeypatch.setattr(st, "session_state", {})
    listed = [SimpleNamespace(name=name) for name in (mine.name, empty.name, "gone")]
    monkeypatch.setattr(runs, "mine", lambda: listed)
    assert engine.own() == [f"run:{mine.name}", "run:kept"]
    for asked, first in (
        (f"run:{other.name}", [f"run:{other.name}"]),  # who has the link has the name
        ("run:kept@2", ["run:kept@2"]),
        ("run:kept@3", []),
        ("run:../x", []),
        ("names-gpt", []),
    ):
        st.session_state[engine.ASKED_MODEL] = asked
        assert engine.own() == [*first, f"run:{mine.name}", "run:kept"]


def test_of_many_runs_a_page_reads_the_newest_hundred_once(home, monkeypatch):
    about = {name: (home / "kept" / name).read_bytes() for name in ("config.json", "metrics.jsonl")}
    for number in range(runs.SHOWN + 20):
        folder = home / f"many-{number:03}"
        folder.mkdir()
        for name in ("tokenizer.json", "model.safetensors"):
            (folder / name).touch()
        for name, content in about.items():
            (folder / name).write_bytes(content)
            os.utime(folder / name, (2_000 + number, 2_000 + number))
    os.utime(home / "kept" / "config.json", (1, 1))
    monkeypatch.setattr(st, "session_state", {})
    read, own = [], run_folders.description_of
    monkeypatch.setattr(
        run_folders, "description_of", lambda folder: read.append(folder.name) or own(folder)
    )
    names = selectable_models.offered(lambda card: True)
    assert names == [f"run:many-{number:03}" for number in reversed(range(20, runs.SHOWN + 20))]
    assert len(read) == runs.SHOWN
    assert selectable_models.offered(lambda card: True) == names and len(read) == runs.SHOWN
    st.session_state[runs.SEARCH] = " KEPT"
    assert selectable_models.offered(lambda card: True) == ["run:kept"]
    st.session_state[runs.SEARCH] = "many-00"
    found = [f"run:many-00{number}" for number in reversed(range(10))]
    assert selectable_models.offered(lambda card: True) == found
    assert selectable_models.offered(lambda card: True, "run:kept") == [*found, "run:kept"]
    record = json.loads(about["metrics.jsonl"].splitlines()[-1])
    longer = json.dumps({**record, "step": 9}).encode()
    (home / "many-000" / "metrics.jsonl").write_bytes(about["metrics.jsonl"] + longer + b"\n")
    assert engine.card("run:many-000")["steps"] == 9


def test_card_tokenizer_and_model_of_a_run(home):
    assert engine.card("run:kept")["steps"] == 4
    loaded = engine.load("run:kept")
    assert loaded is engine.load("run:kept") and not loaded.model.training
    assert loaded.name == "run:kept"
    assert engine.tokenizer("run:kept").encode("ann") == loaded.tokenizer.encode("ann")
    early = engine.load("run:kept@2")
    assert early is not loaded and early.card["steps"] == 2
    for ask in (engine.load, engine.card, engine.tokenizer):
        with pytest.raises(ValueError, match="no run"):
            ask("run:nowhere")
    with pytest.raises(ValueError, match="step 3"):
        engine.load("run:kept@3")
