"""What was not as it should be when a model was loaded stands where the model is picked."""

from __future__ import annotations

import shutil

import pytest

from llmviz.training.run_folder import load_trained
from tests.pages.harness import fine, open_part
from tests.training.tampered import healthy, says

# Each place where a visitor picks a model: the lesson, the chapter, the control, what else is set.
PICKERS = [
    ("sampling", "pipeline", "model", {}),
    ("sampling", "writing", "model", {}),
    ("sampling", "beam", "small", {}),
    ("training", "loss", "reader", {}),
    ("training", "backprop", "pupil", {"how": "trained"}),
    ("attention", "trained", "model", {}),
    ("attention", "heads", "model", {}),
    ("attention", "heads", "model", {"source": "model"}),
    ("attention", "masks", "model", {"source": "model"}),
    ("attention", "steps", "model", {"source": "model"}),
    ("embeddings", "lookup", "model", {}),
    ("embeddings", "ways", "placed", {"placing": "learned"}),
    ("embeddings", "ways", "placed", {"placing": "sinusoidal"}),
    ("transformer", "block", "model", {"of": "model"}),
    ("transformer", "units", "model", {}),
    ("transformer", "stream", "model", {}),
    ("transformer", "residuals", "model", {}),
    ("transformer", "patching", "model", {}),
    ("discoveries", "circuit", "model", {}),
]


@pytest.fixture
def run(tmp_path, monkeypatch):
    """A kept run whose newest checkpoint is damaged: step 20 of 10 and 20."""
    monkeypatch.setenv("LLMVIZ_RUNS", str(tmp_path / "runs"))
    folder = healthy(tmp_path / "runs" / "mine")
    says("data", "corpus", value="tiny-world")(folder)
    saved = folder / "checkpoints"
    shutil.copytree(saved / "step-000020", saved / "step-000010")
    weights = saved / "step-000020" / "model.safetensors"
    raw = weights.read_bytes()
    weights.unlink()  # other files may be this one, too
    weights.write_bytes(raw[:-1] + bytes([raw[-1] ^ 1]))
    (note,) = load_trained(folder).notes
    assert "is damaged" in note and "step 10 is used instead" in note
    return folder


def noted(app):
    said = [one.value.replace("\\", "") for one in app.warning]
    return [line for line in said if "is damaged" in line]


@pytest.mark.parametrize(("lesson", "part", "key", "more"), PICKERS)
def test_a_note_of_loading_stands_once_where_the_model_is_picked(
    bundle, run, lesson, part, key, more
):
    app = open_part(lesson, part, **{key: "run:mine"}, **more)
    fine(app)
    (line,) = noted(app)
    assert "the checkpoint of step 10 is used instead" in line
    assert str(run.parent) not in line  # where the server keeps its runs is nobody's business


@pytest.mark.parametrize(("lesson", "part", "key", "more"), PICKERS)
def test_where_nothing_is_noted_nothing_is_said(bundle, run, lesson, part, key, more):
    shutil.rmtree(run / "checkpoints" / "step-000020")
    app = open_part(lesson, part, **{key: "run:mine"}, **more)
    fine(app)
    assert noted(app) == []


@pytest.mark.parametrize(("lesson", "part", "key", "more"), PICKERS)
def test_a_model_that_cannot_be_loaded_is_one_line_where_it_is_picked(
    bundle, run, lesson, part, key, more
):
    for folder in (run / "checkpoints").iterdir():
        (folder / "model.safetensors").unlink()
        (folder / "model.safetensors").write_bytes(b"damaged")
    app = open_part(lesson, part, **{key: "run:mine"}, **more)
    fine(app)
    assert any("is damaged" in one.value.replace("\\", "") for one in app.error)
