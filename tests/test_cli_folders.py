"""`train` and its folder: what a refused run leaves, and what may be said when one goes on."""

import dataclasses
import io
import json
import shutil
import sys

import pytest
import torch
from safetensors.torch import load_file

from llmviz import cli
from llmviz.cli import train
from llmviz.training import TrainConfig, load_checkpoint, recipes
from tests.test_cli import FAST, SMALL, call, refused


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "any.txt"
    path.write_text("The cat sat on the mat. The dog sat on the cat.\n" * 60, encoding="utf-8")
    return path


@pytest.fixture
def line(text, tmp_path):
    """A command that trains in a moment, and its folder."""
    out = tmp_path / "run"
    given = ["train", "--corpus", str(text), "--out", str(out), "--steps", "4", *FAST, *SMALL]
    return given, out


@pytest.mark.parametrize(
    "mistake",
    [
        ["--device", "cuda"],
        ["--set", "vocab_size=3"],
        ["--set", "context_length=8"],
        ["--set", "shift=no"],
        ["--corpus", "/nowhere"],
        ["--seed", "99999999999999999999"],
    ],
)
def test_a_run_that_is_refused_leaves_nothing(capsys, line, mistake, monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    given, out = line
    refused(capsys, *given, *mistake)
    assert not out.exists()
    out.mkdir()  # a folder that was there stays, empty
    refused(capsys, *given, *mistake)
    assert not list(out.iterdir())
    if mistake[0] == "--set":  # and takes the right command
        assert call(capsys, *given)[0] == 0


def test_the_line_that_began_a_run_goes_on_with_it(capsys, line):
    given, out = line
    again = [*given, "--resume", "--set", "dropout=0.1", "--windows", "auto"]
    assert call(capsys, *again)[0] == 0  # nothing is there yet
    assert load_checkpoint(out).step == 4
    assert "already" in call(capsys, *again)[1]
    assert call(capsys, *again, "--steps", "6")[0] == 0
    assert load_checkpoint(out).step == 6


def test_a_warm_up_longer_than_the_run_is_said(capsys, line):
    given, _ = line
    assert "is longer than the run (4)" in call(capsys, *given, "--warmup-steps", "400")[2]


def test_what_cannot_change_in_a_run_is_said_with_both_values(capsys, line):
    given, out = line
    call(capsys, *given)
    config = (out / "config.json").read_bytes()
    again = ["train", "--out", str(out), "--resume"]
    said = refused(capsys, *again, "--n-embd", "16")
    assert "n_embd cannot change in a run that is resumed; it is 8, got 16" in said
    assert "corpus cannot change" in refused(capsys, *again, "--corpus", "story")
    assert "it has none, got 1" in refused(capsys, *again, "--set", "colour=1")
    assert "steps must be at least the 4 done" in refused(capsys, *again, "--steps", "3")
    assert (out / "config.json").read_bytes() == config


def test_a_resumed_run_with_a_smaller_rate_ends_at_a_tenth_of_it(capsys, line):
    given, out = line
    call(capsys, *given)
    again = ["train", "--out", str(out), "--resume", "--steps", "6", "--lr", "1e-5"]
    assert call(capsys, *again)[0] == 0
    settings = TrainConfig.from_dict(load_checkpoint(out).settings)
    assert settings.learning_rate == 1e-5 and settings.min_lr == pytest.approx(1e-6)


def test_a_folder_of_other_files_is_not_resumed(capsys, line):
    given, out = line
    out.mkdir()
    (out / "letter.txt").write_text("dear", encoding="utf-8")
    assert "holds letter.txt and no run" in refused(capsys, *given, "--resume")
    assert [path.name for path in out.iterdir()] == ["letter.txt"]
    (out / "letter.txt").rename(out / "metrics.jsonl")  # what a run killed at once leaves
    assert call(capsys, *given, "--resume")[0] == 0


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes"),
        RuntimeError("CUDA out of memory. Tried to allocate 9 GiB\nsee the documentation"),
    ],
)
def test_too_large_a_model_is_one_line(capsys, line, monkeypatch, error):
    def full(*_):
        raise error

    monkeypatch.setattr("llmviz.training.plan.build", full)
    assert "not enough memory" in refused(capsys, *line[0])


def test_an_error_of_ours_is_not_called_a_lack_of_memory(line, monkeypatch):
    def broken(*_):
        raise RuntimeError("a bug")

    monkeypatch.setattr("llmviz.training.plan.build", broken)
    with pytest.raises(RuntimeError, match="a bug"):
        cli.main(line[0])


def test_standard_input_that_is_not_utf8_is_one_line(capsys, monkeypatch):
    def given(data):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        return "tokenize", "--tokenizer", "bpe", "--json", "-"

    assert "standard input is not UTF-8: byte 0xFF" in refused(capsys, *given(b"a\xffb"))
    code, out, _ = call(capsys, *given("né\r\n".encode()))
    assert code == 0 and b"".join(map(bytes, json.loads(out)["bytes"])) == "né\r\n".encode()


def test_a_checkpoint_is_made_from_its_own_run_only(capsys, line, tmp_path):
    given, out = line
    call(capsys, *given)
    make = ["checkpoints", "make", "names-bigram", "--steps", "2"]
    assert "say --to where it goes" in refused(capsys, *make)
    make += ["--to", str(tmp_path / "to"), "--threads", "1"]
    assert "another run than that of names-bigram" in refused(capsys, *make, "--work", str(out))
    assert not (tmp_path / "to").exists()
    for _ in range(2):  # the second time it goes on with what is there
        code, _, _ = call(capsys, *make, "--work", str(tmp_path / "work"), "--json")
        assert code == 0
    card = json.loads((tmp_path / "to" / "names-bigram" / "card.json").read_text("utf-8"))
    assert card["steps"] == 2


def test_a_recipe_of_two_parts_forks_the_first_and_keeps_the_second(capsys, monkeypatch, tmp_path):
    whole = recipes.RECIPES["names-bigram"]
    then = {"steps": 6000, "learning_rate": 0.05}
    monkeypatch.setitem(recipes.RECIPES, "names-bigram", dataclasses.replace(whole, then=then))
    make = ["checkpoints", "make", "names-bigram", "--steps", "3", "--threads", "1", "--json"]
    make += ["--to", str(tmp_path / "to"), "--work", str(tmp_path / "work")]
    half = tmp_path / ".tmp-work-then" / "checkpoints"  # a kill left this
    half.mkdir(parents=True)
    for _ in range(2):  # the second time it goes on with what is there
        code, _, _ = call(capsys, *make)
        assert code == 0 and not half.exists()
    card = json.loads((tmp_path / "to" / "names-bigram" / "card.json").read_text("utf-8"))
    kept = json.loads((tmp_path / "to" / "names-bigram" / "config.json").read_text("utf-8"))
    assert card["steps"] == kept["train"]["steps"] == 6
    assert kept["train"]["learning_rate"] == 0.05 and kept["fork"]["step"] == 3
    assert card["fork"] == kept["fork"]
    assert kept["fork"]["fresh"] and kept["fork"]["of"] == "names-bigram, first part"
    again = [*make, "--steps", "4"]  # not that of a shorter trial
    assert "another run than that of names-bigram" in refused(capsys, *again)
    first = (tmp_path / "work" / "metrics.jsonl").read_text("utf-8")
    assert (tmp_path / "work-then" / "metrics.jsonl").read_text("utf-8").startswith(first)


def test_a_second_part_is_interrupted_and_goes_on(capsys, monkeypatch, tmp_path):
    whole = recipes.RECIPES["names-bigram"]
    then = {"steps": 6000, "learning_rate": 0.05}
    monkeypatch.setitem(recipes.RECIPES, "names-bigram", dataclasses.replace(whole, then=then))
    make = ["checkpoints", "make", "names-bigram", "--steps", "40", "--threads", "1", "--json"]

    def made(name):
        return call(capsys, *make, "--to", str(tmp_path / "to"), "--work", str(tmp_path / name))

    done = train.show

    def stops_in_the_second(prepared, out, interruption, *rest, **options):
        if out.endswith("-then"):
            interruption.signal = 2
        done(prepared, out, interruption, *rest, **options)

    with monkeypatch.context() as patched:
        patched.setattr(train, "show", stops_in_the_second)
        assert made("broken")[0] == 130
    assert not (tmp_path / "to").exists()
    shutil.rmtree(tmp_path / "broken")  # the first part is not needed any more
    assert made("broken")[0] == 0
    weights = load_file(tmp_path / "to" / "names-bigram" / "model.safetensors")
    assert made("whole")[0] == 0
    again = load_file(tmp_path / "to" / "names-bigram" / "model.safetensors")
    assert weights.keys() == again.keys()
    assert all(torch.equal(weights[name], again[name]) for name in weights)
