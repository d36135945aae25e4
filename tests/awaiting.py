"""Coroutines in tests: run to their end, also where a browser's own loop runs in this thread."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

Result = TypeVar("Result")


def awaited(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """Return what a coroutine returns, or raise what it raises.

    Playwright's own loop stays the running one in a thread that drove a browser, and a thread has
    one at a time: so it runs in another thread.
    """
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()
