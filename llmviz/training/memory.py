"""Keeping freed memory in the process, so that the next training step need not ask for it again;
and handing it back at each checkpoint, before holes between blocks make a long run ever larger.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Any

KEPT = 512 * 2**20  # bytes at the top of the heap that are not handed back
LARGEST = 2**30  # bytes of one block that still comes from the heap
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # the parameters' numbers in glibc's malloc.h


def keep_freed_memory() -> bool:
    """Tell the C library to keep what is freed instead of handing it back; return whether it does.

    A training step frees all its activations and takes as much again a moment later. By default
    glibc hands the pages back in between, and the processor clears thousands of fresh ones in
    each step. It holds for the whole process, which then keeps up to its peak of memory: for
    programs that train, not for a server. Elsewhere than on glibc nothing happens.

    Reference: mallopt(3).
    """
    mallopt = _of_glibc("mallopt")
    if mallopt is None:
        return False
    _kept.append(bool(mallopt(_TRIM_THRESHOLD, KEPT)) and bool(mallopt(_MMAP_THRESHOLD, LARGEST)))
    return _kept[-1]


def hand_back_freed_memory() -> None:
    """Hand all free memory back to the system, where it was kept; the next step asks for its own.

    Rows of different lengths need blocks of different sizes, and a block fits only a hole that is
    large enough: the heap of a run with padded rows grows to five times what its steps take.

    Reference: malloc_trim(3).
    """
    if any(_kept) and (malloc_trim := _of_glibc("malloc_trim")) is not None:
        malloc_trim(0)


_kept: list[bool] = []  # whether this process keeps what is freed


def _of_glibc(name: str) -> Any:
    """A function of the C library; None elsewhere than on glibc."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        return getattr(ctypes.CDLL("libc.so.6"), name)
    except (OSError, AttributeError):  # another C library
        return None
