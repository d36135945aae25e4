"""Keeping freed memory in the process, so that the next training step need not ask for it again."""

from __future__ import annotations

import ctypes
import sys

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
    if not sys.platform.startswith("linux"):
        return False
    try:
        mallopt = ctypes.CDLL("libc.so.6").mallopt
    except (OSError, AttributeError):  # another C library
        return False
    return bool(mallopt(_TRIM_THRESHOLD, KEPT)) and bool(mallopt(_MMAP_THRESHOLD, LARGEST))
