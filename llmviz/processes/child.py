"""A process beside the server: how it is started, and its own side of the pipes."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import IO, Any

from llmviz.files.paths import IMPORTED_FROM

RENICE_TRIES, RENICE_WAIT = 20, 0.05  # Linux lets a user change one session in 0.1 seconds


def python_module(name: str) -> tuple[str, ...]:
    """The command that runs a module with this Python."""
    return sys.executable, "-m", name


def start_child(command: Sequence[str], threads: int, **streams: Any) -> subprocess.Popen:
    """Start a process that can import llmviz, with pipes to its standard input and output.

    threads: of arithmetic. streams: where its errors go, whether its pipes carry text.
    """
    paths = [str(IMPORTED_FROM), os.environ.get("PYTHONPATH", "")]
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        # Ctrl-C in the server's terminal is for the server; the child sees its input end.
        start_new_session=True,
        env={
            **os.environ,
            "OMP_NUM_THREADS": str(threads),
            "PYTHONPATH": os.pathsep.join(path for path in paths if path),
        },
        **streams,
    )


def serve_parent(niceness: int, mode: str = "w", **options: Any) -> IO[Any]:
    """In the child: step behind the server, and return the stream that its parent reads.

    What a library prints goes to standard error from now on, not between the answers. Text on the
    pipes has the encoding of the options, in both directions.
    """
    if "encoding" in options and isinstance(sys.stdin, TextIOWrapper):
        sys.stdin.reconfigure(encoding=options["encoding"])
    if hasattr(os, "nice"):
        os.nice(niceness)
    _nice_session(niceness)
    answers = os.fdopen(os.dup(sys.stdout.fileno()), mode, **options)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return answers


def _nice_session(niceness: int) -> None:
    """Give the whole session a niceness, where Linux shares its time between sessions.

    There the niceness of a process counts within its session alone, and a child has its own
    (`start_new_session`). Reference: man page sched(7), "The autogroup feature".
    """
    autogroup = Path("/proc/self/autogroup")
    for _ in range(RENICE_TRIES if autogroup.exists() else 0):
        try:
            autogroup.write_text(str(niceness), encoding="ascii")
        except BlockingIOError:  # somebody else's was changed a moment ago
            time.sleep(RENICE_WAIT)
        except OSError:  # not allowed here: the niceness of the process is what is left
            return
        else:
            return
