"""What the server's process does once for all its visitors; each function works at its first call.

`app.py` runs again for every change of every visitor, and calls these each time.
"""

from __future__ import annotations

import gc
import os
import socket
from functools import cache

import psutil


@cache
def freeze_imports() -> None:
    """Take what is imported by now out of the garbage collector's rounds, once.

    It lives as long as the server, and the collector need not look at it again. Whether that was
    done must not be asked of `gc.get_freeze_count()`: it walks all frozen objects (45 ms).
    """
    gc.collect()
    gc.freeze()


@cache
def send_at_once() -> int:
    """Switch Nagle's algorithm off for this process's connections; return for how many sockets.

    Nagle's algorithm (RFC 896) holds a small packet back until the one before it is acknowledged,
    and a receiver may wait 40 ms with that. asyncio switches it off only for sockets that were
    made with TCP's protocol number, and Streamlit's was not. What a listening socket accepts
    inherits the option. Where a system does not tell the sockets' descriptors (Windows), nothing
    is changed.
    """
    changed = 0
    try:
        connections = psutil.Process().net_connections(kind="tcp")
    except (psutil.Error, OSError):  # a system that does not say
        return 0
    for connection in connections:
        if connection.fd < 0:
            continue
        try:
            # A duplicate: closing it leaves the server's own descriptor open, and both share
            # the socket's options.
            with socket.socket(fileno=os.dup(connection.fd)) as own:
                own.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError:  # closed in between
            continue
        changed += 1
    return changed
