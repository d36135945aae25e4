"""What a fine-tuning left is read by every command, and is what the training had in memory."""

import io
import json
import shutil
import sys
from pathlib import Path

import pytest
import torch

import llmviz
from llmviz.finetuning.classifier import encode, predict
from llmviz.finetuning.runs import load_tuning
from llmviz.finetuning.tuned_classes import load_classes
from llmviz.nn.lora import lora_layers
from llmviz.training.files import read_json, write_json
from tests.finetuning.test_runs import SMALL
from tests.test_cli import FAST, call, refused

TEXTS = ["It was Saturday, and Ada the cook felt glad.", "The owl was still.", "x"]


@pytest.fixture
def tuned(capsys, tmp_path, small_tasks):
    """Fine-tune for a task, in a way, in two steps; returns the folder."""

    def tune(task: str, way: str) -> str:
        out = str(tmp_path / f"{task}-{way}")
        given = ["finetune", "--task", task, "--way", way, "--out", out, *SMALL, "--steps", "2"]
        code, _, err = call(capsys, *given, "--lr", "0.01")
        assert code == 0, err
        return out

    return tune


@pytest.mark.parametrize(
    ("task", "way"),
    [("instructions", "lora"), ("instructions", "all"), ("happier", "lora"), ("rules", "lora")],
)
def test_a_model_that_writes_is_the_one_that_was_trained(tuned, task, way):
    folder = tuned(task, way)
    model = llmviz.load(folder)
    trained = load_tuning(folder).body
    assert not lora_layers(model.module)  # plain matrices, with the change in them
    idx = torch.tensor([model.tokenizer.encode_from_start(TEXTS[0])])
    with torch.no_grad():
        torch.testing.assert_close(model.logits(TEXTS[0]), trained(idx)[0][0], atol=1e-4, rtol=1e-4)
        before = llmviz.load("tiny-world-gpt")  # the small one of this test
    if before.module.config == model.module.config:
        assert (before.module.blocks[0].attn.qkv.weight - model.module.blocks[0].attn.qkv.weight
                ).abs().max() > 0  # fmt: skip


def test_every_command_reads_it(tuned, capsys, tmp_path):
    folder = tuned("instructions", "lora")
    (tmp_path / "text.txt").write_text("\n\n".join(TEXTS[:2] * 40), encoding="utf-8")
    text = str(tmp_path / "text.txt")
    copy, more = str(tmp_path / "copy"), str(tmp_path / "more")
    for line in (
        ["generate", "--checkpoint", folder, "--tokens", "2"],
        ["eval", "--checkpoint", folder, "--corpus", text],
        ["checkpoints", "score", folder, "--probes", "2"],
        ["quantize", folder, "--group", "8", "--documents", "0", "--out", str(tmp_path / "small")],
        ["train", "--from", folder, "--corpus", text, "--out", more, "--steps=1", *FAST,
         "--context-length=16"],
        ["finetune", "--base", folder, "--task", "rules", *SMALL, "--steps", "1", "--out",
         str(tmp_path / "again")],
        ["finetune", "--base", more, "--task", "happier", *SMALL, "--steps", "1", "--out",
         str(tmp_path / "third")],
    ):  # fmt: skip
        code, _, err = call(capsys, *line)
        assert code == 0, (line, err)
    llmviz.load(folder).save(copy)
    for one in (copy, more, *(str(tmp_path / name) for name in ("small", "again", "third"))):
        assert call(capsys, "generate", "--checkpoint", one, "--tokens", "2")[0] == 0


def test_the_lessons_offer_it(tuned, tmp_path, monkeypatch):
    from llmviz.course.ui import engine
    from llmviz.course.ui.model_picker import attends
    from llmviz.course.ui.selectable_models import offered

    monkeypatch.setenv("LLMVIZ_RUNS", str(tmp_path))
    folders = tuned("instructions", "lora"), tuned("about", "head")
    names = [f"run:{Path(one).name}" for one in folders]
    assert names[0] in offered(attends) and names[1] not in offered(attends)
    card, bundled = engine.card(names[0]), engine.load(names[0])
    assert (card["model"], card["steps"]) == ("gpt", 2)
    model = llmviz.load(folders[0])
    idx = torch.tensor([model.tokenizer.encode_from_start(TEXTS[0])])
    with torch.no_grad():
        assert torch.equal(bundled.model(idx)[0][0], model.logits(TEXTS[0]))


@pytest.mark.parametrize("way", ["head", "last", "lora"])
def test_a_classifier_tells_the_classes_that_it_learned(tuned, capsys, tmp_path, monkeypatch, way):
    folder = tuned("about", way)
    tuning = load_tuning(folder)
    ids = encode(tuning.run.tokenizer, TEXTS, tuning.model.context_length)
    expected = predict(tuning.model, ids)
    names = read_json(tmp_path / f"about-{way}" / "config.json")["data"]["classes"]
    (tmp_path / "texts.txt").write_text("\n\n".join(TEXTS), encoding="utf-8")
    file = ["--file", str(tmp_path / "texts.txt")]
    code, out, _ = call(capsys, "classify", "--checkpoint", folder, *file, "--json")
    lines = [json.loads(line) for line in out.splitlines()]
    assert code == 0 and [line["text"] for line in lines] == TEXTS
    for line, row in zip(lines, expected, strict=True):
        assert list(line["probabilities"]) == names
        assert list(line["probabilities"].values()) == pytest.approx(row.tolist(), abs=1e-5)
        assert line["class"] == names[int(row.argmax())]
    data = io.BytesIO("\r\n".join(TEXTS).encode())
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(data))
    assert call(capsys, "classify", "--checkpoint", folder, "-", "--json")[1] == out
    code, table, _ = call(capsys, "classify", "--checkpoint", folder, TEXTS[0])
    assert code == 0 and lines[0]["class"] in table and f"{expected[0].max():.4f}" in table
    line = refused(capsys, "generate", "--checkpoint", folder)
    assert "holds a classifier; `classify` reads it" in line


def test_what_is_no_classifier_and_what_is_damaged_is_one_line(tuned, capsys, tmp_path):
    folder = tuned("about", "head")
    line = ["classify", "--checkpoint"]
    assert "give a text, or --file" in refused(capsys, *line, folder)
    assert "give a text, or --file" in refused(capsys, *line, folder, "x", "--file", "y")
    assert "cannot be read" in refused(capsys, *line, folder, "--file", str(tmp_path / "no.txt"))
    assert "lone surrogate" in refused(capsys, *line, folder, "a\ud83d")
    (tmp_path / "empty.txt").write_text("\n \n", encoding="utf-8")
    empty = ["--file", str(tmp_path / "empty.txt")]
    assert "no text to classify" in refused(capsys, *line, folder, *empty)
    assert "is no classifier" in refused(capsys, *line, "names-gpt", "x")
    assert "nearest are" in refused(capsys, *line, "nowhere", "x")
    other = tmp_path / "other"
    shutil.copytree(folder, other)
    config = read_json(other / "config.json")
    for broken, words in (
        ({"data": {}}, "does not name its classes"),
        ({"plan": {"colour": 1}}, "describes no fine-tuning"),
        ({"base": {"name": "x", "sha256": "0"}}, "is not the one that"),
        ({"data": {"classes": ["a", "b", "c", "d", "e", "f", "g"]}}, "another model"),
    ):
        write_json(other / "config.json", config | broken)
        assert words in refused(capsys, *line, str(other), "x"), broken
    with pytest.raises(ValueError, match="tells no classes apart"):
        load_classes(Path(tuned("rules", "lora")))


def test_a_folder_of_another_kind_is_refused_in_one_line_and_nothing_is_written(
    tuned, capsys, tmp_path
):
    """Each kind of folder before each command that reads another."""
    (tmp_path / "text.txt").write_text(TEXTS[0] * 20, encoding="utf-8")
    tuning, classes = tuned("instructions", "lora"), tuned("about", "head")
    out = str(tmp_path / "out")
    assert call(capsys, "export", "tiny-world-gpt", "--out", str(tmp_path / "hf"))[0] == 0
    for name in ("empty", "notes"):
        (tmp_path / name).mkdir()
    (tmp_path / "notes" / "config.json").write_text("{}", encoding="utf-8")
    kinds = {
        "classifier": classes,
        "checkpoint": f"{tuning}/checkpoints",
        "empty": str(tmp_path / "empty"),
        "other files": str(tmp_path / "notes"),
        "a file": str(tmp_path / "text.txt"),
    }
    lines = {
        "generate": ["generate", "--tokens", "2", "--checkpoint"],
        "eval": ["eval", "--corpus", str(tmp_path / "text.txt"), "--checkpoint"],
        "serve": ["serve", "--checkpoint"],
        "quantize": ["quantize", "--out", out],
        "export": ["export", "--out", out],
        "gguf": ["export", "--to", "gguf", "--out", out],
        "finetune": ["finetune", "--task", "rules", *SMALL, "--out", out, "--base"],
        "train": ["train", "--corpus", str(tmp_path / "text.txt"), "--out", out, *FAST, "--from"],
        "classify": ["classify", "x", "--checkpoint"],
        "score": ["checkpoints", "score"],
    }
    for command, line in lines.items():
        for kind, folder in kinds.items():
            if (command, kind) != ("classify", "classifier"):
                refused(capsys, *line, folder)
                assert not Path(out).exists(), (command, kind)
    for kind in (str(tmp_path / "hf"), tuning):
        refused(capsys, *lines["classify"], kind)
