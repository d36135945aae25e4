"""What is written as a folder, killed at each of its writes: there is nothing, or all of it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from llmviz.training.files import WRITING, whole_folder

pytestmark = pytest.mark.slow  # of the second tier

ROOT = Path(__file__).parents[2]
# A process that forks for each kill: the model is made once, and nothing of torch runs in threads.
KILLED = """
import os, signal, sys
from pathlib import Path
import torch
torch.set_num_threads(1)
from llmviz import models, pretrained
from llmviz.files import whole
from llmviz.publishing.folder import export_folder
from llmviz.training import TrainConfig, checkpoints, files
from llmviz.training.run_folder import Trained, describe, load_trained
from llmviz.tokenizers import get_tokenizer, train_tokenizer

tokenizer = train_tokenizer("bpe", ["the cat sat on the mat"], 260)
model = models.build("gpt", dict(vocab_size=260, n_layer=1, n_head=1, n_embd=8, context_length=8))
data = dict(corpus="names", documents=1, context_length=8)
trained = Trained(model, tokenizer, describe("gpt", model, tokenizer, TrainConfig(), data))
home, own = Path(sys.argv[1]), whole.sync

def killed(write, out, at):
    child = os.fork()
    if child == 0:
        count = 0
        def sync(path):
            global count
            count += 1
            if count == at:
                os.kill(os.getpid(), signal.SIGKILL)
            own(path)
        globals()["count"] = 0
        whole.sync = files.sync = sync
        write(trained, out)
        os._exit(0)
    return os.waitpid(child, 0)[1]

WRITERS = {"run": pretrained.save_trained, "export": export_folder}
READERS = {"run": load_trained, "export": pretrained.find_model}
for name, write in WRITERS.items():
    out, at = home / name, 1
    while killed(write, out, at):
        inside = list(out.iterdir()) if out.exists() else []
        if inside:
            READERS[name](out)
            for path in inside:
                path.unlink()
        at += 1
    READERS[name](out)
    print(name, at - 1, sorted(path.name for path in home.iterdir()))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")
def test_a_model_that_was_killed_while_it_was_written_is_whole_or_not_there(tmp_path):
    line = (sys.executable, "-c", KILLED, tmp_path)
    ran = subprocess.run(line, capture_output=True, text=True, cwd=ROOT)
    assert ran.returncode == 0, ran.stderr
    said = [line.split(maxsplit=2) for line in ran.stdout.splitlines()]
    assert [name for name, *_ in said] == ["run", "export"]
    assert all(int(kills) >= 8 for _, kills, _ in said), said  # a file and its folder, each
    assert said[1][2] == "['export', 'run']", "what was killed is gone after the next try"


def test_a_folder_that_cannot_be_filled_is_not_there(tmp_path):
    with pytest.raises(OSError, match="full"), whole_folder(tmp_path / "new") as folder:
        (folder / "a").touch()
        raise OSError("full")
    assert not list(tmp_path.iterdir())


def test_an_empty_folder_is_filled_and_one_that_holds_something_stays(tmp_path):
    (tmp_path / "empty").mkdir()
    with whole_folder(tmp_path / "empty") as folder:
        (folder / "a").touch()
        assert not list((tmp_path / "empty").iterdir())
    assert [path.name for path in (tmp_path / "empty").iterdir()] == ["a"]
    with pytest.raises(OSError, match="not empty"), whole_folder(tmp_path / "empty") as folder:
        (folder / "b").touch()
    assert [path.name for path in tmp_path.rglob("*")] == ["empty", "a"]


def test_a_folder_that_is_mounted_is_filled_file_by_file_the_last_one_last(tmp_path, monkeypatch):
    monkeypatch.setattr(Path, "is_mount", lambda path: path == tmp_path)
    moved, own = [], Path.rename
    monkeypatch.setattr(Path, "rename", lambda path, to: moved.append(path.name) or own(path, to))
    with whole_folder(tmp_path) as folder:
        for number, name in enumerate("ba"):
            (folder / name).touch()
            os.utime(folder / name, (number, number))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"] and moved == ["b", "a"]
    assert WRITING not in moved
