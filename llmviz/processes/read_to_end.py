"""A request is read to its end before it is answered, also where it is refused in the middle.

Many clients read nothing before they have sent everything. One that is answered before, and whose
connection is then closed, is told "connection reset by peer" in place of what was wrong.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

from starlette.types import ASGIApp, Message, Receive, Scope, Send

BODY_SECONDS = 30.0  # that a body may take to come


class ReadToEnd:
    """What stands before an application: what it does not read of a body is read, and forgotten."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request; its answer waits for the end of its body, or until time is over."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        deadline = asyncio.get_running_loop().time() + BODY_SECONDS
        # A client that asks first, with `Expect: 100-continue`, sends nothing if it is told no.
        coming = all(name != b"expect" for name, _ in scope["headers"])

        async def taken() -> Message:
            nonlocal coming
            message = await receive()
            coming = message.get("more_body", False)
            return message

        async def answered(message: Message) -> None:
            if message["type"] == "http.response.start":
                with suppress(TimeoutError):
                    async with asyncio.timeout_at(deadline):
                        while coming:
                            await taken()
            await send(message)

        await self.app(scope, taken, answered)
