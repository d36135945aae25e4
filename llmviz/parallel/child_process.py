"""One process of a run that `launch` started: joins the others, works, and tells its parent."""

from __future__ import annotations

import datetime
import os
import sys
import threading
import traceback
from multiprocessing.connection import Connection

import torch
import torch.distributed as dist

from llmviz.parallel.outcome import Progress
from llmviz.parallel.plan import ParallelPlan
from llmviz.parallel.work import trained
from llmviz.training.distributed import World

PATIENCE = datetime.timedelta(minutes=5)  # that the others may take
LOOPBACK = {"linux": "lo", "darwin": "lo0"}  # what gloo listens on: nothing outside can reach it


def work(plans: list[ParallelPlan], rank: int, meeting: str, pipe: Connection) -> None:
    """Do the plans with the other processes; all of them meet in the file `meeting`."""
    threading.Thread(target=_leave_with_parent, args=(pipe,), daemon=True).start()
    torch.set_num_threads(1)
    if sys.platform in LOOPBACK:
        os.environ["GLOO_SOCKET_IFNAME"] = LOOPBACK[sys.platform]
    size = plans[0].processes
    try:
        store = dist.FileStore(meeting, size)
        dist.init_process_group("gloo", store=store, rank=rank, world_size=size, timeout=PATIENCE)
        for plan in plans:
            outcome = trained(plan, World(size, rank), lambda step: _tell(pipe, "step", step))
            if outcome is not None:
                _tell(pipe, "outcome", outcome)
        dist.destroy_process_group()
        _tell(pipe, "done", None)
    except ValueError as rule:
        _tell(pipe, "refused", str(rule))
    except RuntimeError as error:
        if not lost_another(error):  # the parent knows which one, and ends this one, too
            _tell(pipe, "failed", traceback.format_exc())
        threading.Event().wait(PATIENCE.total_seconds())
    except Exception:  # nothing is hidden: the parent is told all of it and reports a failure
        _tell(pipe, "failed", traceback.format_exc())


def lost_another(error: RuntimeError) -> bool:
    """Whether gloo says that another process has gone."""
    text = str(error)
    return any(sign in text for sign in ("closed by peer", "reset by peer", "Broken pipe"))


def _tell(pipe: Connection, kind: str, value: Progress | object) -> None:
    try:
        pipe.send((kind, value))
    except OSError:  # the parent has gone
        os._exit(1)


def _leave_with_parent(pipe: Connection) -> None:
    """The parent says nothing; that its end of the pipe is closed says that it has gone."""
    try:
        pipe.recv()
    except (EOFError, OSError):
        os._exit(1)
