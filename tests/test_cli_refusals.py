"""What the operating system refuses, and numbers without measure: one line, exit code 2."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from llmviz.cli import main
from llmviz.pretrained import load_bundled
from llmviz.serving.paged_model import check_can_serve
from llmviz.training import TrainConfig
from llmviz.training.files import check_writable, removed_if_empty
from tests.test_cli import FAST, ROOT, SMALL, call, refused

NO_SPACE = Path("/dev/full")


@pytest.fixture
def trained(capsys, text, tmp_path):
    out = tmp_path / "run"
    given = ["train", "--corpus", str(text), "--out", str(out), "--steps", "4", *FAST, *SMALL]
    assert call(capsys, *given)[0] == 0
    return out


WRITING = {
    "generate": ["--checkpoint", "names-bigram"],
    "generate --json": ["--checkpoint", "names-bigram"],
    "tokenize": ["--tokenizer", "bpe", "x"],
    "corpus list": [],
    "corpus show": ["story"],
    "corpus get": ["story"],
    "models": [],
    "checkpoints list": [],
    "train": ["--help"],
}
TO_ITS_END = "corpus list"  # as the others, in a process that Python ends


# Each command is a process of its own; they share what takes long to import, and what torch imports
# when it first outlines a model, and end without taking that apart.
EACH_IN_A_FORK = """
import json, os, runpy, sys
import llmviz.finetuning.recipes, llmviz.pretrained, llmviz.sampling, llmviz.training.run_folder
from llmviz.models import build
build("gpt")
for line in json.loads(sys.stdin.read()):
    child = os.fork()
    if not child:
        sys.argv = ["llmviz", *line]
        try:
            runpy.run_module("llmviz", run_name="__main__")
        except SystemExit as end:
            sys.stdout.flush()  # as Python does at its end
            os._exit(end.code)
    _, status = os.waitpid(child, 0)
    os.write(2, f"\\0{os.waitstatus_to_exitcode(status)}\\0".encode())
"""


@pytest.fixture(scope="module")
def ends_of_full_output():
    """Of each command whose output has no room: what it wrote on stderr, and its exit code."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    environment.pop("PYTHONUNBUFFERED", None)
    lines = {command: [*command.split(), *rest] for command, rest in WRITING.items()}

    def run(*line: str, text: str = "") -> subprocess.CompletedProcess[str]:
        with NO_SPACE.open("w") as full:
            return subprocess.run(
                [sys.executable, *line],
                input=text,
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
                env=environment,
                check=False,
            )

    whole = run("-m", "llmviz", *lines.pop(TO_ITS_END))
    parts = run("-c", EACH_IN_A_FORK, text=json.dumps(list(lines.values()))).stderr.split("\0")
    ends = dict(zip(lines, zip(parts[::2], parts[1::2], strict=False), strict=True))
    return {**ends, TO_ITS_END: (whole.stderr, str(whole.returncode))}


@pytest.mark.skipif(not NO_SPACE.exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("command", WRITING)
def test_standard_output_that_is_full_is_one_line(ends_of_full_output, command):
    line, code = ends_of_full_output[command]
    assert code == "2"
    assert line.strip().endswith("No space left on device")
    assert len(line.splitlines()) == 1


def test_standard_output_that_is_closed_is_one_line(capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    code = main(["models"])
    monkeypatch.undo()
    assert code == 2 and "standard output is closed" in capsys.readouterr().err


def test_a_model_that_continues_no_text_is_refused_and_others_are_named(capsys):
    line = refused(capsys, "generate", "--checkpoint", "masked-words", "--prompt", "The")
    assert "masked-words is a bert" in line and "tiny-world-gpt" in line


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("masked-words", "masked-words is a bert, and"),
        ("names-gpt-no-mask", "got mask='none'"),
        ("names-gpt-mask-off-by-one", "got mask='"),
        ("names-gru", "served by a GPT; got"),
        ("tiny-world-word2vec", "is a word2vec, and"),
        ("pairs-seq2seq", "is a seq2seq, and"),
    ],
)
def test_a_model_that_is_not_served_is_refused_and_others_are_named(capsys, name, why):
    line = refused(capsys, "serve", "--checkpoint", name, "--port", "0")
    assert why in line
    names = line.strip().rpartition("bundled models that are served: ")[2].split(", ")
    assert "tiny-world-gpt" in names and name not in names
    for one in names:
        check_can_serve(load_bundled(one)[0])


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "checkpoints/*/*.*"])
def test_a_file_of_a_checkpoint_that_cannot_be_read_is_one_line(capsys, trained, name):
    for path in trained.glob(name):
        path.unlink()
        path.symlink_to(path.name)  # a link to itself opens for nobody, not for root either
    refused(capsys, "generate", "--checkpoint", str(trained))
    code, _, err = call(capsys, "train", "--out", str(trained), "--resume", "--steps", "9")
    # Below what the run is, where that could be read.
    assert code == 2 and err.strip().splitlines()[-1].startswith("python -m llmviz train: ")
    assert "Traceback" not in err


def test_an_error_of_the_system_that_nobody_foresaw_is_one_line(capsys, monkeypatch):
    def broken(*_):
        raise PermissionError(13, "Permission denied", "/somewhere")

    monkeypatch.setattr("llmviz.pretrained.load_trained", broken)
    line = refused(capsys, "generate", "--checkpoint", "names-bigram")
    assert line == "python -m llmviz generate: /somewhere: Permission denied"


@pytest.mark.parametrize("name", ["names-bigram", "tiny-world-word2vec"])
@pytest.mark.parametrize("option", ["--to", "--work"])
def test_a_target_that_cannot_be_written_is_told_before_training(
    capsys, tmp_path, monkeypatch, name, option
):
    def trains(*_, **__):
        raise AssertionError("it trains")

    monkeypatch.setattr("llmviz.cli.make_checkpoint._train", trains)
    monkeypatch.setattr("llmviz.cli.make_checkpoint._make_vectors", trains)
    if name == "tiny-world-word2vec" and option == "--work":
        pytest.skip("word vectors have no run to resume")
    (tmp_path / "file").write_text("x", encoding="utf-8")
    places = {"--to": tmp_path / "to", "--work": tmp_path / "work"}
    places[option] = tmp_path / "file" / "below"
    given = [str(part) for pair in places.items() for part in pair]
    line = refused(capsys, "checkpoints", "make", name, *given)
    assert "cannot write" in line and "Not a directory" in line
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_looking_whether_a_folder_can_be_written_leaves_nothing(tmp_path):
    check_writable(tmp_path / "a" / "b" / "c")
    assert not list(tmp_path.iterdir())
    (tmp_path / "there").mkdir()
    check_writable(tmp_path / "there")
    assert [path.name for path in tmp_path.rglob("*")] == ["there"]


def test_only_new_and_empty_folders_are_taken_away(tmp_path):
    (tmp_path / "old").mkdir()
    with pytest.raises(KeyError), removed_if_empty(tmp_path / "old" / "new" / "newer"):
        (tmp_path / "old" / "new" / "newer").mkdir(parents=True)
        raise KeyError
    assert [path.name for path in tmp_path.rglob("*")] == ["old"]
    with removed_if_empty(tmp_path / "old" / "kept"):
        (tmp_path / "old" / "kept").mkdir()
        (tmp_path / "old" / "kept" / "file").write_text("x", encoding="utf-8")
    assert (tmp_path / "old" / "kept" / "file").exists()


@pytest.mark.parametrize(
    "given",
    [
        ["train", "--corpus", "TEXT", "--model", "oracle", "--out", "OUT/a/b"],
        ["import", "/nowhere", "--out", "OUT/a/b"],
        ["checkpoints", "make", "names-bigram", "--to", "OUT/a", "--work", "TEXT/below"],
    ],
)
def test_a_refusal_leaves_no_folder_and_no_parent_of_one(capsys, text, tmp_path, given):
    given = [part.replace("OUT", str(tmp_path)).replace("TEXT", str(text)) for part in given]
    refused(capsys, *given)
    assert [path.name for path in tmp_path.iterdir()] == [text.name]


def test_a_checkpoint_is_made_of_a_run_of_its_own_steps_only(capsys, tmp_path):
    make = ["checkpoints", "make", "names-bigram", "--threads", "1", "--json"]
    make += ["--to", str(tmp_path / "to"), "--work", str(tmp_path / "work")]
    assert call(capsys, *make, "--steps", "5")[0] == 0
    card = tmp_path / "to" / "names-bigram" / "card.json"
    before = card.read_bytes()
    for other in ("3", "7"):
        line = refused(capsys, *make, "--steps", other)
        assert f"holds a run of 5 steps, not of {other}" in line
    assert card.read_bytes() == before and json.loads(before)["steps"] == 5


@pytest.mark.parametrize("count", ["1025", "100000", "9" * 5000])
def test_more_threads_than_a_process_can_have_are_refused(capsys, text, tmp_path, count):
    given = ["train", "--corpus", str(text), "--out", str(tmp_path / "run"), "--threads", count]
    assert "at" in refused(capsys, *given)
    make = ["checkpoints", "make", "names-bigram", "--threads", count, "--to", str(tmp_path / "to")]
    assert "at" in refused(capsys, *make)


def test_the_rule_of_threads_is_the_configurations():
    assert TrainConfig(threads=1024).threads == 1024
    with pytest.raises(ValueError, match="threads must be at most 1024; got 1025"):
        TrainConfig(threads=1025)


@pytest.mark.parametrize("value", [-1, -1.0, 0, float("nan"), float("inf"), True, "1"])
def test_a_learning_rate_is_a_number_above_zero(value):
    with pytest.raises(
        ValueError,
        match=r"learning_rate must be a number above 0; got ",
    ):
        TrainConfig(learning_rate=value)


def test_a_setting_nested_without_end_is_one_line(capsys, text, tmp_path):
    given = ["train", "--corpus", str(text), "--out", str(tmp_path / "run"), "--set"]
    assert "too long to read" in refused(capsys, *given, "colour=" + "[" * 100_000)
    assert "too long to read" in refused(capsys, *given, "colour=" + "9" * 10_000)


def test_a_line_end_in_an_argument_is_no_second_line(capsys, tmp_path):
    refused(capsys, "generate", "--checkpoint", "no\nwhere")
    refused(capsys, "train", "--out", str(tmp_path / "run"), "--model", "no\nmodel")
    refused(capsys, "generate", "--checkpoint", "names-bigram", "--top-k", "1\n2")
    shutil.rmtree(tmp_path / "run", ignore_errors=True)
