"""Checkpoints: what is read is what was written; damage is named; a kill leaves a whole one."""

import json
import multiprocessing
import random
import time
from pathlib import Path

import pytest
import torch

from llmviz.files.whole import write_whole
from llmviz.models import build
from llmviz.training import (
    Checkpoint,
    CheckpointError,
    load_checkpoint,
    save_checkpoint,
    steps_saved,
)
from llmviz.training.checkpoints import forget_after
from llmviz.training.tensors import load_tensors, load_weights, save_tensors


def made(step, size=50):
    torch.manual_seed(step)
    model = {"a.weight": torch.randn(size, size), "count": torch.tensor(step)}
    optimizer = {"exp_avg/a.weight": torch.randn(size, size), "step/a.weight": torch.tensor(1.0)}
    return Checkpoint(step, step * 10, step / 2, model, optimizer, {"steps": 9}, {"torch": "x"})


def test_what_is_read_is_what_was_written(tmp_path):
    written = made(3)
    save_checkpoint(tmp_path, written)
    read = load_checkpoint(tmp_path)
    assert (read.step, read.tokens, read.seconds) == (3, 30, 1.5)
    assert (read.settings, read.environment) == (written.settings, written.environment)
    for part in ("model", "optimizer"):
        ours, theirs = getattr(read, part), getattr(written, part)
        assert ours.keys() == theirs.keys()
        for name, tensor in ours.items():
            assert torch.equal(tensor, theirs[name]) and tensor.dtype == theirs[name].dtype
    weights = load_tensors(tmp_path / "model.safetensors")
    assert torch.equal(weights["a.weight"], written.model["a.weight"])


def test_only_the_newest_and_the_kept_stay(tmp_path):
    for step in (1, 2, 3, 4):
        save_checkpoint(tmp_path, made(step), keep=step == 2)
    assert [step for step, _ in steps_saved(tmp_path)] == [2, 4]
    assert load_checkpoint(tmp_path, step=2).tokens == 20
    assert load_checkpoint(tmp_path).step == 4
    with pytest.raises(CheckpointError, match="no checkpoint of step 3; it has 2, 4"):
        load_checkpoint(tmp_path, step=3)
    forget_after(tmp_path, 2)
    assert [step for step, _ in steps_saved(tmp_path)] == [2]
    leftovers = [path for path in tmp_path.rglob("*") if path.name.startswith(".tmp")]
    assert leftovers == []


def test_a_look_in_the_midst_of_a_swap_finds_a_checkpoint(tmp_path, monkeypatch):
    save_checkpoint(tmp_path, made(1))
    listed, looks = Path.iterdir, []

    def meets_neither(folder):
        looks.append(folder.name)
        return iter(()) if len(looks) == 1 else listed(folder)

    monkeypatch.setattr(Path, "iterdir", meets_neither)
    assert [step for step, _ in steps_saved(tmp_path)] == [1]
    assert looks == ["checkpoints", "checkpoints"]
    assert steps_saved(tmp_path / "nowhere") == []


@pytest.mark.parametrize("name", ["model.safetensors", "optimizer.safetensors", "state.json"])
def test_a_flipped_bit_a_cut_or_a_missing_file_is_named(tmp_path, name):
    file = save_checkpoint(tmp_path, made(1)) / name
    whole = file.read_bytes()
    middle = len(whole) // 2
    flipped = whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :]
    for content in (flipped, whole[:-3], b""):
        file.write_bytes(content)
        with pytest.raises(CheckpointError, match=f"{name} is damaged"):
            load_checkpoint(tmp_path)
    file.write_bytes(whole)
    assert load_checkpoint(tmp_path).step == 1
    if name != "state.json":
        file.unlink()
        with pytest.raises(CheckpointError, match=f"{name} is missing"):
            load_checkpoint(tmp_path)


def test_foreign_files_are_refused_by_name(tmp_path):
    with pytest.raises(CheckpointError, match="holds no checkpoint"):
        load_checkpoint(tmp_path)
    step = save_checkpoint(tmp_path, made(1))
    (step / "manifest.json").write_text("not json", encoding="utf-8")
    with pytest.raises(CheckpointError, match=r"manifest\.json cannot be read as JSON"):
        load_checkpoint(tmp_path)
    for content in ("[1]", "{}", json.dumps({"files": 3})):
        (step / "manifest.json").write_text(content, encoding="utf-8")
        with pytest.raises(CheckpointError, match=r"manifest\.json"):
            load_checkpoint(tmp_path)
    text = tmp_path / "notes.txt"
    text.write_text("a poem", encoding="utf-8")
    with pytest.raises(CheckpointError, match=r"notes\.txt is not a readable safetensors file"):
        load_tensors(text)


def test_tied_weights_are_stored_once_and_are_tied_again(tmp_path):
    sizes = {"vocab_size": 50, "context_length": 8, "n_layer": 1, "n_head": 1, "n_embd": 8}
    model = build("gpt", sizes)
    path = tmp_path / "m.safetensors"
    save_tensors(path, model.state_dict())
    other = build("gpt", sizes)
    load_weights(other, load_tensors(path), str(path))
    for name, tensor in model.state_dict().items():
        assert torch.equal(tensor, other.state_dict()[name])
    assert other.head.weight is other.token.weight
    numbers = sum(p.numel() for p in model.parameters())
    assert path.stat().st_size < numbers * 4 + 4000


def test_equal_tensors_make_equal_files(tmp_path):
    one = torch.arange(6.0).reshape(2, 3)
    parts = {"é/b": one, "a": one, "z": torch.tensor(3), "half": one.half()}
    for number in range(20):  # the library would order three names as chance has it
        save_tensors(tmp_path / str(number), parts, None, 7)
    files = [(tmp_path / str(number)).read_bytes() for number in range(20)]
    assert len(set(files)) == 1
    length = int.from_bytes(files[0][:8], "little")
    assert list(json.loads(files[0][8 : 8 + length])["__metadata__"]) == ["format", "step", "tied"]
    values = [[0, 1, 2], [3, 4, 5]]
    read = load_tensors(tmp_path / "0")
    assert read["a"].tolist() == read["é/b"].tolist() == read["half"].tolist() == values
    assert read["z"].item() == 3 and read["half"].dtype is torch.float16


def test_half_precision_is_refused_where_it_would_lose_the_value(tmp_path):
    save_tensors(tmp_path / "a", {"w": torch.tensor([1.5, -2.25])}, torch.float16)
    assert load_tensors(tmp_path / "a")["w"].tolist() == [1.5, -2.25]
    with pytest.raises(ValueError, match="w holds values"):
        save_tensors(tmp_path / "b", {"w": torch.tensor([1e6])}, torch.float16)


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "file"
    path.write_text("old", encoding="utf-8")

    def fail(temporary):
        temporary.write_text("half", encoding="utf-8")
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        write_whole(path, fail)
    assert path.read_text(encoding="utf-8") == "old" and list(tmp_path.iterdir()) == [path]


def _save_for_ever(folder, first):
    step = first
    while True:
        save_checkpoint(folder, made(step, size=200))
        step += 1


@pytest.mark.slow
def test_kills_at_all_moments_leave_a_checkpoint_that_loads(tmp_path):
    # The children are forked from a process without threads, not from this one.
    server = multiprocessing.get_context("forkserver")
    server.set_forkserver_preload([__name__])
    save_checkpoint(tmp_path, made(1, size=200))
    newest = public = 1  # the steps of the last checkpoint and of model.safetensors
    moments = [0.001 * moment for moment in range(1, 31, 2)]  # seconds: longer than a save
    random.Random(0).shuffle(moments)
    for round_number, moment in enumerate(moments):
        child = server.Process(target=_save_for_ever, args=(tmp_path, newest + 1), daemon=True)
        child.start()
        try:
            # Now and then let it get on, however busy the machine; a listing may come between
            # the removal of one checkpoint and what was there when it began.
            deadline = time.monotonic() + 60
            while round_number % 4 == 0 and time.monotonic() < deadline:
                assert child.is_alive(), "the child ended by itself"
                if max((step for step, _ in steps_saved(tmp_path)), default=0) > newest:
                    break
                time.sleep(0.001)
            time.sleep(moment)
        finally:
            child.kill()
            child.join()
        read = load_checkpoint(tmp_path)
        assert read.step >= newest
        before, newest = newest, read.step
        assert torch.equal(read.model["a.weight"], made(newest, size=200).model["a.weight"])
        published = load_tensors(tmp_path / "model.safetensors")
        # It is written after the checkpoint. A child killed between the two of its first save
        # leaves it as the child before did.
        last, public = public, int(published["count"])
        assert newest - 1 <= public <= newest or (public == last and newest <= before + 1)
    assert newest > 1
