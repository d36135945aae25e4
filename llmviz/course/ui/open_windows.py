"""How many windows may be open at once: of one browser, of one address, and in all.

Each open window is a session of the server, with its page's data. A window that is one too many is
told so in place of the page, before it has a session. Those on the server's own machine always get
in, and are not counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket

from llmviz.course.ui.origin import Origin, of_request
from llmviz.processes.limits import limit

BROWSER = (
    "{count} windows of your browser are open here, and more are not allowed. "
    "Close one, then load this page again."
)
ADDRESS = (
    "{count} windows from your network address are open here, and more are not allowed. "
    "Try again later."
)
SERVER = "{count} windows are open on this server, and more are not allowed. Try again later."
TOO_MANY = 429  # status: too many requests


class OpenWindows:
    """What stands before the app and counts its open connections; of one event loop.

    Raises ValueError for a setting that is no number.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._most = {
            kind: limit(f"LLMVIZ_{kind}_WINDOWS") for kind in ("BROWSER", "ADDRESS", "MAX")
        }
        self._open: Counter[tuple[str, str]] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, unless it wants one window too many."""
        if not (scope["type"] == "websocket" or _wants_page(scope)):
            await self.app(scope, receive, send)
            return
        origin = of_request(HTTPConnection(scope))
        answer = PlainTextResponse(self.full(origin), TOO_MANY)
        if scope["type"] == "http":
            await (answer if answer.body else self.app)(scope, receive, send)
        elif answer.body:
            await WebSocket(scope, receive, send).send_denial_response(answer)
        else:
            with self._counted(origin):
                await self.app(scope, receive, send)

    def full(self, origin: Origin) -> str:
        """Return why one more window cannot be opened there; an empty text where it can."""
        constants = {"BROWSER": BROWSER, "ADDRESS": ADDRESS, "MAX": SERVER}
        for kind, value in () if origin.own else _counts(origin):
            if self._open[kind, value] >= self._most[kind]:
                return constants[kind].format(count=self._open[kind, value])
        return ""

    @contextmanager
    def _counted(self, origin: Origin) -> Iterator[None]:
        counts = [] if origin.own else list(_counts(origin))
        self._open.update(counts)
        try:
            yield
        finally:
            self._open.subtract(counts)
            self._open = +self._open  # nothing stays of an address without windows


def _counts(origin: Origin) -> Iterator[tuple[str, str]]:
    if origin.browser:
        yield "BROWSER", origin.browser
    if origin.address:
        yield "ADDRESS", origin.address
    yield "MAX", ""


def _wants_page(scope: Scope) -> bool:
    """Whether a browser asks for a page, not for one of its files."""
    if scope["type"] != "http" or scope["method"] != "GET":
        return False
    return "text/html" in HTTPConnection(scope).headers.get("accept", "")
