"""Real runs in real processes: a pause is no pause, a fork is its parent, nothing is lost."""

from __future__ import annotations

import dataclasses
import json
import os
import resource
import shutil
import signal
import subprocess
import sys

import pytest
import torch

from llmviz.runs import store
from llmviz.runs.manager import RunManager
from llmviz.runs.worker_pool import WorkerProcess
from llmviz.training import load_checkpoint, read_metrics, steps_saved, train
from llmviz.training.checkpoints import Checkpoint
from llmviz.training.config import OWN_TEXT
from llmviz.training.export import export
from llmviz.training.forks import make_fork
from llmviz.training.plan import prepare, prepare_again
from llmviz.training.reading import last_record
from llmviz.training.run_folder import run_in_folder
from llmviz.training.samples import sampler
from llmviz.training.tensors import load_tensors
from tests.training.small_plans import small_plan, small_training

LONG = 120  # seconds that anything may take on a busy machine
TRAIN = small_training(
    steps=40,
    learning_rate=1e-2,
    min_lr=1e-3,
    warmup_steps=4,
    eval_every=10,
    eval_batches=2,
    sample_every=20,
    sample_tokens=8,
    checkpoint_every=20,
    snapshot_every=20,
)
PLAN = small_plan(TRAIN)


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    before = os.environ.get("LLMVIZ_RUNS")
    folder = tmp_path_factory.mktemp("runs")
    os.environ["LLMVIZ_RUNS"] = str(folder)
    yield folder
    os.environ.pop("LLMVIZ_RUNS")
    if before:
        os.environ["LLMVIZ_RUNS"] = before


@pytest.fixture(scope="module")
def manager(home):
    """One process for all tests here: importing torch takes seconds."""
    made = RunManager(limit=1)
    made.warm()
    yield made
    made.close()


@pytest.fixture(scope="module")
def whole(home):
    """The same run in this process, from its first step to its last."""
    run = prepare(PLAN)
    list(run_in_folder(home / "whole", run, sample=sampler(run)))
    return home / "whole"


def ended(manager, name):
    with manager._life.changed:
        assert manager._life.changed.wait_for(lambda: not manager._life.runs[name].active, LONG)
    return manager.run(name)


def reached(folder, step):
    """Wait until a run's curve has come to a step."""
    import time

    end = time.monotonic() + LONG
    while time.monotonic() < end:
        if (last := last_record(folder)) and last["step"] >= step:
            return
        time.sleep(0.002)
    raise AssertionError(f"{folder} never came to step {step}")


def curve(folder):
    """What a run's records say, less what the clock says."""
    return [
        dataclasses.replace(record, tokens_per_second=0.0, seconds=0.0, notes=())
        for record in read_metrics(folder)
    ]


def weights(folder, step=None):
    return load_checkpoint(folder, step).model


def same_weights(a, b, step=None):
    a, b = weights(a, step), weights(b, step)
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


@pytest.mark.slow
def test_a_run_in_a_worker_is_the_run_of_the_command_line(manager, whole):
    run = manager.start("ann", PLAN)
    assert manager.wait(run.name, LONG).state in ("training", "done")
    assert ended(manager, run.name).state == "done"
    assert curve(run.folder) == curve(whole) and same_weights(run.folder, whole)
    assert [record.step for record in curve(run.folder) if record.sample is not None] == [
        20,
        40,
    ]
    config = [json.loads((f / "config.json").read_text("utf-8")) for f in (run.folder, whole)]
    assert config[0] == config[1]


def test_pausing_and_resuming_gives_the_curve_of_no_pause(manager, whole):
    run = manager.start("ann", PLAN)
    for step in (3, 17, 25):
        reached(run.folder, step)
        manager.pause(run.name, "ann")
        paused = ended(manager, run.name)
        assert paused.state in ("paused", "done")
        # The weights of the moment can be used while it rests.
        assert steps_saved(run.folder)[-1][0] == last_record(run.folder)["step"]
        manager.resume(run.name, "ann")
    assert ended(manager, run.name).state == "done"
    assert curve(run.folder) == curve(whole) and same_weights(run.folder, whole)


def test_keeping_a_run_in_the_middle_of_its_way_changes_nothing_in_it(manager, whole, home):
    run = manager.start("ann", PLAN)
    reached(run.folder, 5)
    manager.keep(run.name, "ann", "kept")
    with manager._life.changed:
        assert manager._life.changed.wait_for(lambda: "kept" in manager._life.runs, LONG)
    assert ended(manager, "kept").state == "done" and not run.folder.exists()
    assert curve(home / "kept") == curve(whole) and same_weights(home / "kept", whole)
    assert "kept" in store.kept_runs()


def test_a_fork_is_its_parent_up_to_the_fork_and_itself_after(manager, whole):
    fork = manager.fork("ann", whole, 20, {"learning_rate": 2e-2}, "whole")
    assert ended(manager, fork.name).state == "done"
    parent, own = curve(whole), curve(fork.folder)
    assert own[:20] == parent[:20] and len(own) == len(parent) == 40
    assert all(a.train_loss != b.train_loss for a, b in zip(own[21:], parent[21:], strict=True))
    assert own[25].lr > parent[25].lr
    about = json.loads((fork.folder / "config.json").read_text("utf-8"))
    assert about["fork"] == {"of": "whole", "step": 20, "changes": {"learning_rate": 2e-2}}
    assert same_weights(fork.folder, whole, 20)  # the checkpoint at the fork stays


def test_a_fork_without_a_change_is_its_parent_to_the_end(manager, whole):
    fork = manager.fork("ann", whole, 20, {}, "whole")
    assert ended(manager, fork.name).state == "done"
    assert curve(fork.folder) == curve(whole) and same_weights(fork.folder, whole)


@pytest.mark.parametrize(
    ("step", "changes", "words"),
    [
        (21, {}, "no checkpoint of step 21 .* there is 20, 40"),
        (20, {"n_embd": 32}, "cannot change n_embd"),
        (20, {"steps": 20}, "needs more steps than that"),
        (20, {"learning_rate": -1.0}, "learning_rate must be"),
        (20, {"batch_size": 0}, "batch_size must be"),
    ],
)
def test_a_fork_that_cannot_work_is_refused_with_the_rule(whole, tmp_path, step, changes, words):
    with pytest.raises(ValueError, match=words):
        make_fork(whole, step, tmp_path / "fork", changes)
    assert not (tmp_path / "fork").exists()


def test_a_run_of_which_only_the_end_is_left_is_forked_there(manager, whole, home):
    bundled = home / "bundled"
    export(whole, bundled)  # as the models that come with the project are: 16-bit weights alone
    with pytest.raises(ValueError, match="no checkpoint of step 20 to fork at; there is 40"):
        make_fork(bundled, 20, home / "refused", {"steps": 50})
    fork = manager.fork("ann", bundled, 40, {"steps": 46, "learning_rate": 5e-3}, "bundled")
    assert ended(manager, fork.name).state == "done"
    own = curve(fork.folder)
    assert own[:40] == curve(bundled) == curve(whole)
    assert [record.step for record in own] == list(range(1, 47))
    about = json.loads((fork.folder / "config.json").read_text("utf-8"))
    assert about["fork"]["fresh"] is True and about["fork"]["step"] == 40
    start, end = weights(fork.folder, 40), weights(fork.folder, 46)
    kept = load_tensors(bundled / "model.safetensors")
    assert all(torch.equal(start[name], kept[name]) for name in kept)
    assert any(not torch.equal(start[name].float(), end[name].float()) for name in start)
    # The same by hand: those weights, a new optimizer, the batches of steps 41 to 46.
    run = prepare_again(fork.folder)
    first = Checkpoint(40, own[39].tokens, 0.0, kept, {}, run.config.to_dict())
    losses = [record.train_loss for record in train(run.model, run.data, run.config, resume=first)]
    assert losses == [record.train_loss for record in own[40:]]


def test_a_forks_dropout_may_change(manager, whole):
    fork = manager.fork("ann", whole, 20, {"dropout": 0.0, "steps": 24}, "whole")
    assert ended(manager, fork.name).state == "done"
    about = json.loads((fork.folder / "config.json").read_text("utf-8"))
    assert about["model"]["config"]["dropout"] == 0.0
    assert curve(fork.folder)[:20] == curve(whole)[:20]


def test_a_run_that_diverges_stops_and_says_where_and_its_curve_stays(manager):
    wild = dataclasses.replace(
        TRAIN, optimizer="sgd", learning_rate=1e9, min_lr=0.0, warmup_steps=0, grad_clip=0.0
    )
    run = manager.start("ann", dataclasses.replace(PLAN, train=wild))
    end = ended(manager, run.name)
    assert end.state == "diverged" and "is not finite at step" in end.line
    assert "\n" not in end.line and curve(run.folder)


def test_settings_that_cannot_work_end_in_their_rule(manager):
    for changes, words in (
        ({"model_options": {"n_embd": 30, "n_head": 4}}, "n_head must divide n_embd"),
        ({"corpus": "nothing-here"}, "no corpus and no file"),
        ({"context_length": 10_000_000, "windows": "random"}, "longer than the context"),
        ({"tokenizer": "runes"}, "tokenizer must be one of"),
    ):
        run = manager.start("ann", dataclasses.replace(PLAN, **changes))
        end = ended(manager, run.name)
        assert end.state == "refused" and words in end.line and "\n" not in end.line
        manager.discard(run.name, "ann")


def test_a_text_of_ones_own_lies_with_the_run_and_goes_where_it_goes(manager, home):
    text = "the cat sat on the mat. " * 40
    plan = dataclasses.replace(PLAN, corpus=OWN_TEXT, train=dataclasses.replace(TRAIN, steps=20))
    run = manager.start("ann", plan, text)
    assert ended(manager, run.name).state == "done"
    manager.keep(run.name, "ann", "cats")
    again = prepare_again(home / "cats", steps=22)
    records = list(run_in_folder(home / "cats", again, resume=True))
    assert [record.step for record in records] == [21, 22]
    short = manager.start("ann", dataclasses.replace(plan, context_length=64), "too short")
    end = ended(manager, short.name)
    assert end.state == "refused" and "longer than the context" in end.line


def test_checkpoints_that_cannot_be_written_end_a_run_in_one_line(manager):
    long = dataclasses.replace(TRAIN, steps=100_000, checkpoint_every=200, snapshot_every=0)
    run = manager.start("ann", dataclasses.replace(PLAN, train=long))
    reached(run.folder, 3)
    # A file where checkpoints are to be written: root may write anywhere else.
    (run.folder / "checkpoints").write_text("full", "utf-8")
    manager.pause(run.name, "ann")
    end = ended(manager, run.name)
    assert end.state == "refused" and "cannot write" in end.line and "\n" not in end.line
    assert len(curve(run.folder)) >= 3
    (run.folder / "checkpoints").unlink()
    manager.discard(run.name, "ann")


@pytest.mark.slow  # it is killed
def test_a_killed_process_loses_what_was_not_saved_and_the_rest_goes_on(manager, whole):
    run = manager.start("ann", dataclasses.replace(PLAN, train=dataclasses.replace(TRAIN, seed=0)))
    reached(run.folder, 21)
    for worker in list(manager._life.pool._jobs):
        worker.popen.send_signal(signal.SIGKILL)
    end = ended(manager, run.name)
    if end.state == "done":
        pytest.skip("the run was over before it could be killed")
    assert end.state == "lost" and "SIGKILL" in end.line
    manager.resume(run.name, "ann")
    assert ended(manager, run.name).state == "done"
    assert curve(run.folder) == curve(whole)


@pytest.mark.slow  # it is killed
def test_a_server_that_is_killed_leaves_a_kept_run_that_can_be_resumed(home, manager, tmp_path):
    """The worker sees its input end, saves its present step, and goes."""
    code = (
        "import sys, time\n"
        "from llmviz.runs.manager import RunManager\n"
        "from llmviz.training.config import Plan\n"
        "manager = RunManager(limit=1)\n"
        f"plan = Plan.from_dict({long_plan().to_dict()!r})\n"
        "run = manager.start('ann', plan)\n"
        "manager.keep(run.name, 'ann', 'survivor')\n"
        "print('started', flush=True)\n"
        "time.sleep(600)\n"
    )
    server = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout.readline().strip() == "started"
        reached(home / "survivor", 5)
    finally:
        server.kill()
        server.wait()
    import time

    end = time.monotonic() + LONG
    while store.is_written(home / "survivor") and time.monotonic() < end:
        time.sleep(0.02)
    assert "survivor" in store.kept_runs()
    last = last_record(home / "survivor")["step"]
    assert steps_saved(home / "survivor")[-1][0] == last
    manager.resume("survivor", "bob")
    reached(home / "survivor", last + 3)
    manager.stop("survivor", "bob")
    assert ended(manager, "survivor").state == "stopped"
    steps = [record.step for record in curve(home / "survivor")]
    assert steps == list(range(1, len(steps) + 1))


def long_plan():
    return dataclasses.replace(
        PLAN, train=dataclasses.replace(TRAIN, steps=200_000, sample_every=0, snapshot_every=0)
    )


def test_a_run_that_another_process_writes_is_watched_not_resumed(home, manager):
    run = prepare(long_plan())
    records = run_in_folder(home / "elsewhere", run)
    next(records)
    assert store.is_written(home / "elsewhere")
    with pytest.raises(ValueError, match="being written by another process"):
        manager.resume("elsewhere", "ann")
    records.close()
    assert not store.is_written(home / "elsewhere")


def paused(manager):
    """A run that rests after its first few steps, and the process it had."""
    run = manager.start("ann", PLAN)
    reached(run.folder, 3)
    (process,) = manager._life.pool._jobs
    manager.pause(run.name, "ann")
    assert ended(manager, run.name).state == "paused"
    ((step, _),) = [one for one in steps_saved(run.folder) if one[0] not in (20, 40)]
    return run, process.popen, step


def is_whole_up_to(folder, step, full, reason):
    """What a run looks like that could not write: one line, the checkpoint before, nothing half."""
    assert full.state == "refused"
    assert full.line == f"cannot write a checkpoint in {folder}: {reason}"
    assert list(folder.rglob(".tmp-*")) == []
    assert steps_saved(folder)[-1][0] == load_checkpoint(folder).step == step


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="only Linux limits another process")
def test_a_file_that_may_not_grow_ends_a_run_in_one_line(manager, whole):
    run, process, step = paused(manager)
    limit = (12_000, resource.RLIM_INFINITY)  # bytes: more than the curve, less than the weights
    before = resource.prlimit(process.pid, resource.RLIMIT_FSIZE, limit)
    try:
        manager.resume(run.name, "ann")
        full = ended(manager, run.name)
    finally:
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, before)
    is_whole_up_to(run.folder, step, full, "File too large")
    manager.resume(run.name, "ann")
    assert ended(manager, run.name).state == "done"
    assert curve(run.folder) == curve(whole) and same_weights(run.folder, whole)


@pytest.fixture
def small_disk(tmp_path, monkeypatch):
    """A real file system of one megabyte, with the folder of runs on it."""
    disk = tmp_path / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)]
    if shutil.which("mount") is None or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("a small file system can only be mounted by root")
    monkeypatch.setenv("LLMVIZ_RUNS", str(disk / "runs"))
    yield disk
    subprocess.run(["umount", "-l", str(disk)], check=True)


def test_a_full_disk_ends_a_run_in_one_line_and_with_room_it_goes_on(manager, whole, small_disk):
    run, _, step = paused(manager)
    free = shutil.disk_usage(small_disk).free
    (small_disk / "other").write_bytes(b"x" * (free - 40_000))  # no room for a checkpoint more
    manager.resume(run.name, "ann")
    is_whole_up_to(run.folder, step, ended(manager, run.name), "No space left on device")
    (small_disk / "other").unlink()
    manager.resume(run.name, "ann")
    assert ended(manager, run.name).state == "done"
    assert curve(run.folder) == curve(whole) and same_weights(run.folder, whole)


def test_a_step_is_timed_by_a_process_that_waits(manager):
    with manager._life.changed:
        assert manager._life.changed.wait_for(
            lambda: any(worker.ready for worker in manager._life.pool._jobs), LONG
        )
        bad = dataclasses.replace(PLAN, model_options={"n_embd": 30, "n_head": 4})
        for plan in (PLAN, bad):
            assert manager._life.changed.wait_for(lambda plan=plan: manager.step_time(plan), LONG)
    seconds, line = manager.step_time(PLAN)
    assert 0 < seconds < 60 and line == ""
    own = dataclasses.replace(PLAN, corpus="a text that only the page has")
    with manager._life.changed:
        assert manager._life.changed.wait_for(lambda: manager.step_time(own, 40), LONG)
    seconds, line = manager.step_time(own, 40)
    assert 0 < seconds < 60 and line == ""
    seconds, line = manager.step_time(bad)
    assert seconds is None and "n_head must divide" in line


def test_a_program_that_is_no_worker_is_told_in_one_line():
    heard, gone = [], []
    command = (sys.executable, "-c", "import sys; sys.exit('no torch here')")
    process = WorkerProcess(lambda *a: heard.append(a), lambda *a: gone.append(a), command)
    assert process.wait(LONG)
    import time

    end = time.monotonic() + LONG
    while not gone and time.monotonic() < end:
        time.sleep(0.01)
    assert heard == [] and gone[0][1] == "its process ended with code 1: no torch here"
    process.stop()  # nobody hears it, and nothing breaks
    process.close()
