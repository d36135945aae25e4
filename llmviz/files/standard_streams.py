"""Standard input and output that take every character, whatever the system's code page is."""

from __future__ import annotations

import io
import os
import sys
from typing import Any

USUAL_WIDTH, USUAL_HEIGHT = 80, 24  # of a terminal


def take_any_character() -> None:
    """Let this program write any character to standard output and standard error.

    A file and a pipe get UTF-8, which every command reads. A terminal keeps its encoding, as does
    everything where `PYTHONIOENCODING` names one; what that lacks becomes a question mark in
    standard output and an escape in standard error.
    """
    chosen = bool(os.environ.get("PYTHONIOENCODING"))
    for stream in (sys.stdout, sys.stderr):
        if not isinstance(stream, io.TextIOWrapper):  # closed, or a test's
            continue
        encoding = None if chosen or stream.isatty() else "utf-8"
        errors = "replace" if stream.errors == "strict" else stream.errors
        stream.reconfigure(encoding=encoding, errors=errors)


def give_bars_room() -> None:
    """Let progress bars be seen in a terminal that does not know its size, as in a container.

    tqdm takes the size as it is, and draws nothing where it is 0. It reads this when it is
    imported.
    """
    try:
        width = os.get_terminal_size(sys.stderr.fileno()).columns
    except (AttributeError, OSError, ValueError):  # closed, a pipe, a test's
        return
    if not width:
        os.environ.setdefault("TQDM_NCOLS", str(USUAL_WIDTH - 1))
        os.environ.setdefault("TQDM_NROWS", str(USUAL_HEIGHT))


def is_unicode(stream: Any) -> bool:
    """Whether a stream can hold every character as it is."""
    name = getattr(stream, "encoding", None) or "utf-8"
    return name.lower().startswith("utf")
