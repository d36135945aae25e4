"""Runs by name inside one folder: nothing outside is reached, nothing is overwritten."""

import builtins
import dataclasses
import io
import json
import os
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
import torch

from llmviz import pretrained
from llmviz.runs import store
from llmviz.training import CheckpointError
from llmviz.training.plan import prepare
from llmviz.training.reading import last_record
from llmviz.training.run_folder import run_in_folder


@pytest.fixture
def home(home):
    home.mkdir()
    return home


def make(folder):
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps({"format": "llmviz-run-1"}), "utf-8")
    return folder


def test_kept_runs_are_found_and_listed_newest_first(home):
    for age, name in enumerate(("new", "exp/a", "old")):
        os.utime(make(home / name) / "config.json", (1000 - age, 1000 - age))
    make(home / ".hidden")
    make(store.new_private_folder())
    (home / "empty").mkdir()
    assert store.kept_runs() == ["new", "exp/a", "old"]
    assert store.find_run("run:exp/a@7") == home / "exp" / "a"
    assert store.find_run(str(home / "old")) == home / "old"
    assert store.run_name(home / "exp" / "a") == "exp/a"


def settle(folder):
    """Let folders look as if nothing had changed in them for long."""
    for path in (folder, *folder.rglob("*")):
        if path.is_dir():
            os.utime(path, (1000, 1000))


@pytest.fixture
def looks(monkeypatch):
    """What is opened and listed from here on, by name."""
    seen = []

    def noted(own):
        return lambda path, *rest, **more: seen.append(str(path)) or own(path, *rest, **more)

    for module, name in ((builtins, "open"), (io, "open"), (os, "scandir"), (os, "listdir")):
        monkeypatch.setattr(module, name, noted(getattr(module, name)))
    return seen


def test_what_did_not_change_is_not_looked_into_again(home, looks):
    for number in range(40):
        make(home / f"{number}")
        make(home / "group" / f"{number}")
    settle(home)
    listed = store.kept_runs()
    assert len(listed) == 80 and len(looks) >= 82
    looks.clear()
    assert store.kept_runs() == listed and looks == []
    make(home / "group" / "new")
    (home / "3" / "config.json").unlink()
    looks.clear()
    assert set(store.kept_runs()) == {*listed, "group/new"} - {"3"}
    assert {os.path.relpath(path, home) for path in looks} == {"group", "group/new", "3"}


def test_a_run_becomes_one_in_the_moment_in_which_its_folder_was_seen(home):
    """Two changes of a folder in one tick of the file system's clock have one time."""
    folder = home / "a"
    folder.mkdir()
    now = folder.stat().st_mtime_ns
    assert store.kept_runs() == []
    (folder / "config.json").write_text("{}", "utf-8")
    os.utime(folder, ns=(now, now))
    os.utime(home, ns=(now, now))
    assert store.kept_runs() == ["a"]


FILES = ("config.json", "metrics.jsonl", "tokenizer.json", "model.safetensors")


@pytest.mark.parametrize("name", [*FILES, "checkpoints", "checkpoints/step-000007"])
def test_no_file_of_a_run_is_a_link_out_of_the_folder_of_runs(home, tmp_path, name):
    folder, inside = make(home / "a"), make(home / "b")
    (folder / "checkpoints").mkdir()
    outside = tmp_path / "outside"
    outside.mkdir()
    for target in (inside, outside):
        (target / "checkpoints" / "step-000007").mkdir(parents=True)
        for file in FILES:
            (target / file).write_text("{}", "utf-8")
    link = folder / name
    link.unlink(missing_ok=True) if name in FILES else name == "checkpoints" and link.rmdir()
    link.symlink_to(inside / name)
    assert store.find_run("a@7") == folder
    link.unlink()
    for target in (outside / name, folder / "nowhere", link):
        link.symlink_to(target)
        with pytest.raises(CheckpointError, match=r"leads out of|there is no run"):
            store.find_run("a@7")
        link.unlink()


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "..",
        "../runs",
        "../outside",
        "a/../../outside",
        "/etc",
        ".sessions",
        ".sessions/my-" + "a" * 26,
        "link",
        "exp/link",
        "loop",
        "nul\0",
        "x" * 5000,
    ],
)
def test_no_name_leads_out_of_the_folder_of_runs(home, tmp_path, name):
    make(tmp_path / "outside")
    (home / "exp").mkdir()
    (home / "link").symlink_to(tmp_path / "outside")
    (home / "exp" / "link").symlink_to(tmp_path / "outside")
    (home / "loop").symlink_to(home / "loop")
    make(home / ".sessions" / ("my-" + "a" * 26))
    with pytest.raises(CheckpointError) as caught:
        store.find_run(name)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 400
    assert store.kept_runs() == []


def test_a_private_run_has_a_name_that_cannot_be_guessed(home):
    names = {store.new_private_folder().name for _ in range(50)}
    assert len(names) == 50 and all(store.is_private(name) for name in names)
    assert (home / ".sessions").stat().st_mode & 0o077 == 0
    folder = make(store.new_private_folder())
    assert store.find_run(store.PREFIX + folder.name) == folder
    assert store.run_name(folder) == folder.name and store.kept_runs() == []


def test_keeping_at_once_under_one_name_overwrites_nothing(home):
    folders = [make(store.new_private_folder()) for _ in range(8)]
    for number, folder in enumerate(folders):
        (folder / "mine").write_text(str(number), "utf-8")
    with ThreadPoolExecutor(8) as at_once:
        kept = list(at_once.map(partial(store.keep, wanted="best"), folders))
    assert {path.name for path in kept} == {"best", *(f"best-{n}" for n in range(2, 9))}
    assert {(path / "mine").read_text("utf-8") for path in kept} == set("01234567")
    assert not any(folder.exists() for folder in folders)


@pytest.mark.parametrize(
    "name", ["", "  ", "../x", "a/b", ".hid", "x" * 61, "naïve", "a\nb", "my-" + "a" * 26, "a."]
)
def test_a_name_that_is_no_folder_is_refused_with_the_rule(home, name):
    with pytest.raises(ValueError, match="name") as caught:
        store.free_name(name)
    assert "\n" not in str(caught.value)


def test_only_private_runs_are_discarded(home):
    mine, kept = make(store.new_private_folder()), make(home / "kept")
    store.discard(mine)
    assert not mine.exists()
    with pytest.raises(ValueError, match="left alone"):
        store.discard(kept)
    left = make(store.new_private_folder())
    (home / ".sessions" / "other").mkdir()
    store.clear_private()
    assert not left.exists() and kept.exists() and (home / ".sessions" / "other").exists()


@pytest.fixture
def trained(home, plan):
    plan = dataclasses.replace(plan, train=dataclasses.replace(plan.train, snapshot_every=2))
    return list(run_in_folder(home / "mine", prepare(plan)))


def test_a_run_is_loaded_by_name_and_by_step(home, trained):
    model, tokenizer, card = pretrained.load_bundled("run:mine")
    assert card["steps"] == 6 and card["model"] == "gru"
    assert card["parameters"] == sum(p.numel() for p in model.parameters())
    assert card["validation_loss"] == trained[-1].validation_loss
    early, _, early_card = pretrained.load_bundled("run:mine@2")
    assert early_card["steps"] == 2
    idx = torch.tensor([tokenizer.encode("ann")])
    assert not torch.equal(early(idx)[0], model(idx)[0])
    with pytest.raises(ValueError, match="no checkpoint of step 3; it has 2, 4, 6"):
        pretrained.load_bundled("run:mine@3")


def test_the_last_record_is_read_from_the_end(home, trained):
    assert last_record(home / "mine")["step"] == 6
    assert last_record(home / "none") is None
    with (home / "mine" / "metrics.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"step": 7')
    assert last_record(home / "mine")["step"] == 6
    with (home / "mine" / "metrics.jsonl").open("a", encoding="utf-8") as file:
        file.write(", \n")
    with pytest.raises(CheckpointError, match="damaged"):
        last_record(home / "mine")
