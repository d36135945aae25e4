"""A server that is killed: the processes that it left end soon, and nothing they had comes back."""

import dataclasses
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from llmviz.runs import store
from llmviz.runs.manager import RunManager
from llmviz.runs.store import claim_private
from llmviz.training.reading import last_record
from tests.runs.test_worker import LONG, PLAN, TRAIN, reached

pytestmark = pytest.mark.slow  # of the second tier

# A server with a run of each of some visitors; it says where each is and which process trains it,
# and which others there are.
# The last one is told of as soon as there is a process for it, the others once they have come far.
SERVER = """
import sys, time
from llmviz.training.config import Plan
from llmviz.runs.manager import RunManager
plans = {plans!r}
manager = RunManager(limit=len(plans))
def started(visitor, plan, seconds):
    run = manager.start(visitor, Plan.from_dict(plan))
    manager.wait(run.name, seconds)
    jobs = sorted(manager._life.pool._jobs.items(), key=lambda job: job[1] != run.name)
    print(run.folder, *(process.popen.pid for process, _ in jobs), flush=True)
for at, (plan, seconds) in enumerate(plans):
    if at == len(plans) - 1:
        sys.stdin.readline()
    started(str(at), plan, seconds)
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


def test_orphaned_processes_end_and_write_no_cleared_folder_back(home):
    """One is killed between points, one while it saves, one before its first point, and one before
    it begins."""
    plans = [(ENDLESS, LONG), (SAVING, LONG), (RARE, 0), (ENDLESS, 0)]
    code = SERVER.format(plans=[(plan.to_dict(), seconds) for plan, seconds in plans])
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    server = subprocess.Popen([sys.executable, "-c", code], text=True, **pipes)

    def told():
        folder, *pids = server.stdout.readline().split()
        return Path(folder), [psutil.Process(int(pid)) for pid in pids]

    try:
        runs = [told() for _ in plans[:-1]]
        rare, (process, *_) = runs[-1]
        trains(rare, process)
        print(file=server.stdin, flush=True)
        runs.append(told())
        assert last_record(rare) is None
        assert not (runs[-1][0] / "config.json").exists()
        processes = {process for _, found in runs for process in found}
        assert len(processes) >= len(plans) and not any(map(has_ended, processes))
        assert all(folder.is_dir() for folder, _ in runs)
    finally:
        server.kill()
        server.communicate()
    claim_private(clear=True).close()  # the next server begins
    end = time.monotonic() + LONG
    while not all(map(has_ended, processes)):
        assert time.monotonic() < end, "a process trains on for nobody"
        time.sleep(0.01)
    assert not any(folder.exists() for folder, _ in runs)
    assert [path.name for path in (home / store.SESSIONS).iterdir()] == [".server"]


def test_a_run_whose_folder_is_deleted_trains_no_longer(home):
    """By hand, under a living server."""
    manager = RunManager(limit=1)
    try:
        run = manager.start("ann", ENDLESS)
        reached(run.folder, 3)
        store.discard(run.folder)
        with manager._life.changed:
            assert manager._life.changed.wait_for(
                lambda: not manager._life.runs[run.name].active, LONG
            )
        end = manager.run(run.name)
        assert end.state == "refused" and "was deleted while the run went on" in end.line
        assert not run.folder.exists() and manager.training == 0
        assert [path.name for path in (home / store.SESSIONS).iterdir()] == [".server"]
    finally:
        manager.close()
