"""Locks on an open file, on every system: one process alone, or several that share it.

They say who uses a file and keep nobody from reading it. A lock ends with its file or its process.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import time
from typing import IO, Any

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]  # there is none

# Windows locks bytes, which nobody else can read then: these lie far behind any content. Who is
# alone has all of them, who shares has one. Reference: Microsoft's page on `_locking`.
_FIRST, _PLACES = 1 << 30, 64
_TRIES, _WAIT = 3, 0.02  # seconds; who looks whether a file is locked holds it for a moment


def lock(file: IO[Any]) -> bool:
    """Lock a file for this process alone; return whether nobody else had it."""
    for again in range(_TRIES):
        if again:
            time.sleep(_WAIT)
        if _taken(file, alone=True):
            return True
    return False


def share(file: IO[Any]) -> bool:
    """Lock a file together with others that share it; return whether nobody has it alone."""
    return _taken(file, alone=False)


def release(file: IO[Any]) -> None:
    """Give up the lock that this open file has; without one, do nothing."""
    if fcntl is not None:
        fcntl.flock(file, fcntl.LOCK_UN)
        return
    msvcrt = _windows()

    for place, count in [(0, _PLACES), *((place, 1) for place in range(_PLACES))]:
        with contextlib.suppress(PermissionError):  # it is not this file's
            _bytes(file, msvcrt.LK_UNLCK, place, count)


def is_locked(file: IO[Any]) -> bool:
    """Whether somebody else has a file alone. This file, which is only read, has no lock itself."""
    free = share(file)
    if free:
        release(file)
    return not free


def _windows() -> Any:
    """Its module of the C library, which has no types elsewhere."""
    return importlib.import_module("msvcrt")


def _taken(file: IO[Any], alone: bool) -> bool:
    if fcntl is None:
        return _bytes_taken(file, alone)
    try:
        fcntl.flock(file, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _bytes_taken(file: IO[Any], alone: bool) -> bool:
    msvcrt = _windows()

    for place, count in [(0, _PLACES)] if alone else [(place, 1) for place in range(_PLACES)]:
        with contextlib.suppress(PermissionError):  # somebody else has it
            _bytes(file, msvcrt.LK_NBLCK, place, count)
            return True
    return False


def _bytes(file: IO[Any], mode: int, place: int, count: int) -> None:
    """Lock or unlock some bytes, and leave the file at the position that it had."""
    msvcrt = _windows()

    descriptor = file.fileno()
    before = os.lseek(descriptor, 0, os.SEEK_CUR)
    os.lseek(descriptor, _FIRST + place, os.SEEK_SET)
    try:
        msvcrt.locking(descriptor, mode, count)
    finally:
        os.lseek(descriptor, before, os.SEEK_SET)
