"""A process beside the server: how it is started, and its own side of the pipes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from typing import IO, Any

from llmviz.paths import IMPORTED_FROM


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

    What a library prints goes to standard error from now on, not between the answers.
    """
    if hasattr(os, "nice"):
        os.nice(niceness)
    answers = os.fdopen(os.dup(sys.stdout.fileno()), mode, **options)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return answers
