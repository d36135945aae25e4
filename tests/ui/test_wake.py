"""A loop that is woken once for many messages: none is lost, and few bytes are written."""

from __future__ import annotations

import asyncio
import threading
import time

from llmviz.ui.wake import wake_once

EACH, THREADS = 2_000, 4


def test_no_message_is_lost_and_few_wake_the_loop():
    async def talk() -> tuple[int, int]:
        loop, taken, written = asyncio.get_running_loop(), 0, 0
        wake = loop._write_to_self

        def counted() -> None:
            nonlocal written
            written += 1
            wake()

        loop._write_to_self = counted
        assert wake_once(loop)
        done = asyncio.Event()

        def take() -> None:
            nonlocal taken
            taken += 1
            if taken == EACH * THREADS:
                done.set()

        def send() -> None:
            for at in range(EACH):
                loop.call_soon_threadsafe(take)
                if at % 100 == 0:
                    time.sleep(0.001)  # the loop goes to sleep in between

        for _ in range(THREADS):
            threading.Thread(target=send).start()
        await asyncio.wait_for(done.wait(), 60)
        return taken, written

    taken, written = asyncio.run(talk())
    assert taken == EACH * THREADS
    assert 0 < written < taken / 2


def test_each_of_many_lonely_messages_wakes_it():
    async def one_by_one() -> None:
        loop = asyncio.get_running_loop()
        assert wake_once(loop)
        for _ in range(200):
            came = asyncio.Event()
            thread = threading.Thread(target=loop.call_soon_threadsafe, args=(came.set,))
            thread.start()
            await asyncio.wait_for(came.wait(), 30)
            thread.join()

    asyncio.run(one_by_one())


def test_another_loop_is_left_as_it_is():
    assert not wake_once(asyncio.AbstractEventLoop())
