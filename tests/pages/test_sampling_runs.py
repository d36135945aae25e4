"""The lesson on sampling with the learner's own runs: chosen, and deleted while chosen."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from llmviz.course.ui import engine
from llmviz.course.ui.model_picker import MODEL
from llmviz.sampling import sampling_steps
from llmviz.training import TrainConfig, run_folders
from llmviz.training.plan import Plan, prepare
from llmviz.training.runs import run_in_folder
from tests.pages.conftest import use
from tests.pages.harness import boxes, fine, open_page, open_part, run_snippet, sent, snippets
from tests.pages.small_model import logits_of, make_checkpoint

PROMPT = "Mila found a ball"


def test_run_deleted_while_selected_is_replaced_and_said(folder, tmp_path, monkeypatch):
    shutil.copytree(folder / "tiny-world-gpt", tmp_path / "tiny-world-gpt")
    make_checkpoint(tmp_path, "mine")
    use(monkeypatch, tmp_path)
    app = open_page("sampling", prompt=PROMPT, model="mine")
    fine(app)
    shutil.rmtree(tmp_path / "mine")
    app.text_area[0].set_value(PROMPT + " and").run()
    fine(app)
    assert "mine cannot be used here" in boxes(app)
    sent(app, "sampler")
    (tmp_path / "tiny-world-gpt" / "model.safetensors").unlink()  # half of it deleted
    app.text_area[0].set_value(PROMPT).run()
    fine(app)
    assert "no model.safetensors" in boxes(app)


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A run that was really trained."""
    settings = TrainConfig(steps=2, warmup_steps=1, snapshot_every=2, eval_batches=1, threads=1)
    plan = Plan(model="gru", model_options={"n_embd": 8}, corpus="names", train=settings)
    folder = tmp_path_factory.mktemp("trained") / "kept"
    list(run_in_folder(folder, prepare(plan)))
    return folder


@pytest.fixture
def runs(kept, tmp_path, monkeypatch):
    """The folder of runs with a kept one, and another visitor's private one."""
    home = tmp_path / "runs"
    monkeypatch.setenv("LLMVIZ_RUNS", str(home))
    for folder in (home / "kept", run_folders.new_private_folder()):
        shutil.copytree(kept, folder)
    return home


def private(home) -> str:
    (folder,) = (home / run_folders.SESSIONS).iterdir()
    return f"run:{folder.name}"


def test_kept_runs_are_offered_and_those_of_others_are_not(bundle, runs):
    app = open_page("sampling", prompt="ann")
    fine(app)
    (menu,) = (box for box in app.selectbox if box.label == MODEL)
    assert menu.options == ["tiny-world-gpt", "kept"]
    menu.select("run:kept").run()
    fine(app)
    board = sent(app, "sampler")
    run = engine.load("run:kept")
    control = board["controls"][0]
    expected = sampling_steps(logits_of(run, "ann")).model_probabilities[board["ids"]]
    assert np.allclose(control["probabilities"][control["at"], 0], expected, atol=1e-6)
    for snippet, prints in snippets(app):
        assert run_snippet(snippet).strip() == prints.strip()


@pytest.mark.parametrize("part", ["dice", "writing", "temperature", "beam", "knows"])
def test_every_chapter_takes_a_run(bundle, runs, part):
    fine(open_part("sampling", part, prompt="ann", model="run:kept", small="run:kept"))


def test_a_private_run_shows_to_who_has_its_link_until_it_is_deleted(bundle, runs):
    name = private(runs)
    app = open_page("sampling", prompt="ann", model=name)
    fine(app)
    assert "cannot be used here" not in boxes(app)
    (menu,) = (box for box in app.selectbox if box.label == MODEL)
    assert menu.value == name
    assert any("gru on names" in option for option in menu.options)
    run_folders.discard(run_folders.find_run(name))
    app.text_area[0].set_value("bob").run()
    fine(app)
    assert f"{name} cannot be used here" in boxes(app)
    (menu,) = (box for box in app.selectbox if box.label == MODEL)
    assert menu.value == "tiny-world-gpt"
    app.run()
    assert "cannot be used here" not in boxes(app)
