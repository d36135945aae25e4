"""The messages of a rerun wake the server once, and none of them stays in its queue."""

from __future__ import annotations

import asyncio
import threading
from types import SimpleNamespace

from streamlit.runtime.runtime import Runtime

from llmviz.course import streamlit_parts
from tests.awaiting import awaited

THREADS, EACH = 4, 500


class Loop:
    """An event loop that counts its wakes."""

    def __init__(self) -> None:
        self.loop, self.wakes = asyncio.get_running_loop(), 0

    def call_soon_threadsafe(self, *what: object) -> None:
        self.wakes += 1
        self.loop.call_soon_threadsafe(*what)


def test_many_messages_wake_once_and_all_are_sent(monkeypatch):
    monkeypatch.setattr(Runtime, "_enqueued_some_message", Runtime._enqueued_some_message)
    streamlit_parts.wake_once()
    queue: list[int] = []

    async def served() -> tuple[int, int, int]:
        runtime = object.__new__(Runtime)
        loop, event = Loop(), asyncio.Event()
        runtime._async_objs = SimpleNamespace(eventloop=loop, need_send_data=event)

        def draw() -> None:
            for number in range(EACH):
                queue.append(number)
                runtime._enqueued_some_message()

        alone = threading.Thread(target=draw)
        alone.start()
        alone.join()  # the loop is busy meanwhile
        of_one_rerun = loop.wakes
        threads = [threading.Thread(target=draw) for _ in range(THREADS)]
        for thread in threads:
            thread.start()
        sent = 0
        while sent < (THREADS + 1) * EACH:  # as Streamlit's own loop
            await asyncio.wait_for(event.wait(), 30)
            event.clear()
            new = len(queue)
            sent += new
            del queue[:new]
            await asyncio.sleep(0)
        return of_one_rerun, sent, loop.wakes

    of_one_rerun, sent, wakes = awaited(served())
    assert of_one_rerun == 1 and sent == (THREADS + 1) * EACH
    assert wakes < sent
