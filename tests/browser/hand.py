"""What a hand does in the tests of this folder, and waiting for what it does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

# What follows the hand without the server has been drawn after the next frame.
FRAMES = "const frame = () => new Promise(requestAnimationFrame); await frame(); await frame();"
# Waits until a node has kept its place, and a canvas its picture, for ten frames on end.
STILL = """async (node) => {
  const frame = () => new Promise(requestAnimationFrame);
  const seen = () => {
    const { x, y, width, height } = node.getBoundingClientRect();
    return [x, y, width, height, node.toDataURL?.()].join();
  };
  for (let calm = 0, last = seen(); calm < 10; calm += 1) {
    await frame();
    const now = seen();
    if (now !== last) calm = 0;
    last = now;
  }
}"""

# Notes when a page last sent the server something and last heard from it; run before its scripts.
NOTE_MESSAGES = """(() => {
    const Socket = window.WebSocket;
    window.messages = { sent: 0, heard: 0 };
    window.WebSocket = class extends Socket {
        constructor(...given) {
            super(...given);
            this.addEventListener('message', () => (window.messages.heard = performance.now()));
        }
        send(data) {
            window.messages.sent = performance.now();
            super.send(data);
        }
    };
})()"""
# True once all that was sent has an answer and no script has run for `calm` milliseconds on end: a
# component may wait that long before it sends what a hand did.
CALM = """(calm) => {
    const app = document.querySelector('[data-testid=stApp]');
    const icon = document.querySelector('[data-testid=stStatusWidgetRunningIcon]');
    const { sent, heard } = window.messages;
    const now = performance.now();
    if (icon || sent > heard || app?.dataset.testScriptState !== 'notRunning') window.busy = now;
    return now - (window.busy ??= now) >= calm;
}"""

# Keeps what the page sends, until `release` is called: a server that answers late. A number lets go
# of as many messages, and others are kept on.
HOLD = """() => {
  const { send } = WebSocket.prototype;
  window.held = [];
  WebSocket.prototype.send = function (data) { window.held.push([this, data]); };
  window.release = (count) => {
    if (count === undefined) WebSocket.prototype.send = send;
    const going = window.held.splice(0, count ?? window.held.length);
    going.forEach(([socket, data]) => send.call(socket, data));
  };
}"""


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


@contextmanager
def motion(page: Any) -> Iterator[None]:
    """Let things move by themselves, as for who did not ask for less of that."""
    page.emulate_media(reduced_motion="no-preference")
    yield
    page.emulate_media(reduced_motion="reduce")


def settle(page: Any, calm: int = 150) -> None:
    """Wait until the app has answered all and has run no script for `calm` milliseconds."""
    page.evaluate("window.busy = performance.now()")
    page.wait_for_function(CALM, arg=calm, polling=40)  # at every frame it would draw one


def frames(page: Any) -> None:
    """Wait until what follows the hand without the server has been drawn."""
    page.evaluate("async () => {" + FRAMES + "}")


def still(part: Any) -> None:
    """Wait until a part of the page no longer moves, and until a canvas is drawn to its end."""
    part.evaluate(STILL)


def until(page: Any, true: Callable[[], bool], seconds: float = 15) -> None:
    """Wait until something is so; fail if it does not come."""
    for _ in range(int(seconds * 20)):
        if true():
            return
        page.wait_for_timeout(50)
    assert true()
