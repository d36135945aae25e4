"""Models by name, runs of one's own among them, and turns: loading behind the first paint."""

from __future__ import annotations

import copy
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import pytest
import streamlit as st
import torch
from torch import nn

from llmviz.course.ui import engine, runs, selectable_models
from llmviz.course.ui.engine import Turns, take_turns
from llmviz.course.ui.selectable_models import bundled_fitting
from llmviz.runs import store
from llmviz.training import TrainConfig
from llmviz.training.plan import Plan, prepare
from llmviz.training.run_folder import run_in_folder
from tests.pages.small_model import make_checkpoint


def test_importing_and_asking_needs_no_torch_and_a_visitor_gets_one_thread(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    code = (
        "import sys\n"
        "from llmviz.course.ui import engine\n"
        "assert not engine.ready() and engine.problem() == ''\n"
        "engine.names()\n"
        "assert 'torch' not in sys.modules\n"
        "engine.start()\n"
        "assert engine.wait(120) and 'torch' in sys.modules\n"
        "assert 'torch' in engine.device()\n"
        "assert sys.modules['torch'].get_num_threads() == 1\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=180)


def test_a_visitor_gets_as_many_threads_as_are_asked_for(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    code = "from llmviz.course.ui import engine\nimport torch\nprint(torch.get_num_threads())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=180)
    assert int(done.stdout) == 2


def test_starting_twice_loads_once():
    loader = engine.Loader(("json",))
    loader.start()
    first = loader._thread
    assert loader.wait(20) and loader.ready()
    loader.start()
    assert loader._thread is first


def test_a_failure_is_told_and_can_be_tried_again():
    loader = engine.Loader(("json", "no_such_module_here"))
    assert not loader.wait(0)
    loader.start()
    assert not loader.wait(20)
    assert "no_such_module_here cannot be loaded" in loader.problem
    loader.modules = ("json",)
    loader.start()
    assert loader.wait(20) and loader.problem == ""


def test_models_by_name(monkeypatch, tmp_path):
    monkeypatch.setattr(engine, "CHECKPOINTS", tmp_path)
    monkeypatch.setattr("llmviz.pretrained.CHECKPOINTS", tmp_path)
    assert engine.names() == []
    make_checkpoint(tmp_path, "b")
    make_checkpoint(tmp_path, "a")
    assert engine.names() == ["a", "b"]
    loaded = engine.load("a")
    assert loaded is engine.load("a")
    assert not loaded.model.training
    assert not any(parameter.requires_grad for parameter in loaded.model.parameters())
    assert engine.tokenizer("a").encode("the") == loaded.tokenizer.encode("the")
    for ask in (engine.load, engine.tokenizer, engine.card):
        with pytest.raises(ValueError, match="c"):
            ask("c")


@pytest.mark.parametrize("content", ["{", "[]", json.dumps({"parameters": "many"})])
def test_a_damaged_card_is_one_line(monkeypatch, tmp_path, content):
    monkeypatch.setattr(engine, "CHECKPOINTS", tmp_path)
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "card.json").write_text(content, "utf-8")
    with pytest.raises(ValueError, match="card of a") as caught:
        engine.card("a")
    assert "\n" not in str(caught.value)


def test_the_bundled_models_are_asked_once_for_each_state_of_their_cards(monkeypatch, tmp_path):
    monkeypatch.setattr(engine, "CHECKPOINTS", tmp_path)
    asked = []

    def fits(card):
        asked.append(card["model"])
        return card["model"] == "gpt"

    def write(name, model):
        (tmp_path / name).mkdir(exist_ok=True)
        (tmp_path / name / "card.json").write_text(f'{{"model": "{model}", "parameters": 1}}')

    write("b", "gpt")
    write("a", "rnn")
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "card.json").write_text("{")  # a damaged one is not offered
    for _ in range(3):
        assert [name for name, _ in bundled_fitting(fits)] == ["b"]
    assert sorted(asked) == ["gpt", "rnn"]
    write("a", "gpt")
    os.utime(tmp_path / "a" / "card.json", ns=(1, 1))  # written at another time
    assert [(name, card["model"]) for name, card in bundled_fitting(fits)] == [
        ("a", "gpt"),
        ("b", "gpt"),
    ]


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
    mine, other, empty = (store.new_private_folder() for _ in range(3))
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
    read, own = [], store.description_of
    monkeypatch.setattr(
        store, "description_of", lambda folder: read.append(folder.name) or own(folder)
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


class Counting(nn.Module):
    """Notes how many are inside at once; fails where it is told to; may call another."""

    def __init__(self, inner: nn.Module | None = None) -> None:
        super().__init__()
        self.inner = inner
        self.inside = self.most = 0
        self._lock = threading.Lock()

    def forward(self, x: torch.Tensor, fails: bool = False) -> torch.Tensor:
        with self._lock:
            self.inside += 1
            self.most = max(self.most, self.inside)
        try:
            time.sleep(0.005)
            if fails:
                raise ValueError("it fails")
            return x if self.inner is None else self.inner(x)
        finally:
            with self._lock:
                self.inside -= 1


def run_all(model: nn.Module, threads: int, timeout: float = 30.0) -> None:
    workers = [threading.Thread(target=model, args=(torch.zeros(1),)) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(timeout)
        assert not worker.is_alive()


@pytest.mark.parametrize("at_once", [1, 2])
def test_as_many_at_once_as_there_are_turns(at_once):
    model = take_turns(Counting(), Turns(at_once))
    run_all(model, 8)
    assert model.most == at_once


def test_without_turns_all_are_inside():
    model = Counting()
    run_all(model, 8)
    assert model.most > 2


def test_a_pass_that_fails_gives_its_turn_back():
    model = take_turns(Counting(), Turns(1))
    for _ in range(3):
        with pytest.raises(ValueError, match="it fails"):
            model(torch.zeros(1), fails=True)
    run_all(model, 2)


def test_a_pass_within_a_pass_does_not_wait_for_itself():
    one = Turns(1)
    model = take_turns(Counting(take_turns(Counting(), one)), one)
    run_all(model, 3)


def test_a_loaded_model_takes_turns_and_so_does_its_copy():
    model = engine.load("names-mlp").model
    for one in (model, copy.deepcopy(model)):
        assert engine.TURNS.begin in one._forward_pre_hooks.values()
        assert engine.TURNS.end in one._forward_hooks.values()


def test_a_menu_calls_a_run_as_its_own_page_does(monkeypatch):
    plan = {"model": "gru", "corpus": "names"}
    run = SimpleNamespace(kept=False, number=3, plan=plan)
    monkeypatch.setattr(selectable_models, "card_of", lambda name: plan)
    name = f"run:my-{'a' * 26}"
    for known, called in ((run, runs.label(run)), (None, "my run: gru on names (aaaa)")):
        monkeypatch.setattr(runs, "known", lambda _, known=known: known)
        selectable_models.label.cache_clear()
        assert selectable_models.label(name) == called
        assert selectable_models.label(f"{name}@20") == f"{called}, step 20"
    selectable_models.label.cache_clear()
