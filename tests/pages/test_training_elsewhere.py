"""Runs that another process trains, by the command line or torchrun, watched from the page."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time

import pytest

from llmviz.course.ui import runs
from llmviz.runs import store
from llmviz.training import load_checkpoint
from llmviz.training.curves import CurveFile
from llmviz.training.reading import last_record
from tests.pages.harness import ROOT, fine, open_part, sent
from tests.pages.test_training import home, markdown  # noqa: F401

LONG = 180  # seconds that anything may take on a busy machine
# More steps than anybody waits for: the test ends it.
FLAGS = shlex.split(
    "--model gpt --corpus names --n-layer 1 --n-head 2 --n-embd 16 --context-length 16"
    " --batch-size 8 --steps 1000000 --warmup-steps 5 --eval-every 50 --eval-batches 1"
    " --log-every 5 --device cpu --dtype float32 --threads 1 --compile off"
)
PLAIN = [sys.executable, "-m", "llmviz"]
TOGETHER = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]


@pytest.fixture(params=["train", "torchrun"])
def elsewhere(request, home, ctrl_c):  # noqa: F811
    """A process of its own that trains into `home/live`, and what ends it as Ctrl-C would."""
    command = PLAIN if request.param == "train" else [*TOGETHER, "-m", "llmviz"]
    process = subprocess.Popen(
        [*command, "train", "--out", str(home / "live"), *FLAGS],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    yield process
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(LONG)


def until(condition, process):
    end = time.monotonic() + LONG
    while not condition():
        assert time.monotonic() < end, "it never came"
        assert process.poll() is None, "the run elsewhere ended by itself"
        time.sleep(0.05)


@pytest.mark.slow  # trainings in other processes
def test_the_curve_of_a_run_elsewhere_grows_on_the_page(home, elsewhere):  # noqa: F811
    folder = home / "live"
    until(lambda: last_record(folder) is not None, elsewhere)
    app = open_part("training", "runs", run="run:live")
    fine(app)
    assert "live** · being trained by another process" in markdown(app)
    assert not [one for one in app.button if one.label in ("Pause", "Go on", "Keep")]
    (first,) = sent(app, "curves")["runs"]
    until(lambda: last_record(folder)["step"] > first["steps"][-1] + 20, elsewhere)
    app.run()  # as the page does by itself each second
    fine(app)
    (later,) = sent(app, "curves")["runs"]
    count = len(first["steps"])
    assert later["steps"][-1] > first["steps"][-1] + 20
    assert later["train"][:count].tolist() == first["train"].tolist()
    assert store.kept_runs() == ["live"]
    with pytest.raises(ValueError, match="being written by another process"):
        runs.manager().resume("live", "ann")

    os.kill(elsewhere.pid, signal.SIGINT)
    elsewhere.wait(LONG)
    end = time.monotonic() + LONG
    while store.is_written(folder) and time.monotonic() < end:
        time.sleep(0.05)
    app.run()
    fine(app)
    assert "live** · not running" in markdown(app)
    curve = CurveFile(folder).read()
    assert sent(app, "curves")["runs"][0]["steps"][-1] == curve.steps[-1]
    if elsewhere.args[2] == "llmviz":  # torchrun kills its processes, which then save nothing
        assert load_checkpoint(folder).step == curve.steps[-1]
        assert [one.label for one in app.button if one.label == "Go on"] == ["Go on"]
