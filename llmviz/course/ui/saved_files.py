"""The files that a browser needs when it makes a saved page, beside what the page itself has.

They are the same for everybody and asked for only when somebody saves.
"""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Route

from llmviz.course.components._shared.saver.page import page_template, script_for


def routes(base: str = "") -> list[Route]:
    """Return where they lie. base: the path that the whole app lies below."""
    below = f"/{base.strip('/')}".rstrip("/")
    return [
        Route(f"{below}/saved/page.html", _page),
        Route(f"{below}/saved/plotly.js", _plotly),
    ]


def _page(_request: Request) -> Response:
    return PlainTextResponse(page_template())  # as a text: it is no page yet


def _plotly(request: Request) -> Response:
    kinds = request.query_params.getlist("kind")  # of the traces that it has to draw
    return FileResponse(script_for(kinds), media_type="text/javascript")
