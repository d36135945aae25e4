"""The page that a browser gets first: Streamlit's own, and ours in its head."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from llmviz.course import streamlit_parts
from llmviz.course.ui import shell

HEAD = Path(__file__).with_suffix(".html")


def routes(pages: Iterable[str], base: str = "") -> list[Route]:
    """Return where these pages lie, and the first of all. base: as in `classroom.routes`."""
    theirs = streamlit_parts.first_page()
    if not theirs:
        return []
    head = f"<head>\n{HEAD.read_text('utf-8')}\n{shell.STYLE}"
    whole = theirs.replace("<head>", head, 1)

    async def page(_request: Request) -> Response:
        return HTMLResponse(whole, headers={"Cache-Control": "no-cache"})

    below = f"/{base.strip('/')}".rstrip("/")
    return [Route(f"{below}/{name}", page) for name in ("", *pages)]
