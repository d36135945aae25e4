"""The page at `/`: a field to type into, and what the model writes behind it.

Its files lie beside this one. Everything that a model or a visitor wrote becomes text there, never
markup, and the page may load and reach this server alone.
"""

from __future__ import annotations

from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

FILES = {
    "/": ("page.html", "text/html"),
    "/page.js": ("page.js", "text/javascript"),
    "/page.css": ("page.css", "text/css"),
}
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-cache",
}


def page_routes() -> list[Route]:
    """Return the routes of the page and its files."""
    return [_route(path, name, kind) for path, (name, kind) in FILES.items()]


def _route(path: str, name: str, kind: str) -> Route:
    content = Path(__file__).with_name(name).read_bytes()

    async def send(request: Request) -> Response:
        return Response(content, media_type=kind, headers=HEADERS)

    return Route(path, send)
