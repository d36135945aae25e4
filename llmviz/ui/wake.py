"""The server's event loop is woken once for many messages, not once for each.

A script in its thread hands each element of a page to the event loop, which asyncio wakes each time
through a socket of its own. Each of these calls gives the interpreter's lock away: of a rerun with
fifty elements they took a quarter of the time.
"""

from __future__ import annotations

import asyncio
from asyncio.selector_events import BaseSelectorEventLoop


def wake_once(loop: asyncio.AbstractEventLoop) -> bool:
    """Let a loop that was woken and has not looked yet not be woken again; return whether it can.

    asyncio reads the waking bytes in the loop's own thread, after which it looks through all that
    it was given before it sleeps. So what is given between a waking and its reading is seen, and
    the first thing after it wakes anew. Other loops than asyncio's own on sockets, as on Windows,
    are left as they are.
    """
    parts = ("_write_to_self", "_process_self_data")
    if not isinstance(loop, BaseSelectorEventLoop) or not all(hasattr(loop, p) for p in parts):
        return False
    wake, read = loop._write_to_self, loop._process_self_data
    woken = False

    def wake_unless_woken() -> None:
        nonlocal woken
        if not woken:
            woken = True
            wake()

    def read_and_listen(data: bytes) -> None:
        nonlocal woken
        woken = False
        read(data)

    loop._write_to_self, loop._process_self_data = wake_unless_woken, read_and_listen
    return True
