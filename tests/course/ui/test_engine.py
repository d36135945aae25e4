"""Loading behind the first paint, and the bundled models by name."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from llmviz.course.ui import engine
from llmviz.course.ui.selectable_models import bundled_fitting
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
