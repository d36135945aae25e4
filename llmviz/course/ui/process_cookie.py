"""Which of several processes has a browser's sessions: a cookie that the browser brings along."""

from __future__ import annotations

import os

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from llmviz.processes.handed_sockets import COOKIE, NUMBER


class ProcessCookie:
    """What stands before the app and gives a browser without the cookie this process's number.

    A browser that has another's may have connected before it knew: its connection is closed after
    the answer, so that the next one leads to where its sessions are.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app, self._number = app, os.environ.get(NUMBER, "")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""

        async def marked(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                if not known.isdigit():
                    headers.append(
                        "set-cookie", f"{COOKIE}={self._number}; Path=/; HttpOnly; SameSite=Lax"
                    )
                elif known != self._number:
                    headers["connection"] = "close"
            await send(message)

        if not self._number or scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        known = HTTPConnection(scope).cookies.get(COOKIE, "")
        await self.app(scope, receive, marked)
