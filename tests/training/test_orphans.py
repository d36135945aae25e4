"""A server that is killed: the processes that it left end soon, and nothing they had comes back."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from llmviz.training import run_folders
from llmviz.training.manager import RunManager
from llmviz.training.permissions import claim_private
from tests.training.test_worker import LONG, PLAN, TRAIN, reached

# A server with one run of a visitor; it says where the run is and which process trains it.
SERVER = """
import sys, time
from llmviz.training.config import Plan
from llmviz.training.manager import RunManager
manager = RunManager(limit=1)
run = manager.start("ann", Plan.from_dict({plan!r}))
manager.wait(run.name, {seconds})
pids = [process.popen.pid for process in manager._pool._jobs]
print(run.folder, *pids, flush=True)
time.sleep(600)
"""
ENDLESS = dataclasses.replace(
    PLAN,
    train=dataclasses.replace(TRAIN, steps=200_000, sample_every=0, snapshot_every=0),
)
SAVING = dataclasses.replace(ENDLESS, train=dataclasses.replace(ENDLESS.train, checkpoint_every=1))
RARE = dataclasses.replace(
    ENDLESS, train=dataclasses.replace(ENDLESS.train, log_every=100_000, eval_every=0)
)


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("LLMVIZ_RUNS", str(tmp_path / "runs"))
    return tmp_path / "runs"


def killed_server(plan, seconds):
    """The folder of a server's run and the processes that trained it, after the server's death."""
    code = SERVER.format(plan=plan.to_dict(), seconds=seconds)
    server = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    try:
        folder, *pids = server.stdout.readline().split()
        return Path(folder), [psutil.Process(int(pid)) for pid in pids], server
    except BaseException:
        server.kill()
        raise


def has_ended(process):
    try:
        return process.status() == psutil.STATUS_ZOMBIE  # nobody may be there to ask for its end
    except psutil.NoSuchProcess:
        return True


def trains(folder, process):
    """Wait until a run without points is under way: it has written what it is, and computes."""
    end = time.monotonic() + LONG
    begun = None  # the CPU seconds that it had used when it began
    while begun is None or sum(process.cpu_times()[:2]) < begun + 0.2:
        assert time.monotonic() < end, "it never began"
        if begun is None and (folder / "config.json").exists():
            begun = sum(process.cpu_times()[:2])
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("plan", "seconds"),
    [(ENDLESS, LONG), (SAVING, LONG), (RARE, 0), (ENDLESS, 0)],
    ids=["between points", "while it saves", "before its first point", "before it begins"],
)
def test_an_orphaned_process_ends_and_writes_no_cleared_folder_back(home, plan, seconds):
    folder, processes, server = killed_server(plan, seconds)
    assert processes and folder.is_dir()
    if plan is RARE:
        trains(folder, *processes)
        assert run_folders.last_record(folder) is None
    server.kill()
    server.wait()
    claim_private(clear=True).close()  # the next server begins
    end = time.monotonic() + LONG
    while not all(map(has_ended, processes)):
        assert time.monotonic() < end, "the process trains on for nobody"
        time.sleep(0.01)
    assert not folder.exists()
    assert [path.name for path in (home / run_folders.SESSIONS).iterdir()] == [".server"]


def test_a_run_whose_folder_is_deleted_trains_no_longer(home):
    """By hand, under a living server."""
    manager = RunManager(limit=1)
    try:
        run = manager.start("ann", ENDLESS)
        reached(run.folder, 3)
        run_folders.discard(run.folder)
        with manager._changed:
            assert manager._changed.wait_for(lambda: not manager._runs[run.name].active, LONG)
        end = manager.run(run.name)
        assert end.state == "refused" and "was deleted while the run went on" in end.line
        assert not run.folder.exists() and manager.training == 0
        assert [path.name for path in (home / run_folders.SESSIONS).iterdir()] == [".server"]
    finally:
        manager.close()
