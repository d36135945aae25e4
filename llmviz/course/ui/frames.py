"""Which other pages may show the app in a frame of theirs: nobody, unless a setting names them.

`LLMVIZ_FRAMES` holds `nobody`, `anyone`, or addresses such as `https://learn.example.org`.
"""

from __future__ import annotations

import os
import re

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

SETTING = "LLMVIZ_FRAMES"
_ADDRESS = re.compile(r"https?://(\*\.)?[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*(:\d{1,5})?")


def ancestors(setting: str) -> str:
    """Return who may frame the app, in the words of the header.

    Raises ValueError for what is neither a word of the setting nor a list of addresses.

    >>> ancestors(""), ancestors("anyone"), ancestors("https://a.example http://b:80")
    ("'none'", '*', "'self' https://a.example http://b:80")
    """
    names = setting.split()
    if names in ([], ["nobody"]):
        return "'none'"
    if names == ["anyone"]:
        return "*"
    for name in names:
        if not _ADDRESS.fullmatch(name):
            raise ValueError(
                f"{SETTING} must be nobody, anyone, or addresses such as "
                f"https://learn.example.org, with spaces between; got {name!r}"
            )
    return " ".join(["'self'", *names])


class Frames:
    """Says with every answer who may frame it, and that a file is what its type says."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._policy = f"frame-ancestors {ancestors(os.environ.get(SETTING, ''))}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request; its answer gets the two headers."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["Content-Security-Policy"] = self._policy
                headers["X-Content-Type-Options"] = "nosniff"
            await send(message)

        await self.app(scope, receive, answer)
