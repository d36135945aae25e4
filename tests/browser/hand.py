"""What a hand does in the tests of this folder, and waiting for what it does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

# What follows the hand without the server has been drawn after the next frame.
FRAMES = "const frame = () => new Promise(requestAnimationFrame); await frame(); await frame();"


def drag(page: Any, name: str, stop: int) -> None:
    """Move a slider as a hand does, which says input at every stop, and do not let go of it."""
    page.locator(f"input[aria-label='{name}']").evaluate(
        "async (range, stop) => { const step = stop > range.value ? 1 : -1;"
        " for (let at = +range.value; at !== stop + step; at += step) {"
        "  range.value = at; range.dispatchEvent(new Event('input')); } " + FRAMES + "}",
        stop,
    )


def let_go(page: Any, name: str) -> None:
    """Let go of a slider: now the page hears of it."""
    page.locator(f"input[aria-label='{name}']").evaluate(
        "range => range.dispatchEvent(new Event('change'))"
    )


def until(page: Any, true: Callable[[], bool], seconds: float = 15) -> None:
    """Wait until something is so; fail if it does not come."""
    for _ in range(int(seconds * 20)):
        if true():
            return
        page.wait_for_timeout(50)
    assert true()
