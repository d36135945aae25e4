"""How much the files may have that visitors upload: they stay in memory as long as their window.

A page offers a box for one file or two. The address behind such a box takes any number of them.
"""

from __future__ import annotations

from collections import defaultdict

from starlette.exceptions import HTTPException

from llmviz.course.ui.origin import of_session
from llmviz.processes.limits import limit

FULL = (
    "The files that {who} uploaded would have more than {most} MB. Remove one, or close a window."
)
WHOSE = {
    "WINDOW": "this window",
    "ADDRESS": "the windows of your network address",
    "MAX": "all visitors of this server",
}
MEGABYTE = 2**20
TOO_LARGE = 413  # status: too large


def check(sizes: dict[str, int], session: str, size: int) -> None:
    """Refuse a file of so many bytes with one line, where there is no room for it.

    sizes: the bytes that each session has uploaded.
    """
    address = of_session(session).address
    held: dict[str, int] = defaultdict(int)
    for other, own in sizes.items():
        held["MAX"] += own
        held["WINDOW"] += own if other == session else 0
        if other == session or (address and of_session(other).address == address):
            held["ADDRESS"] += own
    for kind, who in WHOSE.items():
        most = limit(f"LLMVIZ_{kind}_UPLOADS")
        if held[kind] + size > most * MEGABYTE:
            raise HTTPException(TOO_LARGE, FULL.format(who=who, most=most))
